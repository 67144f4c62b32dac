"""Batches of a data set's share as a data loader of the Trainer of Transformers."""

from __future__ import annotations

from typing import Any

from headway.data._epochs import Epochs


def with_shards(trainer: Any) -> None:
    """Has a Trainer take batches of data sets as they are, where it was given what
    ``iter_torch_batches`` returns: they are the rank's own already, and are not cut or divided
    again.
    """
    if not isinstance(trainer.train_dataset, Epochs) and not isinstance(trainer.eval_dataset, Epochs):
        return
    kind = type(trainer)

    def get_train_dataloader(self: Any) -> Any:
        if isinstance(self.train_dataset, Epochs):
            return _loader(self.train_dataset)
        return kind.get_train_dataloader(self)

    def get_eval_dataloader(self: Any, eval_dataset: Any = None) -> Any:
        given = self.eval_dataset if eval_dataset is None else eval_dataset
        return _loader(given) if isinstance(given, Epochs) else kind.get_eval_dataloader(self, eval_dataset)

    own = {"get_train_dataloader": get_train_dataloader, "get_eval_dataloader": get_eval_dataloader}
    trainer.__class__ = type(kind.__name__, (kind,), own)
    # The position in the data is the checkpoint's: nothing is left to skip.
    trainer.args.ignore_data_skip = True


def _loader(dataset: Epochs) -> Any:
    from torch.utils.data import DataLoader, IterableDataset

    class Batches(IterableDataset):
        """The batches of one rank."""

        def __iter__(self) -> Any:
            return iter(dataset)

    return DataLoader(Batches(), batch_size=None)

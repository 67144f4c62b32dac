"""A Transformers ``Trainer`` that fits the run."""

from __future__ import annotations

from typing import Any, TypeVar

from headway import _session as worker_session
from headway._values.arguments import refuse
from headway.train.huggingface.transformers._package import transformers
from headway.train.huggingface.transformers._shard_loader import with_shards

_Trainer = TypeVar("_Trainer")


def prepare_trainer(trainer: _Trainer) -> _Trainer:
    """Checks that a Transformers ``Trainer`` trains with the ranks of the run, and has it take the
    batches of a data set's share, if it was given what ``iter_torch_batches`` returns.

    Args:
        trainer: The Trainer, before ``train``.

    Returns:
        The same Trainer.

    Raises:
        ImportError: transformers is not installed.
        TypeError: it is no Trainer.
        RuntimeError: it trains with other ranks than those of the run, or the function was called
            outside of a training function.

    Example:
        >>> from headway.train.huggingface.transformers import ReportCallback, prepare_trainer
        >>> def loop():
        ...     import transformers
        ...     arguments = transformers.TrainingArguments(save_strategy="epoch")
        ...     trainer = transformers.Trainer(model, arguments, callbacks=[ReportCallback()])
        ...     prepare_trainer(trainer).train()
    """
    ranks = worker_session.current("prepare_trainer()").context["world_size"]
    made: Any = trainer
    if not isinstance(made, transformers().Trainer):
        refuse("trainer", trainer, "a transformers.Trainer")
    if made.args.world_size != ranks:
        raise RuntimeError(
            f"this Trainer trains with {made.args.world_size} of the run's {ranks} ranks; allowed: "
            "TrainingArguments that are made in the training function of a TorchTrainer"
        )
    with_shards(made)
    return trainer

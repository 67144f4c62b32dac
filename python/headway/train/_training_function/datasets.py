"""The data sets of a run: names, and what a rank gets of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headway import _session as worker_session
from headway._values.arguments import check_str

if TYPE_CHECKING:
    from headway.data import DataIterator

TRAIN_DATASET_KEY = "train"
"""The name of the data set that is trained on, in ``datasets=``."""
EVALUATION_DATASET_KEY = "evaluation"
"""What older code calls the data set that it evaluates with."""
MODEL_KEY = "model"
"""Under what older code keeps the model in a checkpoint of a dict."""
PREPROCESSOR_KEY = "_preprocessor"
"""Under what older code keeps a preprocessor in a checkpoint of a dict."""


def get_dataset_shard(dataset_name: str | None = None) -> DataIterator:
    """This rank's share of a data set that was given to the trainer as ``datasets=``.

    Args:
        dataset_name: The data set's name; default ``"train"``.

    Raises:
        RuntimeError: called outside of a training function.
        KeyError: the trainer has no data set of this name; those that it has are named.

    Example:
        >>> import headway.data
        >>> from headway import train
        >>> def loop():
        ...     rows = 0
        ...     for batch in train.get_dataset_shard("train").iter_batches(batch_size=10):
        ...         rows += len(batch["id"])
        ...     train.report({"rows": rows})
        >>> trainer = train.DataParallelTrainer(
        ...     loop,
        ...     datasets={"train": headway.data.range(100)},
        ...     scaling_config=train.ScalingConfig(num_workers=2),
        ...     run_config=train.RunConfig(verbose=0),
        ... )
        >>> trainer.fit().metrics["rows"]
        50
    """
    shards = worker_session.current("get_dataset_shard()").shards
    name = TRAIN_DATASET_KEY if dataset_name is None else check_str("dataset_name", dataset_name, "None or a name")
    if name not in shards:
        there = f"the trainer has {', '.join(map(repr, shards))}" if shards else "the trainer was given no datasets"
        raise KeyError(f"there is no data set {name!r}: {there}")
    return shards[name]

"""Streaming data sets: their names are settled, the engine behind them is not there yet."""

from __future__ import annotations

from typing import Any, NoReturn

TRAIN_DATASET_KEY = "train"
"""The name of the data set that is trained on, in ``datasets=``."""
EVALUATION_DATASET_KEY = "evaluation"
"""What older code calls the data set that it evaluates with."""
MODEL_KEY = "model"
"""Under what older code keeps the model in a checkpoint of a dict."""
PREPROCESSOR_KEY = "_preprocessor"
"""Under what older code keeps a preprocessor in a checkpoint of a dict."""


def refuse_datasets(what: str) -> NoReturn:
    """Raises the one error of all that has to do with data sets.

    Args:
        what: Names the argument or function that was used.
    """
    raise NotImplementedError(
        f"{what} needs Headway's data engine, which this version does not have; "
        "read the data in the training function, for example with a torch DataLoader"
    )


def get_dataset_shard(dataset_name: str | None = None) -> Any:
    """This rank's part of a data set that was given to the trainer. There are none yet.

    Args:
        dataset_name: The data set's name; default ``"train"``.

    Raises:
        NotImplementedError: always; it says what to do instead.

    Example:
        >>> from headway import train
        >>> train.get_dataset_shard("train")
        Traceback (most recent call last):
            ...
        NotImplementedError: get_dataset_shard() needs Headway's data engine, which this version does not have; ...
    """
    refuse_datasets("get_dataset_shard()")


class DataConfig:
    """How data sets are split over ranks. There are none yet.

    Args:
        datasets_to_split: ``"all"``, or the names of those that are split.
        execution_options: Of the data engine.
        enable_shard_locality: Whether ranks prefer what lies on their node.

    Raises:
        NotImplementedError: always; it says what to do instead.

    Example:
        >>> from headway import train
        >>> train.DataConfig()
        Traceback (most recent call last):
            ...
        NotImplementedError: DataConfig needs Headway's data engine, which this version does not have; ...
    """

    def __init__(
        self, datasets_to_split: Any = "all", execution_options: Any = None, enable_shard_locality: bool = True
    ):
        refuse_datasets("DataConfig")

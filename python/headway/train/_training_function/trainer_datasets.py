"""The data sets of a trainer: what may be one, and the training function with them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from headway._values.arguments import refuse
from headway.train._training_function.data_config import DataConfig


def check_datasets(datasets: Any, dataset_config: Any) -> tuple[dict[str, Any], DataConfig]:
    """The data sets of a trainer, and how they are split.

    Raises:
        TypeError, ValueError: a bad argument.
    """
    if dataset_config is not None and not isinstance(dataset_config, DataConfig):
        refuse("dataset_config", dataset_config, "a DataConfig or None")
    config = dataset_config or DataConfig()
    if datasets is None:
        return {}, config
    if not isinstance(datasets, Mapping):
        refuse("datasets", datasets, "None or a dict from names to data sets")
    for name, dataset in datasets.items():
        if not isinstance(name, str):
            refuse("a name in datasets", name, "text")
        if not _is_dataset(dataset):
            refuse(f"datasets[{name!r}]", dataset, "a headway.data.Dataset, or a function that returns one")
    config._check_names(list(datasets))
    return dict(datasets), config


def with_datasets(function: Callable[..., Any], datasets: dict[str, Any], config: DataConfig) -> Callable[..., Any]:
    """A training function with its trainer's data sets, if it has any."""
    if not datasets:
        return function
    from headway.train._training_function.shares import with_shares

    return with_shares(function, datasets, config)


def check_columns(function: Callable[..., Any], datasets: dict[str, Any]) -> None:
    """Raises ValueError before a run where :func:`with_datasets` gave the function a data set that
    names columns which its files do not have.
    """
    if datasets:
        function.context.check_columns()  # type: ignore[attr-defined]


def modules_for(datasets: dict[str, Any]) -> list[str]:
    """What ranks import for these data sets."""
    return ["headway.data", "headway.data._client", "numpy"] if datasets else []


def _is_dataset(given: object) -> bool:
    """A data set, one of Ray's, or a function that returns one."""
    from headway.data import Dataset
    from headway.data._frames import is_of_ray

    return isinstance(given, Dataset) or callable(given) or is_of_ray(given)

"""A data set as one of PyTorch's, of features and labels: the older way to tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from headway._values.arguments import check_bool, check_str, refuse

_FEATURES = "None, a list of columns' names, a list of such lists, or a dict of them"
_DTYPES = "None, a torch.dtype, or one for each of feature_columns"


class Pairs:
    """Makes a pair of features and labels of a batch of tensors.

    Raises:
        TypeError, ValueError: a bad argument.
    """

    def __init__(
        self, label: Any, features: Any, label_dtype: Any, feature_dtypes: Any, unsqueeze_label: Any, unsqueeze: Any
    ):
        self._label = label if label is None else check_str("label_column", label, "None or a column's name")
        self._groups = _groups(features)
        self._label_dtype = _dtype("label_column_dtype", label_dtype)
        self._dtypes = _dtypes(feature_dtypes, self._groups)
        self._unsqueeze_label = check_bool("unsqueeze_label_tensor", unsqueeze_label)
        self._unsqueeze = check_bool("unsqueeze_feature_tensors", unsqueeze)

    def __call__(self, batch: Mapping[str, Any]) -> tuple[Any, Any]:
        """Features and label; the label is None where there is no column for it."""
        label = None
        if self._label is not None:
            label = _together(batch, [self._label], self._label_dtype, self._unsqueeze_label)
        if isinstance(self._groups, Mapping):
            return {name: self._of(batch, names, self._dtypes[name]) for name, names in self._groups.items()}, label
        if self._groups and not isinstance(self._groups[0], str):
            parts = zip(self._groups, self._dtypes, strict=True)
            return [self._of(batch, names, dtype) for names, dtype in parts], label
        return self._of(batch, self._groups or [name for name in batch if name != self._label], self._dtypes), label

    def _of(self, batch: Mapping[str, Any], names: Any, dtype: Any) -> Any:
        return _together(batch, list(names), dtype, self._unsqueeze)


def torch_dataset(batches: Iterable[Mapping[str, Any]], convert: Callable[[Mapping[str, Any]], Any]) -> Any:
    """A ``torch.utils.data.IterableDataset`` whose every iteration is an epoch.

    Iterating raises ValueError in one of several workers of a ``DataLoader``: each would give every
    row.
    """
    import torch

    class Converted(torch.utils.data.IterableDataset):
        def __iter__(self) -> Iterator[Any]:
            worker = torch.utils.data.get_worker_info()
            if worker is not None and worker.num_workers > 1:
                raise ValueError(
                    f"num_workers of the DataLoader is {worker.num_workers}; allowed: 0 or 1, since each worker would "
                    "give every row. The data engine reads ahead with all CPUs by itself"
                )
            return map(convert, batches)

    return Converted()


def _groups(given: Any) -> Any:
    if isinstance(given, (str, bytes)) or not isinstance(given, (Sequence, Mapping, type(None))):
        refuse("feature_columns", given, _FEATURES)
    groups = list(given.values() if isinstance(given, Mapping) else given or [])
    single = [group for group in groups if isinstance(group, str)]
    if single and (isinstance(given, Mapping) or len(single) < len(groups)):
        refuse("feature_columns", given, _FEATURES)
    names = [name for group in groups for name in ([group] if isinstance(group, str) else group)]
    for name in names:
        check_str("a name in feature_columns", name, "a column's name")
    if any(not group for group in groups):
        raise ValueError(f"feature_columns is {given}; allowed: {_FEATURES}, none of them empty")
    return given


def _dtype(argument: str, given: Any) -> Any:
    import torch

    if given is not None and not isinstance(given, torch.dtype):
        refuse(argument, given, _DTYPES if "feature" in argument else "None or a torch.dtype")
    return given


def _dtypes(given: Any, groups: Any) -> Any:
    argument = "feature_column_dtypes"
    if isinstance(groups, Mapping):
        each = given if isinstance(given, Mapping) else dict.fromkeys(groups, given)
        if set(each) != set(groups):
            raise ValueError(
                f"{argument} has {', '.join(map(str, each))}; allowed: a dtype for each of feature_columns"
            )
        return {name: _dtype(argument, dtype) for name, dtype in each.items()}
    if groups and not isinstance(groups[0], str):
        several = list(given) if isinstance(given, (list, tuple)) else [given] * len(groups)
        if len(several) != len(groups):
            raise ValueError(f"{argument} has {len(several)} dtypes; allowed: one for each of feature_columns")
        return [_dtype(argument, dtype) for dtype in several]
    return _dtype(argument, given)


def _together(batch: Mapping[str, Any], names: list[str], dtype: Any, unsqueeze: bool) -> Any:
    """Columns as one tensor, side by side."""
    import torch

    for name in names:
        if name not in batch:
            raise ValueError(f"there is no column {name!r}; allowed: {', '.join(batch)}")
    tensors = [batch[name] if dtype is None else batch[name].to(dtype) for name in names]
    parts = [each.unsqueeze(1) if each.ndim == 1 and (unsqueeze or len(names) > 1) else each for each in tensors]
    return parts[0] if len(parts) == 1 else torch.cat(parts, dim=1)

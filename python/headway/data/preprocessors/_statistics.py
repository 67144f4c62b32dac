"""What preprocessors learn of columns, in one pass over a data set."""

from __future__ import annotations

import collections
import decimal
import math
from collections.abc import Iterator, Sequence
from typing import Any

from headway.data._dataset import Dataset


class Moments:
    """Number, mean, variance, least and greatest of values, which come in pieces."""

    def __init__(self) -> None:
        self.count = 0
        self.mean = 0.0
        self.squares = 0.0
        self.least = math.inf
        self.greatest = -math.inf

    def add(self, values: Any) -> None:
        """Adds an array of numbers; those that are missing don't count."""
        import numpy as np

        present = np.asarray(values, dtype=np.float64).reshape(-1)
        present = present[~np.isnan(present)]
        count = len(present)
        if count == 0:
            return
        mean = float(present.mean())
        squares = float(((present - mean) ** 2).sum())
        total = self.count + count
        difference = mean - self.mean
        self.squares += squares + difference * difference * self.count * count / total
        self.mean += difference * count / total
        self.count = total
        self.least = min(self.least, float(present.min()))
        self.greatest = max(self.greatest, float(present.max()))

    def std(self) -> float:
        """The standard deviation of all values, which are the whole population."""
        return math.sqrt(self.squares / self.count) if self.count else math.nan


def moments(ds: Dataset, columns: Sequence[str]) -> dict[str, Moments]:
    """Of columns of numbers.

    Raises:
        TypeError: a column holds something else.
    """
    found = {name: Moments() for name in columns}
    for batch in _batches(ds, columns):
        for name, values in batch.items():
            found[name].add(numbers_of(name, values))
    return found


def quantiles(ds: Dataset, columns: Sequence[str], which: Sequence[float]) -> dict[str, list[float]]:
    """Of columns of numbers; between two values they are interpolated. The columns are in memory
    meanwhile.
    """
    import numpy as np

    pieces: dict[str, list[Any]] = {name: [] for name in columns}
    for batch in _batches(ds, columns):
        for name, values in batch.items():
            numbers = np.asarray(numbers_of(name, values), dtype=np.float64)
            pieces[name].append(numbers[~np.isnan(numbers)])
    together = {name: np.concatenate(each) if each else np.empty(0) for name, each in pieces.items()}
    return {name: np.quantile(each, which).tolist() if len(each) else [math.nan] * len(which)
            for name, each in together.items()}  # fmt: skip


def value_counts(ds: Dataset, columns: Sequence[str], *, of_lists: bool = False) -> dict[str, dict[Any, int]]:
    """How often each value is there; with ``of_lists`` each value within lists."""
    found: dict[str, collections.Counter[Any]] = {name: collections.Counter() for name in columns}
    for batch in _batches(ds, columns):
        for name, values in batch.items():
            for value in values.tolist():
                is_list = isinstance(value, list) or hasattr(value, "tolist")
                if is_list and of_lists:
                    found[name].update(list(value))
                else:
                    found[name][tuple(value) if is_list else value] += 1
    return {
        name: {value: count for value, count in each.items() if not _missing(value)} for name, each in found.items()
    }


def ordered(counts: dict[Any, int]) -> list[Any]:
    """Values from the least to the greatest."""
    return sorted(counts)


def most_frequent(counts: dict[Any, int], limit: int | None = None) -> list[Any]:
    """Values from the most frequent on; equally frequent ones from the least on."""
    return sorted(sorted(counts), key=lambda value: -counts[value])[:limit]


def numbers_of(name: str, values: Any) -> Any:
    """A column of numbers; of decimals an array of floats.

    Raises:
        TypeError: the column holds something else.
    """
    import numpy as np

    if values.dtype == object and all(value is None or isinstance(value, decimal.Decimal) for value in values):
        return np.array([math.nan if value is None else float(value) for value in values])
    if values.dtype.kind not in "biuf":
        raise TypeError(f"column {name!r} holds {values.dtype}; allowed: a column of numbers")
    return values


def _present(counts: dict[Any, int]) -> dict[Any, int]:
    return {value: count for value, count in counts.items() if not _missing(value)}


def _missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _batches(ds: Dataset, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    there = ds._columns()
    for name in columns:
        if name not in there:
            raise ValueError(f"columns has {name!r}; allowed: columns of the data set: {', '.join(there)}")
    yield from ds.select_columns(list(columns)).iter_batches(batch_size=None, batch_format="numpy")

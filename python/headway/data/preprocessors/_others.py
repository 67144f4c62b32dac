"""Preprocessors that fill in, cut into bins, or combine others."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import Any

from headway._values.arguments import check_above_0, check_bool, check_str, refuse
from headway.data import _functions
from headway.data._dataset import Dataset
from headway.data.preprocessors import _statistics
from headway.data.preprocessors._base import FitStatus, Preprocessor, check_dataset, column_of, in_its_format

_EDGES = "at least two edges, from the least on, or a dict of them"
_STRATEGIES = ("mean", "most_frequent", "constant")


class SimpleImputer(Preprocessor):
    """Fills in what is missing in columns.

    Args:
        columns: The columns.
        strategy: With what: ``"mean"``, ``"most_frequent"`` or ``"constant"``.
        fill_value: The constant; a dict by column, or one for all.
        output_columns: Where the results go; default: the same columns.

    Example:
        >>> import headway.data
        >>> from headway.data.preprocessors import SimpleImputer
        >>> rows = headway.data.from_items([{"x": 1.0}, {"x": None}, {"x": 3.0}])
        >>> [row["x"] for row in SimpleImputer(columns=["x"]).fit_transform(rows).take_all()]
        [1.0, 2.0, 3.0]
    """

    def __init__(
        self,
        columns: Sequence[str],
        strategy: str = "mean",
        fill_value: Any = None,
        *,
        output_columns: Sequence[str] | None = None,
    ):
        super().__init__(columns, output_columns)
        if check_str("SimpleImputer.strategy", strategy, ", ".join(_STRATEGIES)) not in _STRATEGIES:
            raise ValueError(f"SimpleImputer.strategy is {strategy!r}; allowed: {', '.join(_STRATEGIES)}")
        if strategy == "constant" and fill_value is None:
            raise ValueError('SimpleImputer.fill_value is None with strategy "constant"; allowed: a value')
        self.strategy = strategy
        self.fill_value = fill_value
        self._is_fittable = strategy != "constant"
        given = fill_value if isinstance(fill_value, Mapping) else dict.fromkeys(self.columns, fill_value)
        self.stats_: dict[str, Any] = dict(given) if strategy == "constant" else {}

    def _fit(self, ds: Dataset) -> None:
        if self.strategy == "mean":
            found = _statistics.moments(ds, self.columns)
            self.stats_ = {name: each.mean if each.count else math.nan for name, each in found.items()}
            return
        counts = _statistics.value_counts(ds, self.columns)
        self.stats_ = {name: _statistics.most_frequent(each, 1)[0] if each else None for name, each in counts.items()}

    def _transform(self, batch: dict[str, Any]) -> dict[str, Any]:
        import numpy as np

        for name, output in self._pairs():
            values = column_of(batch, name, "SimpleImputer")
            if values.dtype.kind == "f":
                batch[output] = np.where(np.isnan(values), self.stats_[name], values)
            elif values.dtype.kind == "O":
                filled = [self.stats_[name] if _statistics._missing(value) else value for value in values.tolist()]
                batch[output] = np.array(filled) if not isinstance(self.stats_[name], str) else _texts(filled)
            else:
                batch[output] = values
        return batch


def _texts(values: list[Any]) -> Any:
    import numpy as np

    return np.array(values, dtype=object)


class _Discretizer(Preprocessor):
    """Puts numbers into bins."""

    bins: Any
    stats_: dict[str, list[float]]

    def __init__(
        self,
        columns: Sequence[str],
        bins: Any,
        *,
        right: bool = True,
        include_lowest: bool = False,
        output_columns: Sequence[str] | None = None,
    ):
        super().__init__(columns, output_columns)
        kind = type(self).__name__
        self.bins = bins
        self.right = check_bool(f"{kind}.right", right)
        self.include_lowest = check_bool(f"{kind}.include_lowest", include_lowest)

    def _transform(self, batch: dict[str, Any]) -> dict[str, Any]:
        import numpy as np

        for name, output in self._pairs():
            values, edges = column_of(batch, name, type(self).__name__), np.asarray(self.stats_[name])
            numbers = np.digitize(values, edges, right=self.right) - 1
            if self.include_lowest:
                numbers[values == (edges[0] if self.right else edges[-1])] = 0 if self.right else len(edges) - 2
            outside = (numbers < 0) | (numbers >= len(edges) - 1)
            batch[output] = np.where(outside, np.nan, numbers) if outside.any() else numbers
        return batch


class CustomKBinsDiscretizer(_Discretizer):
    """Puts numbers into bins whose edges are given.

    Args:
        columns: Columns of numbers.
        bins: The edges, from the least on; or a dict of them by column.
        right: Whether a bin has its upper edge, and not its lower one.
        include_lowest: Whether the first bin has its lower edge too.
        output_columns: Where the numbers of bins go; default: the same columns.

    Example:
        >>> from headway.data.preprocessors import CustomKBinsDiscretizer
        >>> bins = CustomKBinsDiscretizer(columns=["x"], bins=[0, 10, 20])
        >>> bins.transform_batch({"x": [5, 10, 15]})["x"].tolist()
        [0, 0, 1]
    """

    _is_fittable = False

    def __init__(
        self,
        columns: Sequence[str],
        bins: Any,
        *,
        right: bool = True,
        include_lowest: bool = False,
        output_columns: Sequence[str] | None = None,
    ):
        super().__init__(columns, bins, right=right, include_lowest=include_lowest, output_columns=output_columns)
        edges = bins if isinstance(bins, Mapping) else dict.fromkeys(self.columns, bins)
        self.stats_ = {}
        for name in self.columns:
            given = edges.get(name)
            if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Iterable):
                refuse("CustomKBinsDiscretizer.bins", bins, _EDGES)
            given = list(given)
            if len(given) < 2 or not all(isinstance(each, Real) for each in given):
                refuse("CustomKBinsDiscretizer.bins", bins, _EDGES)
            self.stats_[name] = [float(each) for each in given]
            if sorted(set(self.stats_[name])) != self.stats_[name]:
                raise ValueError(f"CustomKBinsDiscretizer.bins is {bins}; allowed: edges from the least on")


class UniformKBinsDiscretizer(_Discretizer):
    """Puts numbers into bins of equal widths, from the least number to the greatest.

    Args:
        columns: Columns of numbers.
        bins: How many; or a dict of numbers by column.
        right: Whether a bin has its upper edge, and not its lower one.
        include_lowest: Whether the first bin has its lower edge too.
        output_columns: Where the numbers of bins go; default: the same columns.

    Example:
        >>> import headway.data
        >>> from headway.data.preprocessors import UniformKBinsDiscretizer
        >>> rows = headway.data.from_items([{"x": 0.0}, {"x": 4.0}, {"x": 10.0}])
        >>> [row["x"] for row in UniformKBinsDiscretizer(columns=["x"], bins=2).fit_transform(rows).take_all()]
        [0, 0, 1]
    """

    def __init__(
        self,
        columns: Sequence[str],
        bins: Any,
        *,
        right: bool = True,
        include_lowest: bool = False,
        output_columns: Sequence[str] | None = None,
    ):
        super().__init__(columns, bins, right=right, include_lowest=include_lowest, output_columns=output_columns)
        numbers = bins if isinstance(bins, Mapping) else dict.fromkeys(self.columns, bins)
        for name in self.columns:
            argument = "UniformKBinsDiscretizer.bins"
            check_above_0(f"{argument}[{name!r}]" if isinstance(bins, Mapping) else argument, numbers.get(name))
        self._numbers = dict(numbers)

    def _fit(self, ds: Dataset) -> None:
        import numpy as np

        self.stats_ = {}
        for name, found in _statistics.moments(ds, self.columns).items():
            if found.count == 0:
                raise ValueError(f"column {name!r} has no numbers; allowed: columns with some")
            least, greatest = found.least, found.greatest
            if least == greatest:  # Around the only number.
                least, greatest = least - 0.001 * (abs(least) or 1), greatest + 0.001 * (abs(least) or 1)
            edges = np.linspace(least, greatest, self._numbers[name] + 1)
            # The outermost number belongs to its bin.
            edges[0 if self.right else -1] += (-1 if self.right else 1) * 0.001 * (greatest - least)
            self.stats_[name] = edges.tolist()


class Chain(Preprocessor):
    """Preprocessors one after another.

    Args:
        preprocessors: The first one first.

    Example:
        >>> import headway.data
        >>> from headway.data.preprocessors import Chain, Concatenator, MinMaxScaler
        >>> rows = headway.data.from_items([{"a": 1.0, "b": 0.0}, {"a": 3.0, "b": 5.0}])
        >>> chain = Chain(MinMaxScaler(columns=["a", "b"]), Concatenator(columns=["a", "b"]))
        >>> chain.fit_transform(rows).take_batch()["concat_out"].tolist()
        [[0.0, 0.0], [1.0, 1.0]]
    """

    def __init__(self, *preprocessors: Preprocessor):
        if not preprocessors:
            raise ValueError("Chain() has no preprocessors; allowed: at least one")
        for each in preprocessors:
            if not isinstance(each, Preprocessor):
                refuse("preprocessors", each, "preprocessors")
        self.preprocessors = preprocessors

    def fit_status(self) -> FitStatus:
        """Whether it can transform."""
        states = {each.fit_status() for each in self.preprocessors} - {FitStatus.NOT_FITTABLE}
        if not states:
            return FitStatus.NOT_FITTABLE
        return states.pop() if len(states) == 1 else FitStatus.PARTIALLY_FITTED

    def fit(self, ds: Dataset) -> Chain:
        """Fits each one on what those before it make of a data set.

        Args:
            ds: The data set.
        """
        check_dataset("ds", ds)
        for each in self.preprocessors:
            ds = each.fit_transform(ds)
        return self

    def transform(self, ds: Dataset, **options: Any) -> Dataset:
        """The data set as all of them make it.

        Args:
            ds: The data set.
            options: As for :meth:`Preprocessor.transform`.
        """
        check_dataset("ds", ds)
        for each in self.preprocessors:
            ds = each.transform(ds, **options)
        return ds

    def fit_transform(self, ds: Dataset, **options: Any) -> Dataset:
        """:meth:`fit` and :meth:`transform`.

        Args:
            ds: The data set.
            options: As for :meth:`Preprocessor.fit_transform`.
        """
        check_dataset("ds", ds)
        for each in self.preprocessors:
            ds = each.fit_transform(ds, **options)
        return ds

    def transform_batch(self, data: Any) -> Any:
        """A batch as all of them make it.

        Args:
            data: As for :meth:`Preprocessor.transform_batch`.
        """
        for each in self.preprocessors:
            data = each.transform_batch(data)
        return data


class BatchMapper(Preprocessor):
    """A function of batches as a preprocessor: the older form of ``map_batches``.

    Args:
        fn: A function of a batch.
        batch_format: ``"numpy"`` or ``"pandas"``.
        batch_size: Rows of a batch; None: a whole piece.

    Example:
        >>> import headway.data
        >>> from headway.data.preprocessors import BatchMapper
        >>> double = BatchMapper(lambda batch: {"id": batch["id"] * 2}, batch_format="numpy")
        >>> double.transform(headway.data.range(3)).take_all()
        [{'id': 0}, {'id': 2}, {'id': 4}]
    """

    _is_fittable = False

    def __init__(self, fn: Any, batch_format: str = "default", batch_size: int | str | None = "default"):
        if not callable(fn):
            refuse("BatchMapper.fn", fn, "a function of a batch")
        self.fn = fn
        self.batch_format = _functions.batch_format(batch_format)
        self.batch_size = _functions.batch_size(batch_size)
        self._fitted = False

    def transform(
        self,
        ds: Dataset,
        *,
        batch_size: int | None = None,
        num_cpus: float | None = None,
        memory: float | None = None,
        concurrency: int | None = None,
    ) -> Dataset:
        """The data set with the function applied.

        Args:
            ds: The data set.
            batch_size: Rows of a batch, instead of those of this object.
            num_cpus, memory, concurrency: As for :meth:`Dataset.map_batches`.
        """
        check_dataset("ds", ds)
        return ds.map_batches(
            self.fn,
            batch_format=self.batch_format,
            batch_size=self.batch_size if batch_size is None else batch_size,
            num_cpus=num_cpus,
            memory=memory,
            concurrency=concurrency,
        )

    def transform_batch(self, data: Any) -> Any:
        """A batch with the function applied.

        Args:
            data: A batch of any format.
        """
        return self.fn(data) if self.batch_format != "numpy" else in_its_format(data, self.fn)

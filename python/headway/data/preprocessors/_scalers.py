"""Preprocessors that bring numbers into a range."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from headway._values.arguments import check_number, refuse
from headway.data._dataset import Dataset
from headway.data._expression import Expr, as_expression, column
from headway.data.preprocessors import _statistics
from headway.data.preprocessors._base import Preprocessor, column_of


class _Scaler(Preprocessor):
    """(value - shift) / scale, by column."""

    #: By column: shift and scale. A scale of 0 counts as 1.
    stats_: dict[str, tuple[float, float]]

    def _of(self, name: str) -> tuple[float, float]:
        shift, scale = self.stats_[name]
        return shift, 1.0 if scale == 0 else scale

    def _expressions(self) -> dict[str, Expr] | None:
        return {output: (column(name).cast("float64") - _number(self._of(name)[0])) / _number(self._of(name)[1])
                for name, output in self._pairs()}  # fmt: skip

    def _transform(self, batch: dict[str, Any]) -> dict[str, Any]:
        for name, output in self._pairs():
            shift, scale = self._of(name)
            values = _statistics.numbers_of(name, column_of(batch, name, type(self).__name__))
            batch[output] = (values - shift) / scale
        return batch


def _number(value: float) -> Expr:
    return as_expression(None).cast("float64") if math.isnan(value) else as_expression(value)


class StandardScaler(_Scaler):
    """Subtracts each column's mean and divides by its standard deviation.

    Args:
        columns: Columns of numbers.
        output_columns: Where the results go; default: the same columns.

    Example:
        >>> import headway.data
        >>> from headway.data.preprocessors import StandardScaler
        >>> rows = headway.data.from_items([{"x": -2.0}, {"x": 0.0}, {"x": 2.0}])
        >>> [round(row["x"], 3) for row in StandardScaler(columns=["x"]).fit_transform(rows).take_all()]
        [-1.225, 0.0, 1.225]
    """

    def _fit(self, ds: Dataset) -> None:
        found = _statistics.moments(ds, self.columns)
        self.stats_ = {name: (each.mean if each.count else math.nan, each.std()) for name, each in found.items()}


class MinMaxScaler(_Scaler):
    """Moves each column into the range from 0 to 1.

    Args:
        columns: Columns of numbers.
        output_columns: Where the results go; default: the same columns.

    Example:
        >>> import headway.data
        >>> from headway.data.preprocessors import MinMaxScaler
        >>> rows = headway.data.from_items([{"x": 1}, {"x": 3}, {"x": 5}])
        >>> [row["x"] for row in MinMaxScaler(columns=["x"]).fit_transform(rows).take_all()]
        [0.0, 0.5, 1.0]
    """

    def _fit(self, ds: Dataset) -> None:
        found = _statistics.moments(ds, self.columns)
        self.stats_ = {name: (each.least, each.greatest - each.least) if each.count else (math.nan, math.nan)
                       for name, each in found.items()}  # fmt: skip


class MaxAbsScaler(_Scaler):
    """Divides each column by its greatest amount.

    Args:
        columns: Columns of numbers.
        output_columns: Where the results go; default: the same columns.

    Example:
        >>> import headway.data
        >>> from headway.data.preprocessors import MaxAbsScaler
        >>> rows = headway.data.from_items([{"x": -4}, {"x": 2}])
        >>> [row["x"] for row in MaxAbsScaler(columns=["x"]).fit_transform(rows).take_all()]
        [-1.0, 0.5]
    """

    def _fit(self, ds: Dataset) -> None:
        found = _statistics.moments(ds, self.columns)
        self.stats_ = {name: (0.0, max(abs(each.least), abs(each.greatest)) if each.count else math.nan)
                       for name, each in found.items()}  # fmt: skip


class RobustScaler(_Scaler):
    """Subtracts each column's median and divides by the distance of two quantiles.

    Args:
        columns: Columns of numbers.
        quantile_range: The two quantiles.
        output_columns: Where the results go; default: the same columns.

    Example:
        >>> import headway.data
        >>> from headway.data.preprocessors import RobustScaler
        >>> rows = headway.data.from_items([{"x": 1}, {"x": 2}, {"x": 3}, {"x": 4}, {"x": 500}])
        >>> [row["x"] for row in RobustScaler(columns=["x"]).fit_transform(rows).take_all()]
        [-1.0, -0.5, 0.0, 0.5, 248.5]
    """

    def __init__(
        self,
        columns: Sequence[str],
        quantile_range: tuple[float, float] = (0.25, 0.75),
        output_columns: Sequence[str] | None = None,
    ):
        super().__init__(columns, output_columns)
        allowed = "two numbers from 0 to 1, the lower one first"
        if not isinstance(quantile_range, (tuple, list)) or len(quantile_range) != 2:
            refuse("RobustScaler.quantile_range", quantile_range, allowed)
        low, high = (check_number("RobustScaler.quantile_range", each, allowed) for each in quantile_range)
        if not 0 <= low < high <= 1:
            raise ValueError(f"RobustScaler.quantile_range is {quantile_range}; allowed: {allowed}")
        self.quantile_range = (low, high)

    def _fit(self, ds: Dataset) -> None:
        low, high = self.quantile_range
        found = _statistics.quantiles(ds, self.columns, [low, 0.5, high])
        self.stats_ = {name: (each[1], each[2] - each[0]) for name, each in found.items()}

"""A summary of columns: which statistics there are for which type, and how they are shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from headway._values.arguments import check_texts, refuse
from headway.data._aggregate_functions import AggregateFn
from headway.data._grouped import Whole
from headway.data._literals import type_name
from headway.data._splits import Splits
from headway.data.aggregate import (
    ApproximateQuantile,
    ApproximateTopK,
    Count,
    Max,
    Mean,
    Min,
    MissingValuePercentage,
    Std,
    ZeroPercentage,
)

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

#: How many of the most frequent values are shown.
_FREQUENT = 10
_STATISTIC = "statistic"
#: Types as Arrow shows them, by other names.
_ARROW = {"float16": "halffloat", "float32": "float", "float64": "double", "date32": "date32[day]"}


class DatasetSummary:
    """Statistics of columns: what ``Dataset.summary`` gives.

    Attributes:
        dataset_schema: The data set's ``pyarrow.Schema``.
        columns: The names of the columns.
    """

    def __init__(self, _schema: pa.Schema, _found: Mapping[str, Mapping[str, Any]]):
        self.dataset_schema = _schema
        self.columns = list(_found)
        self._found = _found

    def to_pandas(self) -> pd.DataFrame:
        """A row for each statistic, and a column for each column."""
        import pandas as pd

        names = sorted({name for each in self._found.values() for name in each})
        columns = {column: [each.get(name) for name in names] for column, each in self._found.items()}
        return pd.DataFrame({_STATISTIC: names, **columns})

    def get_column_stats(self, column: str) -> pd.DataFrame:
        """A row for each statistic of one column.

        Args:
            column: The column.
        """
        if column not in self._found:
            raise ValueError(f"column is {column!r}; allowed: {', '.join(self.columns)}")
        return self.to_pandas()[[_STATISTIC, column]].rename(columns={column: "value"})

    def __repr__(self) -> str:
        return self.to_pandas().to_string(index=False)


class Summary(Whole, Splits):
    """A summary of columns."""

    def summary(
        self,
        columns: Sequence[str] | None = None,
        override_dtype_agg_mapping: Mapping[Any, Callable[[str], Sequence[AggregateFn]]] | None = None,
    ) -> DatasetSummary:
        """Statistics of columns by their types: counts, means, quantiles, frequent values.

        Args:
            columns: Only these; default: all.
            override_dtype_agg_mapping: By type, a ``pyarrow.DataType`` or its name, such as
                ``"int64"``: a function that gets a column's name and returns its aggregates.
        """
        own = _checked(override_dtype_agg_mapping)
        given = None if columns is None else check_texts("columns", columns, "None or a list of names")
        schema = self._known_schema().base_schema
        names = list(schema.names) if given is None else given
        for name in names:
            if name not in schema.names:
                raise ValueError(f"columns has {name!r}; allowed: {', '.join(schema.names)}")
        if not names:
            raise ValueError("columns is empty; allowed: at least one column")
        wanted = {name: _aggregates(name, schema.field(name).type, own) for name in names}
        row = self.aggregate(*(each for aggregates in wanted.values() for each in aggregates))
        return DatasetSummary(schema, {name: _shown(each, row) for name, each in wanted.items()})


def _checked(given: Any) -> dict[str, Callable[[str], Sequence[AggregateFn]]]:
    allowed = "None or a dict from types to functions of a column's name"
    argument = "override_dtype_agg_mapping"
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        refuse(argument, given, allowed)
    for each in given.values():
        if not callable(each):
            refuse(argument, each, allowed)
    names = {kind: type_name(kind, argument) for kind in given}
    return {_ARROW.get(name, name): given[kind] for kind, name in names.items()}


def _aggregates(name: str, kind: Any, own: Mapping[str, Callable[[str], Sequence[AggregateFn]]]) -> list[AggregateFn]:
    import pyarrow as pa

    types = pa.types
    if str(kind) in own:
        return list(own[str(kind)](name))
    every: list[AggregateFn] = [Count(name), MissingValuePercentage(name)]
    if types.is_duration(kind) or types.is_interval(kind):  # Nothing below computes with them.
        return every
    if types.is_temporal(kind):
        return [*every, Min(name), Max(name)]
    if any(test(kind) for test in (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean)):
        numbers = [Mean(name), Min(name), Max(name), Std(name, ddof=0), ApproximateQuantile(name, [0.5])]
        return [*every, *numbers, ZeroPercentage(name)]
    if isinstance(kind, pa.BaseExtensionType) or types.is_null(kind) or name == "count":
        return every
    return [*every, ApproximateTopK(name, _FREQUENT)]


def _shown(aggregates: Sequence[AggregateFn], row: Mapping[str, Any]) -> dict[str, Any]:
    """Values by statistic. A list is shown as so many statistics."""
    made: dict[str, Any] = {}
    for each in aggregates:
        statistic, value = each.name.partition("(")[0], row[each.name]
        if value is None and isinstance(each, ApproximateQuantile):  # Of no rows.
            value = [None]
        if isinstance(value, list):
            made.update({f"{statistic}[{index}]": item for index, item in enumerate(value)})
        else:
            made[statistic] = value
    return made

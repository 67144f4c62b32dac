"""Aggregates, groups, and what else needs all rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from headway._values.arguments import check_bool, check_none_or_above_0, check_str, check_texts, refuse
from headway.data import _functions, _own_aggregates, aggregate
from headway.data._aggregate_functions import EngineFn
from headway.data._base import DatasetPart
from headway.data._expression import Expr
from headway.data._functions import Arguments, Workers
from headway.data._scheduling import takes_scheduling
from headway.data.aggregate import AggregateFn

if TYPE_CHECKING:
    from typing_extensions import Self

_D = TypeVar("_D", bound=DatasetPart)
_ON = "None, a column's name, or a list of names"


class Whole(DatasetPart):
    """Aggregates, groups, and what else needs all rows."""

    def groupby(self, key: str | Sequence[str] | None, num_partitions: int | None = None) -> GroupedData[Self]:
        """Groups of rows with equal values.

        Args:
            key: A column, several, or None: all rows are one group.
            num_partitions: Kept for scripts that give it; the engine cuts by itself.
        """
        check_none_or_above_0("num_partitions", num_partitions)
        keys = [key] if isinstance(key, str) else key
        names = [] if keys is None else check_texts("key", keys, "None, a column's name, or a list of names")
        return GroupedData(self, names)

    def aggregate(self, *aggs: AggregateFn) -> dict[str, Any]:
        """Values over all rows, by name.

        Args:
            aggs: What is computed, such as ``Mean("price")``; see :mod:`headway.data.aggregate`.
        """
        rows = self._rows(self.groupby(None).aggregate(*aggs))
        return rows[0] if rows else {}

    def unique(self, column: str, ignore_nulls: bool = False) -> list[Any]:
        """The different values of a column, from the least to the greatest.

        Args:
            column: The column.
            ignore_nulls: Whether None is left out.
        """
        check_str("column", column, "a column's name")
        check_bool("ignore_nulls", ignore_nulls)
        made = self._then("whole", {"operation": "unique", "options": {"columns": [column]}})
        values = [row[column] for row in self._rows(made)]
        return [each for each in values if each is not None] if ignore_nulls else values

    def sum(self, on: str | Sequence[str] | None = None, ignore_nulls: bool = True) -> Any:
        """The sum of a column; of several, a dict.

        Args:
            on: The column, several, or None: all that hold numbers. A list of one column gives its
                value, not a dict.
            ignore_nulls: False: the result is None where a value is missing.
        """
        return self._aggregated(aggregate.Sum, on, ignore_nulls=ignore_nulls)

    def min(self, on: str | Sequence[str] | None = None, ignore_nulls: bool = True) -> Any:
        """The least value of a column; of several, a dict.

        Args:
            on, ignore_nulls: As for :meth:`sum`.
        """
        return self._aggregated(aggregate.Min, on, ignore_nulls=ignore_nulls)

    def max(self, on: str | Sequence[str] | None = None, ignore_nulls: bool = True) -> Any:
        """The greatest value of a column; of several, a dict.

        Args:
            on, ignore_nulls: As for :meth:`sum`.
        """
        return self._aggregated(aggregate.Max, on, ignore_nulls=ignore_nulls)

    def mean(self, on: str | Sequence[str] | None = None, ignore_nulls: bool = True) -> Any:
        """The mean of a column; of several, a dict.

        Args:
            on, ignore_nulls: As for :meth:`sum`.
        """
        return self._aggregated(aggregate.Mean, on, ignore_nulls=ignore_nulls)

    def std(self, on: str | Sequence[str] | None = None, ddof: int = 1, ignore_nulls: bool = True) -> Any:
        """The standard deviation of a column; of several, a dict.

        Args:
            on, ignore_nulls: As for :meth:`sum`.
            ddof: What is subtracted from the number of values in the divisor.
        """
        return self._aggregated(aggregate.Std, on, ignore_nulls=ignore_nulls, ddof=ddof)

    def _rows(self, made: Any) -> list[dict[str, Any]]:
        """All rows of a data set."""
        return made.take_all()

    def _aggregated(self, kind: type[EngineFn], on: Any, **options: Any) -> Any:
        names = _numeric(self) if on is None else [on] if isinstance(on, str) else check_texts("on", on, _ON)
        made = self.aggregate(*(kind(name, **options) for name in names)) if names else {}
        return made.get(kind(names[0]).name) if len(names) == 1 else made


def _numeric(of: Any) -> list[str]:
    import pyarrow as pa

    schema = of.schema().base_schema
    return [field.name for field in schema if pa.types.is_integer(field.type) or pa.types.is_floating(field.type)]


class GroupedData(Generic[_D]):
    """Groups of rows with equal values in columns: what ``Dataset.groupby`` gives.

    Example:
        >>> import headway.data
        >>> rows = headway.data.from_items([{"k": "a", "v": 1}, {"k": "b", "v": 2}, {"k": "a", "v": 3}])
        >>> rows.groupby("k").sum("v").take_all()
        [{'k': 'a', 'sum(v)': 4}, {'k': 'b', 'sum(v)': 2}]
    """

    def __init__(self, _of: _D, _keys: list[str]):
        self._of = _of
        self._keys = _keys

    def aggregate(self, *aggs: AggregateFn) -> _D:
        """A row for each group: its keys, and what is computed, ordered by keys.

        Args:
            aggs: What is computed, such as ``Mean("price")``; see :mod:`headway.data.aggregate`.
        """
        for each in aggs:
            if not isinstance(each, AggregateFn):
                refuse("aggs", each, 'aggregates such as Mean("price")')
        if not aggs:
            raise ValueError('aggs is empty; allowed: at least one aggregate, such as Mean("price")')
        names = [each.name for each in aggs]
        if len({*names, *self._keys}) < len(names) + len(self._keys):
            shown = ", ".join(names)
            raise ValueError(f"aggs has {shown}; allowed: different names, and none of a key (alias_name gives one)")
        own = [each for each in aggs if not isinstance(each, EngineFn)]
        computed = [each for each in aggs if isinstance(each, EngineFn)]
        if not own:
            return self._computed(computed)
        made = _own_aggregates.aggregated(self._of, self._keys, own)
        if not computed:
            return cast("_D", made)
        # Both are ordered by keys. Rows are computed twice.
        beside = made.drop_columns(self._keys) if self._keys else made
        return cast("_D", cast("Any", self._computed(computed)).zip(beside).select_columns([*self._keys, *names]))

    def _computed(self, aggs: Sequence[EngineFn]) -> _D:
        options = {"keys": self._keys, "aggregates": [each.for_plan() for each in aggs]}
        return self._of._then("whole", {"operation": "aggregate", "options": options})

    @takes_scheduling
    def map_groups(
        self,
        fn: Any,
        *,
        batch_format: str | None = "default",
        fn_args: Sequence[Any] | None = None,
        fn_kwargs: dict[str, Any] | None = None,
        fn_constructor_args: Sequence[Any] | None = None,
        fn_constructor_kwargs: dict[str, Any] | None = None,
        zero_copy_batch: bool = True,
        compute: Any = None,
        num_cpus: float | None = None,
        num_gpus: float | None = None,
        memory: float | None = None,
        concurrency: int | tuple[int, int] | None = None,
    ) -> _D:
        """Calls a function on each group, as one batch, and takes the rows that it returns. All
        rows are one group of ``groupby(None)``, and must fit into memory then.

        Args:
            fn: A function of a batch, or a class whose objects are called.
            batch_format, zero_copy_batch, compute, num_cpus, num_gpus, memory, concurrency: As for
                :meth:`Dataset.map_batches`.
            fn_args, fn_kwargs: Further arguments of each call.
            fn_constructor_args, fn_constructor_kwargs: Arguments of the class's constructor.
        """
        check_bool("zero_copy_batch", zero_copy_batch)
        workers = Workers(concurrency, compute, num_cpus, num_gpus, memory).arguments()
        blob = _functions.packed(fn, Arguments(fn_args, fn_kwargs, fn_constructor_args, fn_constructor_kwargs))
        options = {"keys": self._keys, "batch_format": _functions.batch_format(batch_format)}
        if workers["workers"] is not None:
            options["workers"] = workers["workers"]
        return self._of._then("whole", {"operation": "group_map", "options": options}, blob=blob)

    @takes_scheduling
    def with_column(self, column_name: str, expr: Expr) -> _D:
        """All rows, ordered by keys, with one more column. A Python function in the expression gets
        whole groups; all else is computed row by row.

        Args:
            column_name: The column's name.
            expr: What it is computed from, such as ``col("price") * 2``.
        """
        check_str("column_name", column_name, "a column's name")
        if not isinstance(expr, Expr):
            refuse("expr", expr, 'an expression such as col("price") * 2')
        of = cast("Any", self._of)
        by_keys = of.sort(self._keys) if self._keys and not expr._calls else of
        return cast("_D", by_keys._with_named({column_name: expr}, self._keys))

    def count(self) -> _D:
        """The number of rows of each group, as ``count()``."""
        return self.aggregate(aggregate.Count())

    def sum(self, on: str | Sequence[str] | None = None, ignore_nulls: bool = True) -> _D:
        """Sums.

        Args:
            on: A column, several, or None: all that hold numbers.
            ignore_nulls: False: the result is missing where a value is.
        """
        return self._each(aggregate.Sum, on, ignore_nulls=ignore_nulls)

    def min(self, on: str | Sequence[str] | None = None, ignore_nulls: bool = True) -> _D:
        """The least values.

        Args:
            on, ignore_nulls: As for :meth:`sum`.
        """
        return self._each(aggregate.Min, on, ignore_nulls=ignore_nulls)

    def max(self, on: str | Sequence[str] | None = None, ignore_nulls: bool = True) -> _D:
        """The greatest values.

        Args:
            on, ignore_nulls: As for :meth:`sum`.
        """
        return self._each(aggregate.Max, on, ignore_nulls=ignore_nulls)

    def mean(self, on: str | Sequence[str] | None = None, ignore_nulls: bool = True) -> _D:
        """Means.

        Args:
            on, ignore_nulls: As for :meth:`sum`.
        """
        return self._each(aggregate.Mean, on, ignore_nulls=ignore_nulls)

    def std(self, on: str | Sequence[str] | None = None, ddof: int = 1, ignore_nulls: bool = True) -> _D:
        """Standard deviations.

        Args:
            on, ignore_nulls: As for :meth:`sum`.
            ddof: What is subtracted from the number of values in the divisor.
        """
        return self._each(aggregate.Std, on, ignore_nulls=ignore_nulls, ddof=ddof)

    def _each(self, kind: type[EngineFn], on: Any, **options: Any) -> _D:
        if on is None:
            names = [name for name in _numeric(self._of) if name not in self._keys]
        else:
            names = check_texts("on", [on] if isinstance(on, str) else on, _ON)
        return self.aggregate(*(kind(name, **options) for name in names))

    def __repr__(self) -> str:
        return f"GroupedData({self._of!r}, keys={self._keys})"

"""Aggregates that users write, in function workers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import cloudpickle

from headway.data import _functions
from headway.data._aggregate_functions import AggregateFn
from headway.data._functions import Arguments
from headway.data._plan import Plan

_GROUP = "__headway_group"
_PARTIAL = "__headway_partial"
#: Results whose types are found together: the first of them may be None.
_RESULTS_AT_ONCE = 65536


def aggregated(of: Any, keys: Sequence[str], own: Sequence[AggregateFn]) -> Any:
    """A row for each group, ordered by keys; without keys one row.

    Args:
        of: A data set.
        keys: The columns that make groups.
        own: What is computed.
    """
    return _of_groups(of, keys, own) if keys else _of_all(of, own)


def _of_groups(of: Any, keys: Sequence[str], own: Sequence[AggregateFn]) -> Any:
    results = _grouped(of, list(keys), _OfGroup(keys, own))
    together = results._then("repartition", {"blocks": None, "rows": _RESULTS_AT_ONCE})
    return together.map_batches(_Unpacked(own), batch_format="pyarrow", udf_modifying_row_count=False)


def _of_all(of: Any, own: Sequence[AggregateFn]) -> Any:
    """Accumulators of pieces, which the last step merges. Its first row stands for no piece, so
    that there is a result without rows too.
    """
    nothing: dict[str, Any] = {"call": "cast", "args": [{"literal": None}], "options": {"type": "binary", "safe": True}}
    start = of._made(Plan.source("range", {"rows": 1}))
    start = start._then("project", {"columns": [[_GROUP, {"column": "id"}], [_PARTIAL, nothing]], "keep": False})
    parts = of.map_batches(_Partial(own), batch_format="pyarrow")
    return _grouped(start.union(parts), [_GROUP], _Merged(own))


def _grouped(of: Any, keys: list[str], function: Any) -> Any:
    blob = _functions.packed(function, Arguments())
    options = {"keys": keys, "batch_format": "pyarrow"}
    return of._then("whole", {"operation": "group_map", "options": options}, blob=blob)


class _OfOwn:
    """A function over a user's aggregates."""

    def __init__(self, own: Sequence[AggregateFn]):
        self._own = list(own)
        self.__name__ = "aggregate"


class _Partial(_OfOwn):
    """A function of a piece of the data: its accumulators."""

    def __call__(self, table: Any) -> dict[str, Any]:
        made = [each._of_block(None, table) for each in self._own]
        return {_GROUP: [0], _PARTIAL: [cloudpickle.dumps(made)]}


class _Merged(_OfOwn):
    """A function of all pieces' accumulators: the results."""

    def __call__(self, table: Any) -> dict[str, Any]:
        parts = [cloudpickle.loads(packed) for packed in table[_PARTIAL].to_pylist() if packed is not None]
        if parts:
            made = [each._started(None, part) for each, part in zip(self._own, parts[0], strict=True)]
        else:
            made = [each._zero(None) for each in self._own]
        for part in parts[1:]:
            made = [each._merged(*two) for each, *two in zip(self._own, made, part, strict=True)]
        return {each.name: [each._result(value)] for each, value in zip(self._own, made, strict=True)}


class _OfGroup(_OfOwn):
    """A function of a group: its keys, and its results as they are."""

    def __init__(self, keys: Sequence[str], own: Sequence[AggregateFn]):
        super().__init__(own)
        self._keys = list(keys)

    def __call__(self, table: Any) -> Any:
        import pyarrow as pa

        made = table.select(self._keys).slice(0, 1)
        values = tuple(column[0].as_py() for column in made.columns)
        key = values[0] if len(values) == 1 else values
        for each in self._own:
            accumulator = each._started(key, each._of_block(key, table))
            made = made.append_column(each.name, pa.array([cloudpickle.dumps(each._result(accumulator))], pa.binary()))
        return made


class _Unpacked(_OfOwn):
    """A function of results as they are: columns of them."""

    def __call__(self, table: Any) -> Any:
        from headway._worker.functions.arrow_columns import arrow_column

        for each in self._own:
            values = [cloudpickle.loads(packed) for packed in table[each.name].to_pylist()]
            column = arrow_column(each.name, values)
            table = table.set_column(table.schema.get_field_index(each.name), each.name, column)
        return table

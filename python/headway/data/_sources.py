"""Data sets that Python code reads, in function workers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from headway._values.arguments import check_bool, check_str, refuse
from headway.data import _functions
from headway.data._dataset import Dataset
from headway.data._functions import Arguments
from headway.data._plan import Plan
from headway.data._scheduling import takes_scheduling

#: Items of a map-style data set that a worker reads at once.
_ITEMS_OF_UNIT = 256


def from_torch(dataset: Any, local_read: bool = False) -> Dataset:
    """A data set of one of PyTorch's, which function workers read.

    Args:
        dataset: A ``torch.utils.data.Dataset``; an item is a dict, or a tuple, whose parts are the
            columns ``item_0``, ``item_1`` and so on, or one value, in the column ``item``.
        local_read: Kept for scripts that give it: workers are on this machine.

    Example:
        >>> import headway.data
        >>> headway.data.from_torch([{"x": 1}, {"x": 2}])
        Dataset(python_source)
    """
    check_bool("local_read", local_read)
    if hasattr(dataset, "__getitem__") and hasattr(dataset, "__len__"):
        rows = len(dataset)
        units = [min(_ITEMS_OF_UNIT, rows - begin) for begin in range(0, rows, _ITEMS_OF_UNIT)]
        return of_python(_Indexed(dataset), len(units), units)
    if not hasattr(dataset, "__iter__"):
        refuse("dataset", dataset, "a torch.utils.data.Dataset")
    return of_python(_Iterated(dataset), 1, None)


@takes_scheduling
def read_sql(sql: str, connection_factory: Any, *, sql_params: Any = None) -> Dataset:
    """The rows of a query, over any connection of Python's DB-API.

    Args:
        sql: The query.
        connection_factory: Makes the connection, in a function worker.
        sql_params: Values for the places of the query: a list, or a dict by name.

    Example:
        >>> import headway.data, sqlite3
        >>> headway.data.read_sql("select 1 as x", lambda: sqlite3.connect(":memory:"))
        Dataset(python_source)
    """
    check_str("sql", sql, "a query")
    if not callable(connection_factory):
        refuse("connection_factory", connection_factory, "a function that returns a connection")
    if sql_params is not None and (
        isinstance(sql_params, (str, bytes)) or not isinstance(sql_params, (Sequence, Mapping))
    ):
        refuse("sql_params", sql_params, "None, a list of values, or a dict of them by name")
    return of_python(_Query(sql, connection_factory, sql_params), 1, None)


def of_python(function: Any, units: int, rows: list[int] | None) -> Dataset:
    """A data set whose units ``function`` makes of their numbers, in function workers.

    Args:
        function: Gives a table, or an iterable of rows or of tables.
        units: How many.
        rows: Of each unit; None: they are unknown.
    """
    blob = _functions.packed(function, Arguments())
    return Dataset._of(Plan.source("python_source", {"units": units, "rows": rows}, blob=blob))


class _Indexed:
    """Items of a map-style data set."""

    def __init__(self, dataset: Any):
        self._dataset = dataset
        self._rows = len(dataset)

    def __call__(self, unit: int) -> list[dict[str, Any]]:
        begin = unit * _ITEMS_OF_UNIT
        return [_row(self._dataset[index]) for index in range(begin, min(begin + _ITEMS_OF_UNIT, self._rows))]


class _Iterated:
    """Items of an iterable data set."""

    def __init__(self, dataset: Any):
        self._dataset = dataset

    def __call__(self, unit: int) -> Iterator[dict[str, Any]]:
        return (_row(item) for item in self._dataset)


class _Query:
    """Rows of a query."""

    def __init__(self, sql: str, connection_factory: Any, params: Any):
        self._sql = sql
        self._params = params
        self._connect = connection_factory

    def __call__(self, unit: int) -> Iterator[dict[str, Any]]:
        connection = self._connect()
        try:
            cursor = connection.cursor()
            cursor.execute(self._sql, *([] if self._params is None else [self._params]))
            names = [column[0] for column in cursor.description]
            while rows := cursor.fetchmany(256):
                for row in rows:
                    yield dict(zip(names, row, strict=True))
        finally:
            connection.close()


def _row(item: Any) -> dict[str, Any]:
    if isinstance(item, Mapping):
        return dict(item)
    if isinstance(item, tuple) and item:
        return {f"item_{index}": part for index, part in enumerate(item)}
    return {"item": item}

"""Rows that a function makes, on their way into batches."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from headway._worker.functions.outputs import columns_of, rows_to_columns

#: Rows are stored so many at a time, or as soon as they have so many bytes.
_ROWS_MAX = 16384
_BYTES_MAX = 16 << 20
#: Of a column that begins with one of these no value is large.
_SMALL = (bool, int, float, complex)


def stored(rows: Iterable[Any]) -> Iterator[Any]:
    """Rows as batches. Rows are let go as their batch is handed on."""
    waiting = _Waiting()
    for row in rows:
        is_full = waiting.add(row)
        row = None
        if is_full:
            yield waiting.taken()
    if waiting.rows:
        yield waiting.taken()


def stored_or_batches(items: Iterable[Any]) -> Iterator[Any]:
    """Batches as they are, and the rows between them as batches."""
    waiting = _Waiting()
    for item in items:
        if is_batch(item):
            if waiting.rows:
                yield waiting.taken()
            yield columns_of(item)
        else:
            is_full = waiting.add(item if isinstance(item, Mapping) else {"item": item})
            if is_full:
                item = None
                yield waiting.taken()
        item = None
    if waiting.rows:
        yield waiting.taken()


def is_batch(value: Any) -> bool:
    """Whether it is a table of Arrow or a data frame."""
    return (
        hasattr(value, "__arrow_c_stream__")
        or hasattr(value, "__arrow_c_array__")
        or (type(value).__module__.partition(".")[0] == "pandas" and hasattr(value, "columns"))
    )


class _Waiting:
    """Rows that are not stored yet."""

    def __init__(self) -> None:
        self.rows: list[Any] = []
        self._bytes = 0
        #: The columns whose values may be large, by the first row.
        self._large: list[Any] = []

    def add(self, row: Any) -> bool:
        """One more.

        Returns:
            Whether they are a batch now.
        """
        if not self.rows:
            self._large = _large_columns(row)
        for name in self._large:
            self._bytes += _bytes_of(row, name)
        self.rows.append(row)
        return self._bytes >= _BYTES_MAX or len(self.rows) >= _ROWS_MAX

    def taken(self) -> Any:
        """All of them as one batch."""
        rows, self.rows, self._bytes = self.rows, [], 0
        return rows_to_columns(rows)


def _large_columns(row: Any) -> list[Any]:
    if not isinstance(row, Mapping):  # It is refused with its batch.
        return []
    return [name for name, value in row.items() if not isinstance(value, _SMALL)]


def _bytes_of(row: Any, name: Any) -> int:
    """Of a value, roughly, and without what lists and dictionaries hold."""
    try:
        value = row[name]
    except (LookupError, TypeError):  # Without the column, or no row at all.
        return 0
    if type(value) is str or type(value) is bytes:
        return len(value)
    size = getattr(value, "nbytes", None)
    return size if isinstance(size, int) else sys.getsizeof(value)

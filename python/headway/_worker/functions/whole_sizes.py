"""Bytes of rows of Arrow's columns, without a look at their values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def bytes_of_rows(columns: Sequence[Any], rows: Any) -> Any:
    """How many bytes each of some rows has in columns.

    Args:
        columns: Arrays of equal lengths.
        rows: int64 of shape ``[N]``, the rows' numbers.

    Returns:
        int64 of shape ``[N]``.
    """
    import numpy as np

    each: Any = np.zeros(len(rows), np.int64)
    for column in columns:
        each += _between(column, rows, rows + 1)
    return each


def _between(column: Any, begins: Any, ends: Any) -> Any:
    """Bytes from each of some rows to another: a row of a list has rows of the list's values."""
    import pyarrow.types as kinds

    kind = column.type
    if kinds.is_null(kind):
        return begins * 0
    if kinds.is_struct(kind):
        return sum((_between(column.field(i), begins, ends) for i in range(kind.num_fields)), begins * 0)
    if kinds.is_fixed_size_list(kind):
        begins, ends = begins + column.offset, ends + column.offset
        return _between(column.values, begins * kind.list_size, ends * kind.list_size)
    if kinds.is_list(kind) or kinds.is_large_list(kind) or kinds.is_map(kind):
        begins, ends = _offsets(column, begins), _offsets(column, ends)
        values = (column.keys, column.items) if kinds.is_map(kind) else (column.values,)
        return sum((_between(each, begins, ends) for each in values), begins * 0)
    if kinds.is_binary(kind) or kinds.is_string(kind) or kinds.is_large_binary(kind) or kinds.is_large_string(kind):
        return _offsets(column, ends) - _offsets(column, begins)
    return (ends - begins) * column.nbytes // max(1, len(column))


def _offsets(column: Any, rows: Any) -> Any:
    """Where the values of rows begin."""
    import numpy as np
    import pyarrow.types as kinds

    kind, buffer = column.type, column.buffers()[1]
    if buffer is None or buffer.size == 0:
        return rows * 0
    is_large = kinds.is_large_list(kind) or kinds.is_large_binary(kind) or kinds.is_large_string(kind)
    return np.frombuffer(buffer, np.int64 if is_large else np.int32)[rows + column.offset].astype(np.int64)

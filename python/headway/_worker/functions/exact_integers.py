"""Integers beside nulls: numpy and pandas have floats for them, which lack most integers beyond
2^53.
"""

from __future__ import annotations

from typing import Any

#: All integers up to here are doubles.
_EXACT_MAX = 2**53


def check_exact(name: str, column: Any, batch_format: str) -> None:
    """Checks that a column can be made arrays without another number for an integer of it.

    Args:
        name: The column's.
        column: An Arrow array, or several.
        batch_format: numpy or pandas. In numpy's format structs and maps are Python's values,
            whose integers are exact.

    Raises:
        TypeError: an integer beside nulls is no double.
    """
    for piece in getattr(column, "chunks", (column,)):
        lost = _lost(piece, batch_format)
        if lost is not None:
            raise TypeError(
                f"column {name!r} has nulls and the integer {lost}, for which numpy and pandas would have "
                f"{int(float(lost))}: beside nulls they have floats, which lack integers beyond 2^53; fill the nulls "
                f'(col({name!r}).fill_null(0)), or take Arrow\'s tables (batch_format="pyarrow")'
            )


def is_double(integer: int) -> bool:
    """Whether a double has this value."""
    return abs(integer) <= _EXACT_MAX or (integer.bit_length() < 1024 and int(float(integer)) == integer)


def _lost(column: Any, batch_format: str) -> int | None:
    """An integer that would become another number."""
    import pyarrow as pa

    types, kind = pa.types, column.type
    if isinstance(kind, pa.BaseExtensionType):
        return _lost(column.storage, batch_format)
    if types.is_int64(kind) or types.is_uint64(kind):
        return _lost_integer(column) if column.null_count else None
    is_object = types.is_struct(kind) or types.is_map(kind)
    if not types.is_nested(kind) or (is_object and batch_format == "numpy"):
        return None
    if types.is_struct(kind):
        parts = column.flatten()
    elif types.is_map(kind):
        begin, end = column.offsets[0].as_py(), column.offsets[-1].as_py()
        parts = (column.items.slice(begin, end - begin),)
    else:
        parts = (column.flatten(),)
    found = (_lost(part, batch_format) for part in parts)
    return next((each for each in found if each is not None), None)


def _lost_integer(column: Any) -> int | None:
    import pyarrow.compute as pc

    ends = pc.min_max(column).as_py()
    if ends["min"] is None or (ends["min"] >= -_EXACT_MAX and ends["max"] <= _EXACT_MAX):
        return None
    return next((each for each in column.drop_null().to_pylist() if not is_double(each)), None)

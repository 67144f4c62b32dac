"""Rows without columns, of which there is nothing but how many they are."""

from __future__ import annotations

from typing import Any


def without_columns(rows: int) -> Any:
    """A record batch of so many rows without a column. Most of Arrow's functions that make one take
    it for one without rows.
    """
    import pyarrow as pa

    return pa.record_batch([pa.nulls(rows)], names=["none"]).select([])


def check_has_columns(names: Any, rows: int) -> None:
    """Raises ValueError for rows without columns as a dictionary of arrays, which has none to say
    how many rows there are.
    """
    if rows and not names:
        raise ValueError(
            f"the {rows} rows have no columns, and a dictionary of arrays cannot say how many rows it has; take rows "
            '(map(), iter_rows()), or batch_format="pyarrow" or "pandas"'
        )

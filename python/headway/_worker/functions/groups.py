"""Runs of equal keys in rows that are sorted by them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from headway._worker.functions.blocks import ArrowBlock, Block, ColumnsBlock


def runs(block: Block, keys: Sequence[str]) -> list[tuple[int, int]]:
    """Begin and end of each run of equal keys; null equals null, and NaN equals NaN."""
    if block.rows == 0:
        return []
    if not keys:
        return [(0, block.rows)]
    differs: Any = np.zeros(block.rows - 1, np.bool_)
    for key in keys:
        if isinstance(block, ColumnsBlock):
            differs |= _changes_of_numbers(block.columns[key])
        else:
            assert isinstance(block, ArrowBlock)
            differs |= _changes(block.record_batch.column(key))
    begins = [0, *(np.flatnonzero(differs) + 1).tolist()]
    return list(zip(begins, [*begins[1:], block.rows], strict=True))


def _changes_of_numbers(values: Any) -> Any:
    before, after = values[:-1], values[1:]
    changed = before != after
    if values.dtype.kind == "f":
        changed &= ~(np.isnan(before) & np.isnan(after))
    return changed


def _changes(column: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    valid = column.is_valid().to_numpy(zero_copy_only=False)
    before, after = column.slice(0, len(column) - 1), column.slice(1)
    changed = pc.fill_null(pc.not_equal(before, after), False).to_numpy(zero_copy_only=False)
    if pa.types.is_floating(column.type):
        nan = pc.fill_null(pc.is_nan(column), False).to_numpy(zero_copy_only=False)
        changed = changed & ~(nan[:-1] & nan[1:])
    return changed | (valid[:-1] != valid[1:])

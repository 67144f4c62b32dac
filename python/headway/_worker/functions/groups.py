"""Runs of equal keys in rows that are sorted by them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from headway._worker.functions.blocks import ArrowBlock, Block, ColumnsBlock

#: What stands for NaN within nested values.
_NAN = object()


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

    if isinstance(column, pa.ExtensionArray):
        column = column.storage
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _changes(column.dictionary_decode())
    if pa.types.is_float16(kind):
        return _changes(column.cast(pa.float32()))
    valid = column.is_valid().to_numpy(zero_copy_only=False)
    changed = valid[:-1] != valid[1:]
    if pa.types.is_null(kind):
        return changed
    if pa.types.is_struct(kind):
        # A field is null where its struct is.
        for field in column.flatten():
            changed |= _changes(field)
        return changed
    if pa.types.is_nested(kind):
        values = [_plain(value) for value in column.to_pylist()]
        return np.fromiter((one != other for one, other in itertools.pairwise(values)), np.bool_, len(values) - 1)
    before, after = column.slice(0, len(column) - 1), column.slice(1)
    differ = pc.fill_null(pc.not_equal(before, after), False).to_numpy(zero_copy_only=False)
    if pa.types.is_floating(kind):
        nan = pc.fill_null(pc.is_nan(column), False).to_numpy(zero_copy_only=False)
        differ = differ & ~(nan[:-1] & nan[1:])
    return changed | differ


def _plain(value: Any) -> Any:
    """A nested value that equals others as keys do: NaN equals NaN."""
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return _NAN if value != value else value

"""Sorted rows in tables that have whole groups: runs of equal keys."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from headway._worker.functions import groups
from headway._worker.functions.blocks import block_of

#: Groups are together in a table of so many bytes.
_TOGETHER_BYTES = 32 << 20


def whole_groups(tables: Iterator[Any], keys: Sequence[str], memory: int) -> Iterator[Any]:
    """Sorted rows, cut only where a group ends.

    Args:
        tables: The rows, sorted by the keys.
        keys: Their columns; none: all rows are one group.
        memory: Bytes that a group may have.

    Raises:
        MemoryError: a group is larger.
    """
    held: list[Any] = []
    for table in tables:
        begin, _ = groups.runs(block_of(table), keys)[-1]
        if begin > 0 or (held and keys and not _is_one_group(held[-1], table, keys)):
            yield from _cut(_joined([*held, table.slice(0, begin)], keys), keys)
            held = []
        held.append(table.slice(begin))
        _check_size(held, keys, memory)
    if held:
        yield _joined(held, keys)


def _is_one_group(table: Any, following: Any, keys: Sequence[str]) -> bool:
    """Whether rows are of the group that those before end in."""
    import pyarrow as pa

    rows = [table.slice(table.num_rows - 1), following.slice(0, 1)]
    both = pa.concat_tables([each.select(keys) for each in rows]).combine_chunks()
    return len(groups.runs(block_of(both), keys)) == 1


def _joined(tables: Sequence[Any], keys: Sequence[str]) -> Any:
    """One table of one batch: arrays of text and bytes may have 2 GiB, and more are several."""
    import pyarrow as pa

    table = pa.concat_tables(tables).combine_chunks()
    if len(table.to_batches()) > 1:
        raise MemoryError(
            f"{_name(tables[0], keys)} is in a table of more than 2 GiB of text or bytes; allowed: less, or a column "
            "of large_string or large_binary"
        )
    return table


def _cut(table: Any, keys: Sequence[str]) -> Iterator[Any]:
    rows_max = table.num_rows * _TOGETHER_BYTES // max(1, table.nbytes)
    begin = 0
    if rows_max < table.num_rows:
        for first, end in groups.runs(block_of(table), keys):
            if end - begin > rows_max and first > begin:
                yield table.slice(begin, first - begin)
                begin = first
    yield table.slice(begin)


def _check_size(held: Sequence[Any], keys: Sequence[str], memory: int) -> None:
    size = sum(each.nbytes for each in held)
    if size > memory:
        rows = sum(each.num_rows for each in held)
        raise MemoryError(
            f"{_name(held[0], keys)} has more than {rows} rows and {size} bytes, and a group must fit into the "
            f"{memory} bytes that are there for groups"
        )


def _name(table: Any, keys: Sequence[str]) -> str:
    shown = ", ".join(f"{key}={table.column(key)[0].as_py()!r}" for key in keys)
    return f"the group {shown or 'of all rows'}"

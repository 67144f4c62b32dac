"""A rank's share of a data set as a table of numbers: read once, and kept in memory or on disk."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from headway.train._boosting.columns import Columns

if TYPE_CHECKING:
    import pyarrow as pa

    from headway.data import DataIterator

# Of a piece that is read at once.
_ROWS = 8192


def table_of(shard: DataIterator, columns: Columns, *, on_disk: bool) -> pa.Table:
    """The rows of the data set's first epoch; the position of the shard does not move.

    Args:
        shard: The rank's.
        columns: What is wanted of it.
        on_disk: Whether the rows lie in a scratch file, whose pages the system may take out of
            memory. The file has no name: it ends with the table, or with the process.

    Raises:
        ValueError: the rank gets no rows.
    """
    import pyarrow as pa

    from headway.data import DataIterator

    first = DataIterator(shard._plan, shard._context, shard._share, shard._seed, shard._name)
    pieces = first.iter_batches(batch_size=_ROWS, batch_format="pyarrow")
    converted = (columns.converted(piece) for piece in pieces)
    table = _on_disk(converted) if on_disk else pa.concat_tables(list(map(_copied, converted)) or [pa.table({})])
    if table.num_rows == 0:
        raise ValueError(
            f"the data set {shard._name or 'data'!r} has no rows for rank {shard._share.rank}; allowed: at least one "
            f"row for each of the {shard._share.world_size} ranks"
        )
    return table


def slices(table: pa.Table, rows: int) -> Iterator[pa.Table]:
    """A table in pieces of so many rows, of one chunk each."""
    for begin in range(0, table.num_rows, rows):
        yield table.slice(begin, rows).combine_chunks()


def threads() -> int | None:
    """How many threads a framework may use: the CPUs of the rank; None: whatever it wants. It has
    been imported with one, and would stay at that.
    """
    asked = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]
    return int(asked) if asked.isdigit() and int(asked) > 0 else None


def _copied(piece: pa.Table) -> pa.Table:
    """In separate memory: the piece's is the data engine's, which wants it back."""
    import pyarrow as pa

    schema = piece.schema
    # Their size is known before they are copied; a stream would grow, and be copied each time.
    copies = [pa.ipc.read_record_batch(batch.serialize(), schema) for batch in piece.to_batches()]
    return pa.Table.from_batches(copies, schema)


def _on_disk(pieces: Iterable[pa.Table]) -> pa.Table:
    import pyarrow as pa

    with tempfile.TemporaryFile() as file:
        path = f"/proc/self/fd/{file.fileno()}"
        rest = iter(pieces)
        first = next(rest, None)
        if first is None:
            return pa.table({})
        with pa.OSFile(path, "wb") as sink, pa.ipc.new_file(sink, first.schema) as writer:
            writer.write_table(first)
            for piece in rest:
                writer.write_table(piece)
        return pa.ipc.open_file(pa.memory_map(path)).read_all()

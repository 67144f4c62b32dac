"""Columns that only come along, kept aside while DuckDB orders the others.

DuckDB's sort merges what it has spilled in parts of 122 880 rows, each of which is in memory at
once, however large its rows are: images of 100 KB would need 18 GB for each thread. Where that is
more than there is, DuckDB gets the keys and each row's place, and the other columns wait here: in
memory, or in a file.
"""

from __future__ import annotations

import contextlib
import itertools
import mmap
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from headway._worker.functions.whole_columns import storage_type, stored, wrapped
from headway._worker.functions.whole_queries import origins, used_columns
from headway._worker.functions.whole_sizes import bytes_of_rows

#: Operations whose results are whole rows in an order.
ORDERED = ("sort", "random_shuffle", "group_map", "repartition", "join")
#: Bytes for each byte of a row that one of DuckDB's threads needs to sort what exceeds memory:
#: those of a part's rows, and half as many for what it keeps beside them.
_BYTES_EACH = 122_880 * 3 // 2
#: A result is put together in pieces of so many bytes.
_PIECE_BYTES = 4 << 20
#: The pages of the file that were read are given back after so many bytes …
_READ_MAX = 32 << 20
#: … where each row brings along those around it.
_AROUND = 64 << 10


def place_column(side: int) -> str:
    """The name of the column that has the places of an input's rows."""
    return f"__headway_place_{side}"


def threads_for(row_bytes: int, memory: int) -> int:
    """How many of DuckDB's threads can sort rows at a time when they exceed memory.

    Args:
        row_bytes: Of an average row of each input.
        memory: Bytes that DuckDB may use.
    """
    return memory // (_BYTES_EACH * max(1, row_bytes))


def aside_for(
    operation: str, options: Mapping[str, Any], side: int, schemas: Sequence[Any], folder: str, memory: int
) -> Aside | None:
    """What keeps the columns of an input that can wait; None where all are needed.

    Args:
        operation: One of ``ORDERED``.
        options: As the plan has them.
        side: Which input.
        schemas: The inputs' Arrow schemas.
        folder: For a file, where they exceed memory.
        memory: Bytes of them that may be in memory.
    """
    schema, used = schemas[side], used_columns(operation, options, side)
    names = [field.name for field in schema if field.name not in used and _can_wait(field.type)]
    if not names:
        return None
    is_wanted = side in {each for each, _ in origins(operation, options, schemas).values()}
    return Aside(side, schema, names, os.path.join(folder, f"aside-{side}") if is_wanted else None, memory)


class Aside:
    """The columns of an input that wait.

    Args:
        side: Which input.
        schema: The input's Arrow schema.
        names: The columns that wait.
        path: Of a file for what exceeds memory; unset where the result has no column of them.
        memory: Bytes that may be in memory.
    """

    def __init__(self, side: int, schema: Any, names: Sequence[str], path: str | None, memory: int) -> None:
        import pyarrow as pa

        self.place = place_column(side)
        seen = [field for field in schema if field.name not in names]
        #: Who keeps a copy of a column does not keep the memory of the batch.
        self._copied = [(field.name, _can_wait(field.type)) for field in seen]
        #: The input's schema as DuckDB sees it.
        self.seen = pa.schema([*seen, pa.field(self.place, pa.int64())])
        self._kinds = {field.name: field.type for field in schema if field.name in names}
        self._schema = pa.schema([(name, storage_type(kind)) for name, kind in self._kinds.items()])
        self._path = path
        self._memory = memory
        self._file: Any = None
        self._writer: Any = None
        self._mapped: Any = None
        #: Batches in memory, and where the others are in the file.
        self._kept: list[Any] = []
        #: The number of each batch's first row, and of all rows.
        self._begins = [0]
        self._bytes = 0
        self._read = 0

    def put(self, batch: Any) -> Any:
        """Keeps a batch's columns that wait.

        Returns:
            The batch as DuckDB sees it.
        """
        import numpy as np
        import pyarrow as pa

        if self._path is not None:
            self._keep(batch)
        begin, end = self._begins[-1], self._begins[-1] + batch.num_rows
        self._begins.append(end)
        rows = pa.array(np.arange(batch.num_rows))
        seen = [batch.column(name).take(rows) if is_copied else batch.column(name) for name, is_copied in self._copied]
        return pa.RecordBatch.from_arrays([*seen, pa.array(np.arange(begin, end))], schema=self.seen)

    def _keep(self, batch: Any) -> None:
        import pyarrow as pa

        columns = [stored(batch.column(field.name)) for field in self._schema]
        waiting = pa.RecordBatch.from_arrays(columns, schema=self._schema)
        size = pa.ipc.get_record_batch_size(waiting)
        self._bytes += size
        if size <= self._memory:
            self._memory -= size
            self._kept.append(waiting.serialize())
        else:
            self._kept.append(self._written(waiting, size))

    def seen_of(self, batch: Any) -> Any:
        """Of a batch, the columns that do not wait; unset where there is none."""
        return batch if batch is None else batch.select(self.seen.names[:-1])

    def _written(self, batch: Any, size: int) -> tuple[int, int]:
        """Begin and end of a batch in the file."""
        import pyarrow as pa

        if self._writer is None:
            self._file = pa.OSFile(self._path, "wb")
            self._writer = pa.ipc.new_stream(self._file, self._schema)
        self._writer.write_batch(batch)
        end = self._file.tell()
        return end - size, end

    @property
    def row_bytes(self) -> int:
        """Of an average row."""
        return max(1, self._bytes // max(1, self._begins[-1]))

    def take(self, places: Any) -> dict[str, Any]:
        """The columns of rows, by name.

        Args:
            places: int64, one for each row; null: there is no such row.
        """
        import numpy as np
        import pyarrow as pa

        order, parts = self._by_batch(places)
        pieces = [self._rows(number, rows) for number, rows in parts]
        taken = pieces[0]
        if len(pieces) > 1:
            back = np.empty_like(order)
            back[order] = np.arange(len(order))
            taken = pa.concat_batches(pieces).take(pa.array(back))
        self._give_back(taken)
        return {name: wrapped(taken.column(name), kind) for name, kind in self._kinds.items()}

    def bytes_of(self, places: Any) -> Any:
        """Bytes that ``take`` makes of each place: int64 of the shape of ``places``."""
        import numpy as np

        order, parts = self._by_batch(places)
        sizes: Any = np.empty(len(places), np.int64)
        sizes[order] = np.concatenate([self._sizes(number, rows) for number, rows in parts])
        return sizes

    def _by_batch(self, places: Any) -> tuple[Any, list[tuple[int, Any]]]:
        """The places' order by batch; of each batch the number (below 0: none) and the rows."""
        import numpy as np

        numbers = places.fill_null(-1).to_numpy()
        batches: Any = np.searchsorted(self._begins, numbers, side="right") - 1
        order: Any = np.argsort(batches, kind="stable")
        ends: Any = np.flatnonzero(np.diff(batches[order], append=len(self._begins))) + 1
        some = np.split(order, ends[:-1])
        return order, [(batches[each[0]], numbers[each] - self._begins[batches[each[0]]]) for each in some]

    def _rows(self, number: int, rows: Any) -> Any:
        """Rows of one batch."""
        import numpy as np
        import pyarrow as pa

        if number < 0:
            columns = [pa.nulls(len(rows), field.type) for field in self._schema]
            return pa.RecordBatch.from_arrays(columns, schema=self._schema)
        batch, first = self._batch(number), int(rows[0])
        if int(rows[-1]) - first == len(rows) - 1 and (np.diff(rows) == 1).all():
            return batch.slice(first, len(rows))  # Large rows are not copied.
        return batch.take(pa.array(rows))

    def _sizes(self, number: int, rows: Any) -> Any:
        return rows * 0 if number < 0 else bytes_of_rows(self._batch(number).columns, rows)

    def _batch(self, number: int) -> Any:
        import pyarrow as pa

        data = self._kept[number]
        if isinstance(data, tuple):
            begin, end = data
            data = pa.py_buffer(self._map())[begin:end]
        return pa.ipc.read_record_batch(data, self._schema)

    def _map(self) -> mmap.mmap:
        if self._mapped is None:
            assert self._path is not None
            self._file.close()
            with open(self._path, "rb") as file:
                self._mapped = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
            if self.row_bytes < _AROUND // 2:  # Else the disk reads much more than a row.
                self._mapped.madvise(mmap.MADV_RANDOM)
        return self._mapped

    def _give_back(self, taken: Any) -> None:
        self._read += taken.nbytes + taken.num_rows * _AROUND
        if self._mapped is not None and self._read > _READ_MAX:
            self._mapped.madvise(mmap.MADV_DONTNEED)
            self._read = 0


def put_together(
    batch: Any,
    asides: Sequence[Aside | None],
    seen_from: Mapping[str, tuple[int, str]],
    come_from: Mapping[str, tuple[int, str]],
) -> Iterator[Any]:
    """DuckDB's result with the columns that have waited, in pieces.

    Args:
        batch: By the columns' own names.
        asides: Of the inputs; None: all its columns have gone through DuckDB.
        seen_from: Which input, and which column of it, each column of the batch is.
        come_from: The same for the columns to make, in their order.
    """
    # A semi join has columns of one side.
    waiting = [each if each is not None and each.place in batch.schema.names else None for each in asides]
    rows = max(1, _PIECE_BYTES // max(1, sum(each.row_bytes for each in waiting if each is not None)))
    for begin in range(0, batch.num_rows, rows):
        for piece in _cut(batch.slice(begin, rows), waiting):
            # Nobody keeps it here.
            yield _piece(piece, waiting, seen_from, come_from)


def _cut(seen: Any, asides: Sequence[Aside | None]) -> Iterator[Any]:
    """Rows in parts of ``_PIECE_BYTES``, where they have more than twice as many."""
    import numpy as np

    ends: Any = np.cumsum(sum(each.bytes_of(seen.column(each.place)) for each in asides if each is not None))
    cuts: Any = np.flatnonzero(np.diff(ends // _PIECE_BYTES)) + 1 if ends[-1] > 2 * _PIECE_BYTES else []
    for begin, end in itertools.pairwise([0, *cuts, seen.num_rows]):
        yield seen.slice(begin, end - begin)


def _piece(
    seen: Any,
    asides: Sequence[Aside | None],
    seen_from: Mapping[str, tuple[int, str]],
    come_from: Mapping[str, tuple[int, str]],
) -> Any:
    import pyarrow as pa

    names = {origin: name for name, origin in seen_from.items()}
    taken = [{} if each is None else each.take(seen.column(each.place)) for each in asides]
    columns = {
        name: taken[side][own] if own in taken[side] else seen.column(names[side, own])
        for name, (side, own) in come_from.items()
    }
    return pa.RecordBatch.from_pydict(columns)


def _can_wait(kind: Any) -> bool:
    """Whether rows of a type can be stored and picked."""
    import pyarrow as pa

    with contextlib.suppress(pa.ArrowException):
        kind = storage_type(kind)
        batch = pa.RecordBatch.from_arrays([pa.nulls(1, kind)], names=["column"])
        pa.ipc.read_record_batch(batch.serialize(), batch.schema).take(pa.array([0, None]))
        return True
    return False

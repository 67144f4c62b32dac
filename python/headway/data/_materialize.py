"""Rows that are kept: in scratch files, from which other data sets read."""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from headway.data import _scratch, _types
from headway.data._plan import Plan

if TYPE_CHECKING:
    import pyarrow as pa

    from headway.data._batch import Batch
    from headway.data._schema import Schema

#: Rows of a record batch in a scratch file, each of which the engine reads at once.
_ROWS_MAX = 65536
#: From so many bytes on a line says how large a scratch file is, and again whenever it has doubled.
_SAID_FROM = 64 << 20


def of_file(file: _scratch.ScratchFile) -> Plan:
    """The plan that reads a scratch file."""
    return of_files([file])


def of_files(files: Sequence[_scratch.ScratchFile]) -> Plan:
    """The plan that reads scratch files, one after another."""
    arguments: dict[str, Any] = {
        "format": "arrow",
        "paths": [file.path for file in files],
        "options": {},
        "shuffle_files": None,
    }
    return Plan.source("read", arguments, held=files)


def written(
    tables: Iterable[pa.Table], schema: Callable[[], Schema] | None = None, what: str = ""
) -> _scratch.ScratchFile:
    """A scratch file of tables. Only one of them is in memory at a time.

    Args:
        tables: Of one schema, which the first one has, except that a column that holds nothing but
            None takes the type that it has in a later table.
        schema: Gives it when there is no table: finding it out may run functions.
        what: The user's call that keeps the rows, for the line that says how many bytes they have;
            empty: none is printed.
    """
    with _scratch.written(".arrow") as new:
        pieces = map(_types.stored, tables)
        first = next(pieces, None)
        if first is not None:
            kind = first.schema
        elif schema is not None:
            kind = schema().base_schema
        else:
            raise ValueError("there are no rows, so their columns are unknown")
        with _Written(new, kind, what) as file:
            for table in () if first is None else itertools.chain([first], pieces):
                file.add(table)
    return new.file


class _Written:
    """A scratch file while it is written."""

    def __init__(self, new: _scratch.NewFile, kind: pa.Schema, what: str):
        self._path = new.path
        self._digest = new.digest
        self._what = what
        self._next_said = _SAID_FROM
        self._begin(kind)

    def __enter__(self) -> _Written:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self._end()
            return
        # Nobody reads the file, and on a full disk its end cannot be written either.
        with contextlib.suppress(OSError):
            self._sink.close()

    def add(self, table: pa.Table) -> None:
        """The next rows."""
        if sorted(table.schema.names) != sorted(self._kind.names):
            first, names = ", ".join(self._kind.names), ", ".join(table.schema.names)
            raise ValueError(f"a table has the columns {names}, and the first one {first}; allowed: the same columns")
        kind = _types.known(self._kind, table.schema)
        if not kind.equals(self._kind):
            self._begin_again(kind)
        # A column may be there twice, and can then not be selected by its name.
        self._write(table if table.schema.names == kind.names else table.select(kind.names))

    def _begin(self, kind: pa.Schema) -> None:
        import pyarrow as pa

        self._kind = kind
        self._sink = pa.OSFile(self._path, "wb")
        self._writer = pa.ipc.new_file(self._sink, kind)

    def _end(self) -> None:
        with self._told():
            try:
                self._writer.close()
            finally:
                self._sink.close()

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        """What cannot be written is said with where, and what to do."""
        place = os.path.dirname(self._path)
        try:
            yield
        except OSError as error:
            reason = os.strerror(error.errno) if error.errno else str(error)
            raise OSError(f"rows that are kept cannot be written to {place} (set TMPDIR): {reason}") from error

    def _begin_again(self, kind: pa.Schema) -> None:
        """The rows that are there get these types."""
        import pyarrow as pa

        self._end()
        self._digest.begin_again()
        with tempfile.TemporaryFile(dir=os.path.dirname(self._path)) as before:
            with open(self._path, "rb") as written:
                shutil.copyfileobj(written, before)
            before.seek(0)
            self._begin(kind)
            rows = pa.ipc.open_file(before)
            for number in range(rows.num_record_batches):
                self._write(pa.Table.from_batches([rows.get_batch(number)]))

    def _write(self, table: pa.Table) -> None:
        same = _types.cast(table, self._kind)
        with self._told():
            self._writer.write_table(same.combine_chunks(), max_chunksize=_ROWS_MAX)
            size = self._sink.tell()
        self._digest.grown(size)
        if self._what and size >= self._next_said:
            self._next_said = 2 * size
            place = os.path.dirname(self._path)
            print(
                f"{self._what}: {size / 2**20:.1f} MiB are in {place} by now; they go with the data set",
                file=sys.stderr,
            )


def mapped(plan: Plan, schema: Callable[[], pa.Schema]) -> pa.Table | None:
    """Kept rows where their files lie, without a copy; None: the plan does more than to read them,
    or gives them other types.
    """
    import pyarrow as pa

    source, *others = plan.nodes
    arguments = source["args"]
    if others or source["op"] != "read" or arguments["format"] != "arrow" or not all(map(_is_here, plan.held)):
        return None
    if arguments["options"] or arguments["shuffle_files"] is not None:
        return None
    tables = []
    for path in arguments["paths"]:
        with pa.memory_map(path) as file, pa.ipc.open_file(file) as kept:
            tables.append(kept.read_all())
    kind = schema()
    if not all(table.schema.equals(kind) for table in tables):
        return None
    # concat_tables() loses rows without columns.
    return pa.Table.from_batches([batch for table in tables for batch in table.to_batches()], kind)


def _is_here(held: Any) -> bool:
    return isinstance(held, _scratch.ScratchFile)


def number_of_pieces(plan: Plan) -> int:
    """Into how many pieces kept rows are cut.

    Raises:
        NotImplementedError: the plan does more than to read and to cut what is kept.
    """
    import pyarrow as pa

    source, *others = plan.nodes
    if source["op"] != "read" or source["args"]["format"] != "arrow" or len(others) > 1:
        others = [{"op": "unknown"}]
    if others and others[0]["op"] != "repartition":
        raise NotImplementedError("num_blocks() is for data sets that materialize() has kept; call materialize() first")
    pieces = rows = 0
    for path in source["args"]["paths"]:
        with pa.memory_map(path) as file, pa.ipc.open_file(file) as kept:
            pieces += kept.num_record_batches
            rows += sum(kept.get_batch(number).num_rows for number in range(kept.num_record_batches))
    if not others:
        return pieces
    blocks, size = others[0]["args"]["blocks"], others[0]["args"]["rows"]
    return int(min(blocks, rows)) if blocks is not None else -(-rows // int(size))


def materialized(batches: Iterable[Batch], schema: Callable[[], Schema]) -> Plan:
    """The plan that reads the rows of a stream, which are kept."""
    return of_file(written((batch.to_table() for batch in batches), schema, "materialize"))


def cut(batches: Iterable[Batch], schema: Callable[[], Schema], ends: Sequence[int | None]) -> list[Plan]:
    """Plans that read the rows up to each end, and of the rows after the last one.

    Args:
        batches: A stream.
        schema: Gives the schema of its rows.
        ends: Row numbers, from the least to the greatest.
    """
    tables = _Cutter(batches)
    files = []
    begin = 0
    for end in [*ends, None]:
        rows = None if end is None else max(0, end - begin)
        begin = begin if end is None else max(begin, end)
        files.append(written(tables.rows(rows), schema, "split"))
    return [of_file(file) for file in _of_same_types(files)]


def _of_same_types(files: list[_scratch.ScratchFile]) -> Iterator[_scratch.ScratchFile]:
    """Scratch files whose columns have one type each: that of all rows, also where a part shows
    less of it.
    """
    import pyarrow as pa

    kinds = [pa.ipc.open_file(file.path).schema for file in files]
    same = functools.reduce(_types.known, kinds)
    for file, kind in zip(files, kinds, strict=True):
        if kind.equals(same):
            yield file
            continue
        with pa.memory_map(file.path) as source:
            rows = pa.ipc.open_file(source)
            pieces = (pa.Table.from_batches([rows.get_batch(index)]) for index in range(rows.num_record_batches))
            yield written(itertools.chain([same.empty_table()], pieces))


class _Cutter:
    """Takes numbers of rows out of a stream."""

    def __init__(self, batches: Iterable[Batch]):
        self._batches = iter(batches)
        self._rest: Any = None

    def rows(self, count: int | None) -> Iterator[pa.Table]:
        """So many rows; None: all that are left."""
        while count is None or count > 0:
            if self._rest is None or self._rest.num_rows == 0:
                batch = next(self._batches, None)
                if batch is None:
                    return
                self._rest = batch.to_table()
            rows = self._rest.num_rows
            taken = rows if count is None else min(count, rows)
            # Without columns a slice has as many rows as are asked for.
            table, self._rest = self._rest.slice(0, taken), self._rest.slice(taken, rows - taken)
            if count is not None:
                count -= taken
            if table.num_rows:
                yield table

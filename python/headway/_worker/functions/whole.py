"""An operation that needs all rows, by DuckDB, in a process that ends with it."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from headway._worker.functions import (
    slots,
    whole_aside,
    whole_failures,
    whole_folder,
    whole_groups,
    whole_names,
    whole_queries,
)
from headway._worker.functions.failures import failure_of
from headway._worker.functions.frames import Frame, Link
from headway._worker.functions.outputs_link import Outputs
from headway._worker.functions.whole_columns import Carried, empty, width
from headway._worker.functions.whole_imports import imported_duckdb
from headway._worker.functions.whole_inputs import Input, chained

#: Bytes that DuckDB needs for each of its threads to sort more than memory holds: with 48 MiB it
#: fails, with 56 MiB it does not. It never gets less than those of one thread.
_MEMORY_OF_THREAD = 64 << 20

#: Bytes of columns that wait in memory at least, of each input.
_HELD_MIN = 4 << 20

#: From so many bytes on DuckDB keeps the pages of its blocks.
_KEPT_FROM = 512 << 20

#: Bytes of rows that wait until they are copied: DuckDB's default, and what two threads can use.
_STREAMED_MIN = 10 << 20
_STREAMED_MAX = 64 << 20


class Whole:
    """Pulls the inputs' batches from the data process, and gives it the result's.

    Args:
        link: To the data process.
        setup: The first message.
    """

    def __init__(self, link: Link, setup: Frame) -> None:
        self._link = link
        self._fields = setup.fields
        self._inputs = [Input() for _ in setup.fields["schema_bytes"]]
        self._schemas: list[Any] = []
        self._schema_blob = setup.blob
        self._outputs = Outputs(link)
        # DuckDB pulls inputs from its own threads.
        self._lock = threading.RLock()
        self._spilled = 0
        self._memory: int = setup.fields["memory_bytes"]
        #: Of an input, with DuckDB around it.
        self._misfit: Exception | None = None
        self._batches: list[Iterator[Any]] = [self._pulled(side) for side in range(len(self._inputs))]
        self._asides: list[whole_aside.Aside | None] = [None] * len(self._inputs)
        self._operation = ""
        self._options: dict[str, Any] = {}

    def run(self) -> None:
        """Does it, or says why not. Then the process is done."""
        folder = self._fields["folder"]
        try:
            with whole_folder.locked(folder):
                self._do()
        except (BrokenPipeError, ConnectionResetError):
            raise
        except Exception as error:
            if self._outputs.broken:
                raise
            failure = self._misfit or whole_failures.in_words(error, self._name, folder, self._memory)
            fields, pickled = failure_of(failure)
            with self._lock:
                self._outputs.give_up()
                if isinstance(failure, MemoryError) and not any(self._asides) and any(self._possible_asides()):
                    self._link.send("RowsAreLarge", {"bytes": self._row_bytes})
                else:
                    self._link.send("FunctionFailed", {**fields, "begin": 0, "end": 0, "while_making": False}, pickled)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    @property
    def _name(self) -> str:
        """The operation's, as users call it."""
        return "groupby" if self._operation == "group_map" else self._operation

    def _do(self) -> None:
        duckdb = imported_duckdb()
        import pyarrow as pa

        begin = 0
        for size in self._fields["schema_bytes"]:
            self._schemas.append(pa.ipc.read_schema(pa.py_buffer(self._schema_blob[begin : begin + size])))
            begin += size
        work = json.loads(self._fields["arguments"])
        operation, options = self._operation, self._options = work["operation"], work["options"]
        self._schemas = whole_queries.known_schemas(operation, options, self._schemas)
        if not any(self._schemas):
            self._finish_without_columns()
            return
        sql = whole_queries.query(operation, options, self._schemas)
        carried = []
        for side, schema in enumerate(self._schemas):
            used = whole_queries.used_columns(operation, options, side)
            computed = whole_queries.computed_columns(operation, options, self._schemas, side)
            carried.append(
                {name: Carried(name, schema.field(name).type, name in used, name in computed) for name in schema.names}
            )
        come_from = whole_queries.origins(operation, options, self._schemas)
        with contextlib.closing(self._connected(duckdb)) as connection:
            self._announce(connection, sql, carried, come_from)
            seen = self._seen_schemas(connection)
            for side, aside in enumerate(self._asides):
                if aside is not None:
                    carried[side][aside.place] = Carried(aside.place, pa.int64(), False, False)
                connection.register(f"input_{side}", self._reader(side, seen[side], carried[side]))
            sql = whole_queries.query(operation, options, seen)
            result = connection.sql(sql).to_arrow_reader(self._batch_rows())
            seen_from = whole_queries.origins(operation, options, seen)
            restored: Iterator[Any] = (_restored(each, carried, seen_from) for each in result)
            if any(self._asides):
                pieces = (whole_aside.put_together(each, self._asides, seen_from, come_from) for each in restored)
                restored = itertools.chain.from_iterable(pieces)
            made: Iterator[Any] = map(_table, restored)  # Which keeps none of them.
            add: Callable[[Any], bool] = self._outputs.add
            if operation in ("group_map", "repartition"):
                made = whole_groups.whole_groups(made, options["keys"], self._memory)
                add = self._outputs.add_whole
            for table in _ahead(made):
                with self._lock:
                    self._watch_spilling()
                    if not add(table):
                        return
                del table  # Its memory is for the next one.
            with self._lock:
                self._watch_spilling()
                self._outputs.finish(False)

    def _finish_without_columns(self) -> None:
        """Of rows of which nothing is known, as there are none."""
        import pyarrow as pa

        for batches in self._batches:
            next(batches, None)  # Which has columns, if there is one.
        self._link.send("WholeSchema", {}, pa.schema([]).serialize().to_pybytes())
        with self._lock:
            self._outputs.finish(False)

    def _connected(self, duckdb: Any) -> Any:
        connection = duckdb.connect(":memory:")
        memory = self._memory
        for name, value in {
            "memory_limit": f"{memory}B",
            "temp_directory": self._fields["folder"],
            "threads": self._threads(),
            "preserve_insertion_order": True,  # Else the result is out of order too.
            "enable_progress_bar": False,
            # Pages that are given back and taken again cost a tenth of the time of a sort. Where
            # memory is small, each page that is kept for nothing counts.
            "block_allocator_memory": f"{memory if memory >= _KEPT_FROM else 0}B",
            # What is made while the rows before are copied.
            "streaming_buffer_size": f"{max(_STREAMED_MIN, min(_STREAMED_MAX, memory // 12))}B",
        }.items():
            connection.execute(f"SET {name} = '{value}'")
        return connection

    def _announce(self, connection: Any, sql: str, carried: list[dict[str, Carried]], come_from: Any) -> None:
        """The result's schema: that of the same query without rows."""
        for side, schema in enumerate(self._schemas):
            connection.register(f"input_{side}", self._seen(schema, carried[side]))
        empty = connection.sql(sql).to_arrow_table().combine_chunks()
        for side in range(len(self._schemas)):
            connection.unregister(f"input_{side}")
        import pyarrow as pa

        arrays = [pa.array([], column.type) for column in empty.columns]
        batch = pa.RecordBatch.from_arrays(arrays, names=empty.schema.names)
        self._link.send("WholeSchema", {}, _restored(batch, carried, come_from).schema.serialize().to_pybytes())

    def _seen_schemas(self, connection: Any) -> list[Any]:
        """The inputs as DuckDB gets them. Of rows that are too large for it, without the columns
        that only come along.
        """
        if self._operation not in whole_aside.ORDERED:
            return self._schemas
        first = [next(batches, None) for batches in self._batches]
        threads = whole_aside.threads_for(self._row_bytes, self._memory)
        if threads == 0 or self._fields["rows_are_large"]:
            self._asides = self._possible_asides()
        if any(self._asides):
            connection.execute(f"SET memory_limit = '{self._memory - self._held}B'")
            seen = [
                batch if aside is None else aside.seen_of(batch)
                for batch, aside in zip(first, self._asides, strict=True)
            ]
            row_bytes = sum(batch.nbytes // batch.num_rows for batch in seen if batch is not None)
            threads = whole_aside.threads_for(row_bytes, self._memory)
        connection.execute(f"SET threads = {max(1, min(threads, self._threads()))}")
        for side, batches in enumerate(self._batches):
            self._batches[side] = chained([] if first[side] is None else [first[side]], batches)
        return [aside.seen if aside else schema for schema, aside in zip(self._schemas, self._asides, strict=True)]

    @property
    def _held(self) -> int:
        """Bytes of columns that wait in memory, of all inputs."""
        return min(self._memory // 4, self._memory - _MEMORY_OF_THREAD)

    def _possible_asides(self) -> list[whole_aside.Aside | None]:
        """What keeps the columns of each input that can wait."""
        if self._operation not in whole_aside.ORDERED:
            return [None] * len(self._schemas)
        held = max(_HELD_MIN, self._held // len(self._schemas))
        return [
            whole_aside.aside_for(self._operation, self._options, side, self._schemas, self._fields["folder"], held)
            for side in range(len(self._schemas))
        ]

    def _threads(self) -> int:
        return int(min(self._fields["threads"], self._memory // _MEMORY_OF_THREAD))

    def _batch_rows(self) -> int:
        """So few that several batches under way take little memory."""
        widths = [width(field.type) for schema in self._schemas for field in schema]
        return int(max(1, min(self._fields["batch_rows"] or 65_536, (4 << 20) // max(1, sum(widths)))))

    def _reader(self, side: int, schema: Any, carried: dict[str, Carried]) -> Any:
        import pyarrow as pa

        return pa.RecordBatchReader.from_batches(self._seen(schema, carried).schema, self._numbered(side, carried))

    def _pulled(self, side: int) -> Iterator[Any]:
        """An input's batches, each in the same memory as long as nobody keeps the one before."""
        while (frame := self._frame(side)) is not None:
            yield self._batch_of(side, frame)

    def _frame(self, side: int) -> Frame | None:
        """An input's next piece; None at its end."""
        with self._lock:
            self._watch_spilling()
            self._outputs.settle()
            self._link.send("Pull", {"input": side, "free": self._inputs[side].let_go()})
            frame = self._link.receive()
        if frame is None:
            raise BrokenPipeError
        if frame.kind == "PieceEnd":
            self._inputs[side].drop_pages()
            return None
        return frame

    def _batch_of(self, side: int, frame: Frame) -> Any:
        import pyarrow as pa

        memory = self._inputs[side].memory_of(frame)
        batch = pa.ipc.open_stream(pa.py_buffer(memory)).read_next_batch()
        if batch.num_columns == 0:  # Its schema is taken for that of functions that made no rows.
            self._misfit = ValueError(
                f"{self._name}: the rows have no columns; add one first, such as with_column('one', lit(1))"
            )
            raise self._misfit
        self._inputs[side].count(batch)
        return batch

    def _numbered(self, side: int, carried: dict[str, Carried]) -> Iterator[Any]:
        """An input's batches as DuckDB takes them, with the rows' numbers."""
        import pyarrow as pa

        row, aside = 0, self._asides[side]
        for batch in self._batches[side]:
            self._check_sizes()
            if aside is not None:
                batch = aside.put(batch)
            columns = self._encoded(batch, carried)
            numbers = self._row_columns(row, batch.num_rows)
            columns.extend(numbers.values())
            row += batch.num_rows
            names = [*map(whole_names.seen_name, batch.schema.names), *numbers]
            del batch
            yield pa.RecordBatch.from_arrays(columns, names=names)
            del columns

    def _check_sizes(self) -> None:
        """Rows that come later may be larger than the first ones, and too large for DuckDB."""
        if any(self._asides) or sum(each.bytes for each in self._inputs) <= self._memory:
            return
        if whole_aside.threads_for(self._row_bytes, self._memory) == 0 and any(self._possible_asides()):
            self._misfit = MemoryError(f"{self._name}: rows of {self._row_bytes} bytes are too large for DuckDB")
            raise self._misfit

    @property
    def _row_bytes(self) -> int:
        """Of an average row of each input."""
        return sum(each.row_bytes for each in self._inputs)

    def _seen(self, schema: Any, carried: dict[str, Carried]) -> Any:
        """An input as DuckDB sees it, without rows."""
        import pyarrow as pa

        columns = {
            whole_names.seen_name(field.name): carried[field.name].encoded(empty(field.type)) for field in schema
        }
        return pa.table({**columns, **self._row_columns(0, 0)})

    def _row_columns(self, first: int, rows: int) -> dict[str, Any]:
        """What is added to an input's columns."""
        import pyarrow as pa

        columns = whole_queries.row_columns(self._operation, self._options, first, rows)
        return {name: pa.array(numbers) for name, numbers in columns.items()}

    def _encoded(self, batch: Any, carried: dict[str, Carried]) -> list[Any]:
        """A batch's columns as DuckDB takes them, which words a failure here anew."""
        try:
            return [
                carried[name].encoded(column) for name, column in zip(batch.schema.names, batch.columns, strict=True)
            ]
        except Exception as error:
            self._misfit = error
            raise

    def _watch_spilling(self) -> None:
        size = 0
        with contextlib.suppress(OSError), os.scandir(self._fields["folder"]) as files:
            size = sum(each.stat().st_size for each in files)
        if size > self._spilled:
            self._link.send("Spilled", {"bytes": size})
            self._spilled = size


def _table(batch: Any) -> Any:
    import pyarrow as pa

    return pa.Table.from_batches([batch])


def _ahead(tables: Iterator[Any]) -> Iterator[Any]:
    """The same, each made in a thread while the one before is copied, unless that is large."""
    with ThreadPoolExecutor(1, "headway-whole") as maker:
        due = maker.submit(next, tables, None)
        while (table := due.result()) is not None:
            is_large = table.nbytes >= slots.LARGE
            if not is_large:
                due = maker.submit(next, tables, None)
            yield table
            if is_large:
                del table, due  # Its memory is needed for the next one.
                due = maker.submit(next, tables, None)


def _restored(batch: Any, carried: list[dict[str, Carried]], come_from: dict[str, tuple[int, str]]) -> Any:
    import pyarrow as pa

    columns = []
    names = list(map(whole_names.own_names, batch.schema.names))
    for name, column in zip(names, batch.columns, strict=True):
        if name in come_from:
            side, own = come_from[name]
            column = carried[side][own].restored(column)
        columns.append(column)
    return pa.RecordBatch.from_arrays(columns, names=names)

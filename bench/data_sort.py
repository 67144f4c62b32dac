"""Seconds to sort four times as many bytes as the memory budget.

data_sort.py headway|alone

Alone, DuckDB reads, sorts and gives the same rows, with the budget as its limit and as many
threads.
"""

from __future__ import annotations

import os
import sys
import time

import program
from data_tables import write_tables

BUDGET = 1 << 30
TIMES = 4
PAYLOAD = 14  # Columns of int64 beside the key and the row's number.
FILES = 16
FORMAT = {"compression": "none", "use_dictionary": False, "row_group_size": 32_768}


def budget():
    """No less than 256 MiB: with less, DuckDB has one thread, and then runs out of memory. With a
    ``--size`` below a quarter the rows are therefore less than four times as many bytes.
    """
    return max(256 << 20, round(BUDGET * program.size()))


def write_rows():
    import numpy
    import pyarrow as pa

    rows = max(1000, round(TIMES * BUDGET * program.size() / (8 * (PAYLOAD + 2)) / FILES))

    def table(number):
        random = numpy.random.default_rng(number)
        columns = {"key": random.integers(0, 1 << 62, rows), "row": numpy.arange(rows) + number * rows}
        for index in range(PAYLOAD):
            columns[f"p{index}"] = random.integers(0, 1 << 62, rows)
        return pa.table(columns)

    return write_tables(f"sort-{rows}", FILES, table, **FORMAT), rows * FILES


def consume(batches):
    """``batches`` are Arrow's; returns the rows. They have to be in order."""
    rows, last = 0, -1
    for batch in batches:
        keys = batch.column("key").to_numpy()
        assert last <= keys[0]
        assert (keys[1:] >= keys[:-1]).all()
        rows, last = rows + len(keys), keys[-1]
    return rows


def sort_alone(folder):
    import duckdb

    connection = duckdb.connect(":memory:")
    for name, value in {
        "memory_limit": f"{budget()}B",
        "temp_directory": str(program.folder() / "spilled"),
        "threads": os.cpu_count() or 1,
    }.items():
        connection.execute(f"SET {name} = '{value}'")
    # The row's number makes the order one of all rows, as it is with Headway.
    query = f"SELECT * FROM read_parquet('{folder}/*.parquet') ORDER BY key, row"
    return consume(connection.sql(query).to_arrow_reader(65_536))


def sort_by_headway(folder):
    import headway.data

    limits = headway.data.ExecutionResources.for_limits(object_store_memory=budget())
    headway.data.DataContext.get_current().execution_options.resource_limits = limits
    batches = headway.data.read_parquet(str(folder)).sort("key").iter_batches(batch_size=65_536, batch_format="pyarrow")
    return consume(batches)


def main(library):
    folder, rows = write_rows()
    os.sync()  # What the turn before has written, too, is not this one's to write back.
    started = time.perf_counter()
    got = sort_alone(folder) if library == "alone" else sort_by_headway(folder)
    seconds = time.perf_counter() - started
    assert got == rows, f"{got} of {rows} rows arrived"
    program.finish(sort_s=seconds)


if __name__ == "__main__":
    main(sys.argv[1])

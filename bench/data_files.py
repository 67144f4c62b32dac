"""Seconds until the first batch of a script: from one file, or from a folder of many small files.

data_files.py headway|ray|alone few|many

Alone, Arrow lists the folder and reads the first batch.
"""

from __future__ import annotations

import sys
import time

import program
from data_tables import use_all_cores, write_tables

FILES = {"few": 4, "many": 10_000}
ROWS = {"few": 250_000, "many": 100}  # Of a file; of many it has 4 KB.
BATCH = {kind: min(256, rows) for kind, rows in ROWS.items()}


def write_files(kind):
    import numpy
    import pyarrow as pa

    files = max(4, round(FILES[kind] * program.size()))

    def table(number):
        random = numpy.random.default_rng(number)
        return pa.table({f"c{index}": random.random(ROWS[kind], dtype="float32") for index in range(8)})

    return write_tables(f"files-{kind}-{files}", files, table)


def first_batch_alone(folder, size):
    import pyarrow.dataset

    return next(pyarrow.dataset.dataset(folder).to_batches(batch_size=size)).num_rows


def first_batch(data, folder, size):
    table = data.read_parquet(str(folder))
    return len(next(iter(table.iter_batches(batch_size=size)))["c0"])


def module_of(library):
    """What is imported before the time counts."""
    if library != "alone":
        return program.data_module(library)
    import pyarrow.dataset  # noqa: F401

    return use_all_cores()


def main(library, kind):
    folder = write_files(kind)
    # Imports are not counted, nor is Ray's start.
    data = module_of(library)
    started = time.perf_counter()
    size = BATCH[kind]
    rows = first_batch_alone(folder, size) if data is None else first_batch(data, folder, size)
    seconds = time.perf_counter() - started
    assert rows == size, f"the first batch has {rows} rows"
    program.finish(first_batch_s=seconds)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])

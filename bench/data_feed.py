"""Rows a second from files into two ranks, and seconds until the first batch; nothing is trained.

data_feed.py headway|ray|alone scan|function|images

scan reads Parquet, function has a Python function on the way, images decodes and resizes JPEG
files. Alone, Parquet files are scanned by Arrow in one process that does nothing with them.
"""

from __future__ import annotations

import os
import sys
import time

import program

BYTES = 256_000_000  # In memory.
COLUMNS = 32  # Of float32.
FILES = 16
IMAGES = 600
SIDE = 224
BATCH = {"scan": 4096, "function": 4096, "images": 32}
EPOCHS = 2  # The second is the one whose rate counts.


def write_table():
    import numpy
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = max(BATCH["scan"], round(BYTES * program.size() / (4 * COLUMNS) / FILES))
    folder = program.data_folder() / f"feed-{rows}"
    if not folder.exists():
        begun = folder.with_suffix(".begun")
        begun.mkdir(parents=True, exist_ok=True)
        random = numpy.random.default_rng(0)
        for number in range(FILES):
            columns = {f"c{index}": random.random(rows, dtype="float32") for index in range(COLUMNS)}
            pq.write_table(pa.table(columns), begun / f"{number:03}.parquet", compression="zstd")
        begun.rename(folder)
    return folder, rows * FILES


def double(batch):
    return {name: values * 2 for name, values in batch.items()}


def open_data(library, kind):
    """The data set, and its rows."""
    data = program.data_module(library)
    if kind == "images":
        from reference_images import write_images

        count = max(2 * BATCH[kind], round(IMAGES * program.size()))
        return data.read_images(str(write_images(count)), size=(SIDE, SIDE), mode="RGB"), count
    folder, rows = write_table()
    table = data.read_parquet(str(folder))
    return (table.map_batches(double, batch_format="numpy") if kind == "function" else table), rows


def loop(config):
    train = program.train_module(config["library"])
    shard = train.get_dataset_shard("train")
    epochs = []
    for _ in range(EPOCHS):
        started = time.perf_counter()
        first_s, rows = None, 0
        for batch in shard.iter_batches(batch_size=config["batch"], batch_format="numpy"):
            first_s = first_s or time.perf_counter() - started
            rows += len(next(iter(batch.values())))
        epochs.append([rows, time.perf_counter() - started, first_s])
    program.note(config, f"rank_{train.get_context().get_world_rank()}", epochs)


def scan_alone():
    import pyarrow.dataset

    # As Headway's and Ray's engines; OMP_NUM_THREADS says 1.
    pyarrow.set_cpu_count(os.cpu_count() or 1)
    folder, rows = write_table()
    for _ in range(EPOCHS):
        started = time.perf_counter()
        counted = sum(batch.num_rows for batch in pyarrow.dataset.dataset(folder).to_batches())
        seconds = time.perf_counter() - started
    assert counted == rows, f"{counted} of {rows} rows were scanned"
    program.finish(rows_per_s=rows / seconds)


def main(library, kind):
    if library == "alone":
        scan_alone()
        return
    data, rows = open_data(library, kind)
    program.fit(library, "plain", loop, {"batch": BATCH[kind]}, program.folder(), datasets={"train": data})
    first, last = ([rank[epoch] for rank in program.noted(program.folder(), "rank_*")] for epoch in (0, EPOCHS - 1))
    got = sum(rank[0] for rank in last)
    assert 0 <= rows - got < program.WORKERS, f"{got} of {rows} rows arrived"
    program.finish(rows_per_s=got / max(rank[1] for rank in last), first_batch_s=max(rank[2] for rank in first))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])

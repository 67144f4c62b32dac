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
from data_tables import use_all_cores, write_tables

BYTES = 1_024_000_000  # In memory.
COLUMNS = 32  # Of float32.
FILES = 64
RAY_FILES = 16  # Its rate is that of all files, and an epoch of all would take minutes.
IMAGES = 600
SIDE = 224
BATCH = {"scan": 4096, "function": 4096, "images": 32}
EPOCHS = 3  # The last is the one whose rate counts.


def write_table():
    import numpy
    import pyarrow as pa

    rows = max(BATCH["scan"], round(BYTES * program.size() / (4 * COLUMNS) / FILES))

    def table(number):
        random = numpy.random.default_rng(number)
        return pa.table({f"c{index}": random.random(rows, dtype="float32") for index in range(COLUMNS)})

    return write_tables(f"feed-{rows}", FILES, table, compression="zstd"), rows * FILES


def images():
    return max(2 * BATCH["images"], round(IMAGES * program.size()))


def double(batch):
    return {name: values * 2 for name, values in batch.items()}


def open_data(library, kind):
    """The data set, and its rows."""
    data = program.data_module(library)
    if kind == "images":
        from reference_images import write_images

        return data.read_images(str(write_images(images())), size=(SIDE, SIDE), mode="RGB"), images()
    folder, rows = write_table()
    files = sorted(folder.iterdir())
    read = files[:RAY_FILES] if library == "ray" else files
    rows = rows * len(read) // len(files)
    table = data.read_parquet([str(file) for file in read])
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

    use_all_cores()
    folder, rows = write_table()
    for _ in range(EPOCHS):
        started = time.perf_counter()
        counted = sum(batch.num_rows for batch in pyarrow.dataset.dataset(folder).to_batches())
        seconds = time.perf_counter() - started
    assert counted == rows, f"{counted} of {rows} rows were scanned"
    program.finish(rows_per_s=rows / seconds)


class Decoded:
    """Images by Pillow, as a data set of torch."""

    def __init__(self, folder):
        self.files = sorted(folder.iterdir())

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        import numpy
        from PIL import Image

        with Image.open(self.files[index]) as image:
            return numpy.asarray(image.convert("RGB").resize((SIDE, SIDE)))


def decode_alone():
    import torch
    from reference_images import write_images

    count = images()
    loader = torch.utils.data.DataLoader(
        Decoded(write_images(count)), BATCH["images"], num_workers=os.cpu_count() or 1, persistent_workers=True
    )
    for _ in range(EPOCHS):
        started = time.perf_counter()
        counted = sum(len(batch) for batch in loader)
        seconds = time.perf_counter() - started
    assert counted == count, f"{counted} of {count} images were decoded"
    program.finish(rows_per_s=counted / seconds)


def main(library, kind):
    if library == "alone":
        decode_alone() if kind == "images" else scan_alone()
        return
    data, rows = open_data(library, kind)
    program.fit(library, "plain", loop, {"batch": BATCH[kind]}, program.folder(), datasets={"train": data})
    first, last = ([rank[epoch] for rank in program.noted(program.folder(), "rank_*")] for epoch in (0, EPOCHS - 1))
    got = sum(rank[0] for rank in last)
    assert 0 <= rows - got < program.WORKERS, f"{got} of {rows} rows arrived"
    program.finish(rows_per_s=got / max(rank[1] for rank in last), first_batch_s=max(rank[2] for rank in first))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])

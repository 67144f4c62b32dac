"""Rows a second of rows of 4 KB into two ranks, in order and shuffled in windows; nothing is
trained. The ratio is what a shuffle leaves of the rate.

data_shuffle.py headway|ray
"""

from __future__ import annotations

import sys
import time

import program
from data_tables import write_tables

ROW_BYTES = 4096
ROWS = 65_536
FILES = 16
BATCH = 256
WINDOW = 4096  # Rows: 16 MiB.
EPOCHS = [None, None, WINDOW, WINDOW]  # The first of each kind is a warm-up.


def write_rows():
    import numpy
    import pyarrow as pa

    rows = max(2 * BATCH, round(ROWS * program.size()) // FILES)

    def table(number):
        values = numpy.random.default_rng(number).bytes(rows * ROW_BYTES)
        column = pa.FixedSizeBinaryArray.from_buffers(pa.binary(ROW_BYTES), rows, [None, pa.py_buffer(values)])
        return pa.table({"row": column})

    # Random bytes have no smaller form.
    return write_tables(f"wide-{rows}", FILES, table, compression="none", use_dictionary=False), rows * FILES


def loop(config):
    train = program.train_module(config["library"])
    shard = train.get_dataset_shard("train")
    rates = []
    for window in EPOCHS:
        shuffle = {"local_shuffle_buffer_size": window, "local_shuffle_seed": 0} if window else {}
        rows = 0
        started = time.perf_counter()
        for batch in shard.iter_batches(batch_size=BATCH, batch_format="pyarrow", **shuffle):
            rows += batch.num_rows
        rates.append([rows, time.perf_counter() - started])
    program.note(config, f"rank_{train.get_context().get_world_rank()}", rates)


def main(library):
    data = program.data_module(library)
    folder, rows = write_rows()
    program.fit(library, "plain", loop, {}, program.folder(), datasets={"train": data.read_parquet(str(folder))})
    ranks = program.noted(program.folder(), "rank_*")
    rates = []
    for epoch in range(len(EPOCHS)):
        got = sum(rank[epoch][0] for rank in ranks)
        assert 0 <= rows - got < program.WORKERS, f"{got} of {rows} rows arrived"
        rates.append(got / max(rank[epoch][1] for rank in ranks))
    program.finish(rows_per_s=rates[1], shuffled_rows_per_s=rates[3], ratio=rates[3] / rates[1])


if __name__ == "__main__":
    main(sys.argv[1])

"""Seconds until the first batch of a restart that resumes in the middle of an epoch, which is
shuffled in windows.

data_resume.py headway|ray

Headway's checkpoint has the position. With Ray the script counts its batches, and passes over as
many.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import program
from data_tables import write_tables

BYTES = 256_000_000  # In memory.
COLUMNS = 32  # Of float32.
FILES = 16
BATCH = 1024
WINDOW = 65_536  # Rows: 8 MB.


def write_table():
    import numpy
    import pyarrow as pa

    rows = max(4 * BATCH, round(BYTES * program.size() / (4 * COLUMNS)) // FILES)

    def table(number):
        random = numpy.random.default_rng(number)
        return pa.table({f"c{index}": random.random(rows, dtype="float32") for index in range(COLUMNS)})

    return write_tables(f"resume-{rows}", FILES, table, compression="zstd"), rows * FILES


def batches_of(shard):
    return shard.iter_batches(
        batch_size=BATCH, batch_format="numpy", local_shuffle_buffer_size=WINDOW, local_shuffle_seed=0
    )


def save(train, batches):
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "batches").write_text(str(batches))
        train.report({}, checkpoint=train.Checkpoint.from_directory(folder))


def loop(config):
    train = program.train_module(config["library"])
    shard = train.get_dataset_shard("train")
    rank, middle = train.get_context().get_world_rank(), config["middle"]
    started = time.perf_counter()
    if (checkpoint := train.get_checkpoint()) is None:
        for batches, _ in enumerate(batches_of(shard), 1):
            if batches == middle:
                program.note(config, f"middle_{rank}", time.perf_counter() - started)
                save(train, batches)
        program.note(config, f"whole_{rank}", time.perf_counter() - started)
        raise RuntimeError("the first attempt ends")
    with checkpoint.as_directory() as folder:
        passed = int(Path(folder, "batches").read_text()) if config["library"] == "ray" else 0
    first_s, batches = None, 0
    for batches, _ in enumerate(batches_of(shard), 1):
        if batches > passed and first_s is None:
            first_s = time.perf_counter() - started
    program.note(config, f"resumed_{rank}", [first_s, batches - passed])


def main(library):
    data = program.data_module(library)
    folder, rows = write_table()
    middle = rows // program.WORKERS // BATCH // 2
    table = data.read_parquet(str(folder))
    once_more = program.train_module(library).FailureConfig(max_failures=1)
    program.fit(
        library,
        "plain",
        loop,
        {"middle": middle},
        program.folder(),
        datasets={"train": table},
        failure_config=once_more,
    )
    ranks = program.noted(program.folder(), "resumed_*")
    steps = -(-(rows // program.WORKERS) // BATCH)
    assert all(got == steps - middle for _, got in ranks), f"{ranks} instead of {steps - middle} batches were left"
    window_s = max(program.noted(program.folder(), "whole_*")) * WINDOW / rows
    resumed_s = max(first_s for first_s, _ in ranks)
    program.finish(
        resumed_s=resumed_s,
        window_s=window_s,
        beyond_window_s=max(0.0, resumed_s - window_s),
        middle_s=max(program.noted(program.folder(), "middle_*")),
    )


if __name__ == "__main__":
    main(sys.argv[1])

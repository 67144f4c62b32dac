"""What a call of report() takes in rank 0, the median.

report.py headway|ray COUNT plain|checkpoint

A checkpoint is one file of 1 KB from rank 0; the time includes the making of its temporary folder.
The disk's own median for an fsync of 1 KB is measured beside it.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time

import program


def loop(config):
    import program

    train = program.train_module(config["library"])
    rank = train.get_context().get_world_rank()
    times = []
    for i in range(config["count"]):
        started = time.perf_counter()
        if config["checkpoint"] and rank == 0:
            report_with_checkpoint(train, i)
        else:
            train.report({"i": i})
        times.append(time.perf_counter() - started)
    if rank == 0:
        program.note(config, "median", statistics.median(times))


def report_with_checkpoint(train, i):
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "model.bin"), "wb") as file:
            file.write(b"x" * 1024)
        train.report({"i": i}, checkpoint=train.Checkpoint.from_directory(folder))


def fsync_median_s(folder, count=200):
    times = []
    for i in range(count):
        with open(folder / f"small_{i}", "wb") as file:
            file.write(b"x" * 1024)
            started = time.perf_counter()
            os.fsync(file.fileno())
            times.append(time.perf_counter() - started)
    return statistics.median(times)


def main(library, count, checkpoint):
    train = program.train_module(library)
    config = {"count": count, "checkpoint": checkpoint}
    kept = train.CheckpointConfig(num_to_keep=2)
    program.fit(library, "plain", loop, config, program.folder(), checkpoint_config=kept)
    fsync_s = fsync_median_s(program.folder())
    program.finish(report_s=program.noted(program.folder(), "median")[0], fsync_s=fsync_s)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3] == "checkpoint")

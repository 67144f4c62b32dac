"""Seconds to read a table of 1 GB and to train ten rounds of XGBoost on it.

reference_xgboost.py headway|ray|alone WORKERS

Alone, each rank reads its share of the files with pyarrow. The parameters are XGBoost's defaults,
with one thread for each rank.
"""

from __future__ import annotations

import importlib
import os
import sys
import time

import program
from launchers import join

BYTES = 1_000_000_000
COLUMNS = 48  # Of float64: 384 bytes a row.
FILES = 8
ROUNDS = 10
PARAMETERS = {"objective": "binary:logistic", "nthread": 1}


def write_table():
    """Returns the folder and the number of rows in it."""
    import numpy
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = max(100, round(BYTES * program.size() / (8 * COLUMNS) / FILES))
    folder = program.data_folder() / f"table-{rows}"
    if not folder.exists():
        begun = folder.with_suffix(".begun")
        begun.mkdir(parents=True, exist_ok=True)
        random = numpy.random.default_rng(0)
        for number in range(FILES):
            columns = {f"c{index}": random.random(rows) for index in range(COLUMNS)}
            columns["label"] = (columns["c0"] * columns["c1"] + 0.3 * columns["c2"] > 0.4).astype("int64")
            pq.write_table(pa.table(columns), begun / f"{number}.parquet", compression="none", use_dictionary=False)
        begun.rename(folder)
    return folder, rows * FILES


def train(frame):
    """Within XGBoost's communicator."""
    import xgboost

    labels = frame.pop("label")
    data = xgboost.DMatrix(frame, labels, nthread=1)
    started = time.perf_counter()
    xgboost.train(PARAMETERS, data, ROUNDS)
    return time.perf_counter() - started


def loop(config):
    importlib.import_module("xgboost")
    context = program.train_module(config["library"]).get_context()
    started = time.perf_counter()
    shard = program.train_module(config["library"]).get_dataset_shard("train")
    frame = shard.materialize().to_pandas()
    rows = len(frame)
    training_s = train(frame)
    program.note(config, f"rank_{context.get_world_rank()}", [time.perf_counter() - started, training_s, rows])


def start_alone(config, workers):
    if workers == 1:
        train_alone(config, 0, None)
        return
    from xgboost.tracker import RabitTracker

    tracker = RabitTracker(host_ip="127.0.0.1", n_workers=workers, sortby="task")
    tracker.start()
    join([(config, rank, tracker.worker_args()) for rank in range(workers)], train_alone)


def train_alone(config, rank, arguments):
    import contextlib

    import pyarrow
    import pyarrow.parquet as pq
    import xgboost

    # To read, all CPUs, as the others; OMP_NUM_THREADS says 1.
    pyarrow.set_cpu_count(max((os.cpu_count() or 1) // config["workers"], 1))

    context = xgboost.collective.CommunicatorContext
    ranks = contextlib.nullcontext() if arguments is None else context(**arguments, dmlc_task_id=f"{rank:08d}")
    files = sorted(os.listdir(config["table"]))[rank :: config["workers"]]
    with ranks:
        started = time.perf_counter()
        frame = pq.read_table([os.path.join(config["table"], file) for file in files]).to_pandas()
        rows = len(frame)
        training_s = train(frame)
        program.note(config, f"rank_{rank}", [time.perf_counter() - started, training_s, rows])


def main(library, workers):
    folder, rows = write_table()
    config = {"table": str(folder), "workers": workers, "folder": str(program.folder())}
    if library == "alone":
        start_alone(config, workers)
    else:
        table = program.data_module(library).read_parquet(str(folder))
        program.fit(library, "xgboost", loop, config, program.folder(), workers=workers, datasets={"train": table})
    noted = program.noted(program.folder(), "rank_*")
    lost = rows - sum(rank[2] for rank in noted)
    assert len(noted) == workers, f"{len(noted)} of {workers} ranks have trained"
    assert 0 <= lost < workers, f"{lost} of {rows} rows are missing"
    program.finish(total_s=max(rank[0] for rank in noted), training_s=max(rank[1] for rank in noted))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))

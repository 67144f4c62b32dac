"""A report() with a large checkpoint of each rank, against what as many bytes cost without it.

persist.py headway|ray MEGABYTES_PER_RANK copy|move

``copy`` compares with a plain copy with fsync. ``move`` hands the directory over
(``delete_local_checkpoint_after_upload``), so nothing is copied: what is left is an fsync, and one
read of the files for their checksums, which may overlap. It compares with the longer of the two.
The files have just been written when report() is called, and before each plain action as well, so
all find them in memory.
"""

from __future__ import annotations

import os
import shutil
import statistics
import sys
import tempfile
import time

import program

ROUNDS = 5


def loop(config):
    import program

    train = program.train_module(config["library"])
    rank = train.get_context().get_world_rank()
    settings = {"delete_local_checkpoint_after_upload": True} if config["move"] else {}
    times = []
    for i in range(ROUNDS):
        folder = tempfile.mkdtemp(dir=config["folder"])
        program.write_file(os.path.join(folder, f"model_{rank}.bin"), config["megabytes"])
        started = time.perf_counter()
        train.report({"i": i}, checkpoint=train.Checkpoint.from_directory(folder), **settings)
        times.append(time.perf_counter() - started)
        shutil.rmtree(folder, ignore_errors=True)
    program.note(config, f"times_{rank}", times)


def sync(path):
    with open(path, "rb") as file:
        os.fsync(file.fileno())


def read(path):
    block = bytearray(1 << 20)
    with open(path, "rb", buffering=0) as file:
        while file.readinto(block):
            pass


def plain_times_s(folder, megabytes):
    """Medians of a plain copy with fsync, of an fsync alone, and of a read alone, of a file that
    has just been written. They take turns.
    """
    source, target = folder / "source", folder / "target"
    actions = {
        "copy_s": lambda: sync(shutil.copyfile(source, target)),
        "sync_s": lambda: sync(source),
        "read_s": lambda: read(source),
    }
    times = {name: [] for name in actions}
    for name in list(actions) * ROUNDS:
        program.write_file(source, megabytes)
        started = time.perf_counter()
        actions[name]()
        times[name].append(time.perf_counter() - started)
        source.unlink()
        target.unlink(missing_ok=True)
    return {name: statistics.median(values) for name, values in times.items()}


def main(library, megabytes, move):
    config = {"megabytes": megabytes, "move": move}
    kept = program.train_module(library).CheckpointConfig(num_to_keep=2)
    program.fit(library, "plain", loop, config, program.folder(), checkpoint_config=kept)
    slowest = [max(times) for times in zip(*program.noted(program.folder(), "times_*"), strict=True)]
    report_s = statistics.median(slowest)
    plain = plain_times_s(program.folder(), megabytes * program.WORKERS)
    limit_s = max(plain["sync_s"], plain["read_s"]) if move else plain["copy_s"]
    program.finish(report_s=report_s, **plain, ratio=report_s / limit_s)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3] == "move")

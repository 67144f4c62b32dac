"""What a worker's memory grows by while a report() stores a checkpoint that is larger than memory
should be.

persist_memory.py FILES_PER_RANK MEGABYTES_PER_FILE local|s3

For two ranks, 10 and 512 are 10 GB. The growth is the peak of the resident set during the report,
less what it was before: libraries that are loaded meanwhile, and stacks of threads, are counted.
The S3 server is moto's, which takes half a minute to join the parts of eight files of 512 MB,
longer than a server may be silent: give it smaller ones.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import persist_s3
import program


def loop(config):
    import persist_s3
    import program
    from headway import train

    rank = train.get_context().get_world_rank()
    folder = tempfile.mkdtemp(dir=config["folder"])
    for i in range(config["files"]):
        program.write_file(os.path.join(folder, f"part_{rank}_{i}.bin"), config["megabytes"])
    Path("/proc/self/clear_refs").write_text("5")
    before = persist_s3.memory_mib("VmRSS")
    started = time.perf_counter()
    train.report({}, checkpoint=train.Checkpoint.from_directory(folder))
    program.note(config, f"time_{rank}", time.perf_counter() - started)
    program.note(config, f"grown_{rank}", persist_s3.memory_mib("VmHWM") - before)


@contextlib.contextmanager
def storage(kind: str, folder: Path) -> Iterator[str]:
    """Where the run's folder lies: in a directory, or on a server made for it."""
    if kind == "local":
        yield str(folder)
        return
    with persist_s3.serve() as (_, url):
        yield url


def main(files, megabytes, kind):
    from headway import train

    folder = program.folder()
    with storage(kind, folder) as place:
        train.DataParallelTrainer(
            loop,
            train_loop_config={"folder": str(folder), "files": files, "megabytes": megabytes},
            scaling_config=train.ScalingConfig(num_workers=program.WORKERS),
            run_config=train.RunConfig(storage_path=place, name="run"),
        ).fit()
    program.finish(
        grown_mib=max(program.noted(folder, "grown_*")),
        report_s=max(program.noted(folder, "time_*")),
    )


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])

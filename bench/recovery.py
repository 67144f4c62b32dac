"""From the SIGKILL of a rank until the last rank has stepped again.

recovery.py headway|ray torch|plain

The others wait meanwhile: in an all-reduce with torch, else in a sleep. A step is as in
first_step.py.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import time

import program
from first_step import ddp_step

# Ray takes up to two seconds to hear of a checkpoint, and a restart must find it.
SETTLE_S = 5


def loop(config):
    import program

    train = program.train_module(config["library"])
    rank = train.get_context().get_world_rank()
    if train.get_checkpoint() is None:
        save_and_lose_a_rank(config, train, rank)
    if config["kind"] == "torch":
        ddp_step()
    program.note(config, f"step_{rank}")
    train.report({"back": 1})


def save_and_lose_a_rank(config, train, rank):
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "state"), "w") as file:
            file.write("1")
        train.report({"back": 0}, checkpoint=train.Checkpoint.from_directory(folder) if rank == 0 else None)
    time.sleep(SETTLE_S)
    if rank == program.WORKERS - 1:
        program.note(config, "killed")
        os.kill(os.getpid(), signal.SIGKILL)
    if config["kind"] == "torch":
        import torch

        torch.distributed.all_reduce(torch.ones(1))
    time.sleep(60)


def main(library, kind):
    failures = program.train_module(library).FailureConfig(max_failures=1)
    program.fit(library, kind, loop, {}, program.folder(), failure_config=failures)
    killed = program.noted(program.folder(), "killed")[0]
    program.finish(recovery_s=max(program.noted(program.folder(), "step_*")) - killed)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])

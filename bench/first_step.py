"""Process start to the first step, and the last step to the end, of two runs in one process.

first_step.py headway|ray torch|plain, or under torchrun: first_step.py torchrun torch

A step of torch is one backward of a small DDP model; without torch, it is the first line of the
training function.
"""

from __future__ import annotations

import os
import sys
import time

import program


def ddp_step():
    import torch

    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(10, 10))
    model(torch.randn(4, 10)).sum().backward()


def threads():
    """What the environment says, and what torch has made of it."""
    torch = sys.modules.get("torch")
    return [os.environ.get("OMP_NUM_THREADS"), torch.get_num_threads() if torch else None]


def loop(config):
    import program

    train = program.train_module(config["library"])
    rank = train.get_context().get_world_rank()
    if config["kind"] == "torch":
        ddp_step()
    program.note(config, f"step_{rank}")
    program.note(config, "threads", threads())
    train.report({"rank": rank})


def run_twice(library, kind):
    figures = {}
    for name in ("first", "second"):
        where = program.folder() / name
        started = time.time()
        program.fit(library, kind, loop, {}, where)
        stepped = max(program.noted(where, "step_*"))
        figures[f"{name}_step_s"] = program.since_start_s(stepped) if name == "first" else stepped - started
        figures[f"{name}_end_s"] = time.time() - stepped
        figures["threads"] = program.noted(where, "threads")[0]
    program.finish(**figures)


def run_under_torchrun():
    """The end is noted by run.py, when torchrun's process is gone."""
    import torch.distributed as dist

    dist.init_process_group("gloo")
    ddp_step()
    config = {"folder": str(program.folder())}
    program.note(config, f"step_{dist.get_rank()}")
    dist.barrier()
    if dist.get_rank() == 0:
        stepped = max(program.noted(program.folder(), "step_*"))
        program.finish(first_step_s=program.since_start_s(stepped), stepped_at=stepped, threads=threads())
    dist.barrier()  # Gloo aborts a rank whose peer leaves while it still works.
    dist.destroy_process_group()


if __name__ == "__main__":
    if sys.argv[1] == "torchrun":
        run_under_torchrun()
    else:
        run_twice(sys.argv[1], sys.argv[2])

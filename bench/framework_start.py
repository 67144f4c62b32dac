"""Process start to the first step of the last rank, and from the SIGKILL of a rank in mid-training
until the last rank has made a step again.

framework_start.py headway|ray lightning|transformers|xgboost|lightgbm

The same script for both libraries. The training begins again after the kill: nothing is saved.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import program
from first_step import threads
from frameworks import Place, train_function, trainer_kind

STEPS = 6
KILL_AFTER_STEP = 3
# Before the kill, so that both libraries have seen the group at work.
SETTLE_S = 3


def loop_of(train):
    """The training function, which names what trains, as a script's own does."""

    def loop(config):
        context = program.train_module(config["library"]).get_context()
        place = Place(context.get_world_rank(), context.get_world_size())
        train(config["library"], place, STEPS, Steps(config, place))

    return loop


class Steps:
    """Notes the time of each step, and kills the last rank once."""

    def __init__(self, config, place):
        self.config = config
        self.place = place
        self.times = []

    def __call__(self):
        self.times.append(time.time())
        first = not Path(self.config["folder"], "killed.note").exists()
        attempt = "before" if first else "after"
        if len(self.times) == 1:
            program.note(self.config, f"{attempt}_{self.place.rank}")
            program.note(self.config, "threads", threads())
        if first and len(self.times) == KILL_AFTER_STEP and self.place.rank == self.place.ranks - 1:
            time.sleep(SETTLE_S)
            program.note(self.config, "killed")
            os.kill(os.getpid(), signal.SIGKILL)


def main(library, framework):
    # The library first, by the alphabet, as in the guides.
    program.trainer_class(library, trainer_kind(framework))
    failures = program.train_module(library).FailureConfig(max_failures=1)
    where = program.folder()
    loop = loop_of(train_function(framework, library))
    program.fit(library, trainer_kind(framework), loop, {}, where, failure_config=failures)
    before, after = (program.noted(where, f"{attempt}_*") for attempt in ("before", "after"))
    assert len(before) == len(after) == program.WORKERS, "a rank has made no step"
    program.finish(
        first_step_s=program.since_start_s(max(before)),
        recovery_s=max(after) - program.noted(where, "killed")[0],
        threads=program.noted(where, "threads")[0],
    )


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])

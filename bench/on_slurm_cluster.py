"""From ``init`` at a Slurm cluster of three nodes to the first step of three ranks, a node each.

on_slurm_cluster.py headway|alone

Alone is Slurm's own part: three jobs of one node each, submitted and at work. The cluster
(slurmctld and three slurmd in a network namespace, as the tests have it) is started before, which
is not measured.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import program

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "python"))
from slurm_cluster import SlurmCluster

NODES = 3


def loop(config: dict[str, Any]) -> None:
    import program

    train = program.train_module(config["library"])
    program.note(config, f"step_{train.get_context().get_world_rank()}")
    train.report({})


def run_headway(where: Path) -> float:
    """Seconds to the first step."""
    started = time.time()
    import headway

    headway.init("slurm", nodes=(0, NODES), token_file=str(where / "token"))
    program.fit("headway", "plain", loop, {}, where, workers=NODES, placement_strategy="STRICT_SPREAD")
    at_work = max(program.noted(where, "step_*"))
    headway.shutdown()
    return at_work - started


def run_alone(where: Path) -> float:
    """Seconds until the last of three jobs has begun."""
    started = time.time()
    script = f'#!/bin/sh\nexec {sys.executable} -Ic "import time; print(time.time())"\n'
    arguments = ["--nodes=1", "--ntasks=1", "--exclusive", f"--array=0-{NODES - 1}", f"--output={where}/%a.log"]
    subprocess.run(["sbatch", "--wait", *arguments], input=script, text=True, check=True, stdout=subprocess.DEVNULL)
    return max(float(file.read_text()) for file in where.glob("*.log")) - started


def main(library: str) -> None:
    """Prints the time of one run."""
    where = program.folder() / "run"
    where.mkdir()
    with SlurmCluster(program.folder() / "slurm", NODES) as cluster:
        cluster.enter()
        os.environ["SLURM_CONF"] = cluster.environment["SLURM_CONF"]
        first_step_s = (run_headway if library == "headway" else run_alone)(where)
        cluster.wait_idle()  # Servers that are killed earlier leave what serves a job that ends.
    program.finish(first_step_s=first_step_s)


if __name__ == "__main__":
    main(sys.argv[1])

"""One driver with the real wire and thousands of workers that another process makes up
(simulated_agents.cpp).

scale.py AGENTS WORKERS_PER_AGENT REPORTS

The workers report, all of them, REPORTS times; then one dies, and after the restart they report as
often again and return. ``driver_kib`` is what the driver's memory grew by, at its highest, for each
worker.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from pathlib import Path

import program

AGENTS_PROGRAM = Path(__file__).parent.parent / "build" / "tests" / "simulated_agents"


def memory_kib(field: str) -> int:
    """A line of this process's status: VmRSS (now) or VmHWM (the peak)."""
    return int(re.search(rf"{field}:\s+(\d+) kB", Path("/proc/self/status").read_text())[1])


def loop() -> None:
    """What no process ever calls."""


def main(agents: int, workers_each: int, reports: int) -> None:
    import headway
    from headway import train

    folder = program.folder()
    token = folder / "token"
    token.write_text("the token of this bench, long enough")
    token.chmod(0o600)
    headway.init(num_cpus=0, listen="127.0.0.1:0", token_file=str(token), node_lease_s=60)
    workers = agents * workers_each
    before = memory_kib("VmRSS")
    command = [AGENTS_PROGRAM, headway.join_address(), token.read_text(), str(agents), str(workers_each), str(reports)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as simulated:
        while headway.cluster_resources().get("CPU", 0) < workers:
            time.sleep(0.01)
        train.DataParallelTrainer(
            loop,
            scaling_config=train.ScalingConfig(num_workers=workers, resources_per_worker={"CPU": 1}),
            run_config=train.RunConfig(
                storage_path=str(folder), name="run", failure_config=train.FailureConfig(max_failures=1)
            ),
        ).fit()
        grown = memory_kib("VmHWM") - before
        headway.shutdown()
        figures = json.loads(simulated.stdout.read())
    program.finish(
        workers=workers,
        reports_per_s=workers * reports / figures["reports_s"],
        driver_kib=grown / workers,
        **figures,
    )


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))

"""The CPU time of the same training with Headway and with the framework's own launcher, while both
run at the same time.

launchers_together.py lightning|transformers|xgboost|lightgbm STEPS

A machine whose clock rate changes from one run to the next changes both alike, so that a difference
of one per cent shows.
"""

from __future__ import annotations

import sys
import threading
from typing import Any

import program
from execution import run_program


def main(framework: str, steps: str) -> None:
    launcher = "torchrun" if framework == "transformers" else "alone"
    results: dict[str, dict[str, Any]] = {}

    def train(library: str, argument: str) -> None:
        command = ["launchers.py", argument, framework, steps]
        results[library] = run_program(library, command, sys.executable, program.folder() / library, program.size())

    threads = [
        threading.Thread(target=train, args=arguments) for arguments in (("headway", "headway"), (launcher, "alone"))
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    headway, alone = results["headway"], results[launcher]
    program.finish(cpu_ratio=headway["cpu_s"] / alone["cpu_s"], cpu_s=headway["cpu_s"], alone_cpu_s=alone["cpu_s"])


if __name__ == "__main__":
    main(*sys.argv[1:])

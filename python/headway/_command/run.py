"""``headway run``: a script in this Python, with ``ray`` meaning Headway where that is asked
for.
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

from headway import _ray


def add_to(subjects: Any) -> None:
    """The subcommand and its arguments."""
    run = subjects.add_parser("run", help="run a script; with --as-ray one that was written for Ray Train")
    run.add_argument("--as-ray", action="store_true", help="`import ray` means Headway, in the script and its workers")
    run.add_argument("script", metavar="SCRIPT", help="a Python file")
    run.add_argument("arguments", metavar="ARG", nargs=argparse.REMAINDER, help="the script's own arguments")
    run.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> bool:
    if not os.path.isfile(options.script):
        raise FileNotFoundError(f"SCRIPT is {options.script!r}, which is no file")
    environment = dict(os.environ)
    if options.as_ray:
        # In the environment rather than by a call: processes that the script starts have it too.
        paths = [_ray.import_path(), *filter(None, [environment.get("PYTHONPATH")])]
        environment["PYTHONPATH"] = os.pathsep.join(paths)
    # In this process's place: signals and the exit status are the script's own.
    os.execve(sys.executable, [sys.executable, options.script, *options.arguments], environment)

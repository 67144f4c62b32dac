"""The command ``headway``: its arguments, and how it ends."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

from headway import _core
from headway._command import checkpoint, dashboard, nodes, processes, run, runs, submit, tune

OK = 0
DAMAGED = 1
FAILED = 2


class _Parser(argparse.ArgumentParser):
    """Says in one line what is wrong; ``--help`` has the rest."""

    def error(self, message: str) -> NoReturn:
        self.exit(FAILED, f"{self.prog}: {message} (see {self.prog} --help)\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Carries a command out and returns its exit code: 0 done, 1 something is damaged, 2 it could
    not be done.
    """
    # The work is in C++, which Python's handler for Ctrl-C would not interrupt. What was begun and
    # not finished is never taken for a checkpoint, so the process may end at any moment.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    options = _parser().parse_args(arguments)
    try:
        good = options.run(options)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read the output has seen enough, as `head` has. What is still held back goes
        # nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except _core.CorruptedError as error:
        print(f"headway: {error}", file=sys.stderr)
        return DAMAGED
    except (OSError, ValueError) as error:
        print(f"headway: {error}", file=sys.stderr)
        return FAILED
    return OK if good else DAMAGED


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="headway", description="Distributed training on the command line.")
    parser.add_argument("--version", action="version", version=f"headway {_core.version}")
    subjects = parser.add_subparsers(dest="subject", metavar="SUBJECT", required=True)
    runs.add_to(subjects)
    processes.add_to(subjects)
    nodes.add_to(subjects)
    checkpoint.add_to(subjects)
    run.add_to(subjects)
    submit.add_to(subjects)
    tune.add_to(subjects)
    dashboard.add_to(subjects)
    return parser

"""``headway stack | profile``: what a run's ranks are doing, seen by py-spy from outside."""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
from typing import Any

from headway._command import found_run
from headway._values.py_spy import find_py_spy

_RUN = "a run at work on this machine: its folder, or its name in the default storage path"


def add_to(subjects: Any) -> None:
    """The subcommands and their arguments."""
    stack = subjects.add_parser("stack", help="where a run's ranks are in their code now")
    stack.add_argument("name", metavar="RUN", help=_RUN)
    stack.add_argument("--rank", type=int, help="one rank alone; default: all on this machine")
    stack.add_argument("--native", action="store_true", help="with the frames of C and C++")
    stack.set_defaults(run=_stack)
    profile = subjects.add_parser("profile", help="where a rank's time goes, as a flame graph")
    profile.add_argument("name", metavar="RUN", help=_RUN)
    profile.add_argument("--rank", type=int, default=0, help="default: 0")
    profile.add_argument("--seconds", type=int, default=10, help="for how long it is watched; default: 10")
    profile.add_argument("--busy", action="store_true", help="without the time in which a thread waits")
    profile.add_argument("--native", action="store_true", help="with the frames of C and C++")
    profile.add_argument("--output", metavar="FILE", help="an SVG for a browser; default: profile_rank_<rank>.svg")
    profile.set_defaults(run=_profile)


def _stack(options: argparse.Namespace) -> bool:
    run = found_run.find(options.name)
    if options.rank is not None:
        ranks = [options.rank]
    else:
        ranks = [each["rank"] for each in run.view["ranks"]] if run.view is not None else [0]
    good = True
    for rank in ranks:
        pid = python_process_of(run, rank, "gdb -p PID -batch -ex 'thread apply all bt'")
        stopped = _is_stopped(pid)
        print(f"rank {rank} (pid {pid}{', stopped by a signal' if stopped else ''}):", flush=True)
        # py-spy cannot suspend a process that is stopped already. It reads no native frames then.
        settings = ["--nonblocking"] if stopped else ["--native"] if options.native else []
        good &= _spy("dump", "--pid", str(pid), *settings)
    return good


def _profile(options: argparse.Namespace) -> bool:
    run = found_run.find(options.name)
    pid = python_process_of(run, options.rank, "perf record -g -p PID")
    if options.seconds < 1:
        raise ValueError(f"--seconds is {options.seconds}; allowed: at least 1")
    if _is_stopped(pid):
        raise ValueError(f"rank {options.rank} (pid {pid}) is stopped by a signal: continue it with kill -CONT {pid}")
    output = options.output or f"profile_rank_{options.rank}.svg"
    # By thread: else those that wait for work all the time would hide the one that trains.
    watched = [] if options.busy else ["--idle", "--threads"]
    native = ["--native"] if options.native else []
    settings = ["--format", "flamegraph", "--duration", str(options.seconds), "--output", output, *watched, *native]
    if options.busy:
        return _record_what_computes(pid, options, settings)
    return _spy("record", "--pid", str(pid), *settings)


def _record_what_computes(pid: int, options: argparse.Namespace, settings: list[str]) -> bool:
    done = _run_spy("record", "--pid", str(pid), *settings, stderr=subprocess.PIPE)
    if "No stack counts found" in done.stderr:
        raise ValueError(
            f"rank {options.rank} (pid {pid}) has computed nothing for {options.seconds} s; "
            "without --busy the time in which it waits counts too"
        )
    print(done.stderr, end="", file=sys.stderr)
    return done.returncode == 0


def python_process_of(run: found_run.FoundRun, rank: int, instead: str) -> int:
    """The process of a rank, which py-spy can read.

    Args:
        run: The run.
        rank: Which of its ranks.
        instead: The command that reads a C++ program, with PID for the process.

    Raises:
        ValueError: there is none, or it is a C++ program.
    """
    pid = found_run.process_of(run, rank)
    if not _has_interpreter(pid):
        raise ValueError(
            f"rank {rank} (pid {pid}) is a C++ program, which py-spy does not read: {instead.replace('PID', str(pid))}"
        )
    return pid


def _has_interpreter(pid: int) -> bool:
    """Whether Python runs in the process; True where the system does not say."""
    try:
        with open(f"/proc/{pid}/maps") as maps:
            return any("python" in os.path.basename(line.rstrip()) for line in maps)
    except OSError:
        return True


def _is_stopped(pid: int) -> bool:
    with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", "rb") as stat:
        return stat.read().rpartition(b")")[2].split()[0] in (b"T", b"t")
    return False


def _spy(*arguments: str) -> bool:
    return _run_spy(*arguments).returncode == 0


def _run_spy(*arguments: str, stderr: int | None = None) -> subprocess.CompletedProcess[str]:
    program = find_py_spy()
    if not program:
        raise FileNotFoundError("py-spy is not installed, which looks into the ranks: pip install py-spy")
    return subprocess.run([program, *arguments], check=False, text=True, stderr=stderr)

"""Runs a bench program in a separate process and folder, and removes both afterwards."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from program import MARK, WORKERS

HERE = Path(__file__).parent
CPP_PROGRAM = HERE.parent / "build" / "tests" / "bench_cpp"
TIMEOUT_S = 900
#: A process has its environment so soon after it has begun a program.
BEGINS_WITHIN_S = 2.0


class ProgramFailedError(Exception):
    """A program that ended badly, or without a result; the message has the end of its output."""


def run_program(
    library: str, command: list[str], python: str, storage: Path, size: float = 1, timeout_s: float = TIMEOUT_S
) -> dict[str, Any]:
    """The result that the program prints, with ``ended_at``, the time when its process was gone."""
    storage.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory(dir=storage, ignore_cleanup_errors=True) as folder,
        # Its sockets' paths have few bytes, so it cannot be below the other.
        tempfile.TemporaryDirectory(prefix="ray", ignore_cleanup_errors=True) as ray_folder,
    ):
        env = {
            **os.environ,
            "BENCH_FOLDER": folder,
            "BENCH_DATA": str(data_folder(storage)),
            "BENCH_SIZE": repr(size),
            "RAY_TMPDIR": ray_folder,
            "OMP_NUM_THREADS": "1",  # The same for all; Ray would choose another number.
            "TF_NUM_INTRAOP_THREADS": "1",
            "TF_NUM_INTEROP_THREADS": "1",
            "RAY_TRAIN_V2_ENABLED": "1",
            "PYTHONUNBUFFERED": "1",
        }
        try:
            return _run(_arguments(library, command, python), env, timeout_s)
        finally:
            _kill_leftovers(folder)


def data_folder(storage: Path) -> Path:
    """Where programs leave files for the ones after them."""
    return storage / "data"


def _arguments(library: str, command: list[str], python: str) -> list[str]:
    if command[0] == "bench_cpp":
        return [str(CPP_PROGRAM), *command[1:]]
    program = [str(HERE / command[0]), *command[1:]]
    if library == "torchrun":
        # What the `torchrun` command runs.
        return [python, "-m", "torch.distributed.run", f"--nproc-per-node={WORKERS}", *program]
    return [python, *program]


def _run(arguments: list[str], env: dict[str, str], timeout_s: float) -> dict[str, Any]:
    try:
        done = subprocess.run(
            arguments,
            env={**env, "BENCH_STARTED": repr(time.time())},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=timeout_s,
        )
    except subprocess.TimeoutExpired as error:
        raise ProgramFailedError(f"it has not ended after {timeout_s:g} s") from error
    ended_at = time.time()
    results = [line for line in done.stdout.splitlines() if MARK in line]
    if done.returncode != 0 or not results:
        tail = "\n".join(done.stdout.splitlines()[-20:])
        raise ProgramFailedError(f"it ended with status {done.returncode}; its last lines:\n{tail}")
    return {**json.loads(results[-1].partition(MARK)[2]), "ended_at": ended_at}


def _kill_leftovers(folder: str) -> None:
    """Ends each process that has the program's folder in its environment: only what the program has
    started. A process that has just begun another program has no environment for a moment.
    """
    own = f"BENCH_FOLDER={folder}".encode()
    killed: dict[int, str] = {}
    deadline = time.monotonic() + BEGINS_WITHIN_S
    while _kill_all_with(own, killed) and time.monotonic() < deadline:
        pass
    if killed:
        print(f"  (left behind and killed: {', '.join(sorted(killed.values()))})", file=sys.stderr)


def _kill_all_with(own: bytes, killed: dict[int, str]) -> bool:
    """Ends each process with this variable, and adds its name to ``killed``. Returns whether a
    process may be just beginning another program.
    """
    begins = False
    for process in Path("/proc").glob("[0-9]*"):
        try:
            environment = (process / "environ").read_bytes()
            if own in environment.split(b"\0"):
                killed[int(process.name)] = (process / "comm").read_text().strip()
                os.kill(int(process.name), signal.SIGKILL)
            elif not environment:
                os.readlink(process / "exe")  # Threads of the kernel, and zombies, have none.
                begins = True
        except OSError:
            continue  # It is gone, or not ours.
    return begins

#!/usr/bin/env python3
"""Runs a command and prints every five seconds how far it is.

    scripts/progress.py [--attempt] WHAT command [argument...]

The lines of pip and ninja say how far they are. What else ninja prints (a compiler's warning or
error) is shown at once; pip's output is shown when it fails, unless that was only an attempt. This
script needs no package, since it runs before there are any.
"""

from __future__ import annotations

import collections
import os
import queue
import re
import subprocess
import sys
import threading
import time

EVERY_S = float(os.environ.get("HEADWAY_PROGRESS_S", "5"))
KEPT_LINES = 400
# "[3/61] Building CXX object ...": 3 of 61 are done.
NINJA = re.compile(r"\[(\d+)/(\d+)\] (.*)")
PIP = re.compile(r"\s*(Collecting|Downloading|Installing|Building|Preparing|Processing|Using cached) (\S+)")


def status_of(line: str) -> str | None:
    """How far the command is, as one of its lines says; None when it says something else."""
    if step := NINJA.match(line):
        # Before it compiles, ninja looks whether cmake is to run again, and counts that apart.
        return "" if step[3].startswith("Re-") else f"{step[1]} of {step[2]}"
    if step := PIP.match(line):
        name = step[2].rstrip(":").rsplit("/", 1)[-1]
        return f"{step[1].lower()} {'' if name == 'collected' else name.split('-')[0]}".strip()
    return None


def _read(stream: object, lines: queue.SimpleQueue[str | None]) -> None:
    for line in stream:  # type: ignore[attr-defined]
        lines.put(line)
    lines.put(None)


def follow(what: str, command: list[str], *, attempt: bool = False) -> int:
    """Runs the command; returns its exit status."""
    started = time.monotonic()
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    )
    lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(process.stdout, lines), daemon=True).start()
    kept: collections.deque[str] = collections.deque(maxlen=KEPT_LINES)
    status, of_ninja, said_at = "", False, started
    while True:
        try:
            line = lines.get(timeout=max(0.0, said_at + EVERY_S - time.monotonic()))
        except queue.Empty:
            said_at = time.monotonic()
            print(f"  {what}: {status + ', ' if status else ''}{said_at - started:.0f} s", flush=True)
            continue
        if line is None:
            break
        kept.append(line)
        found = status_of(line)
        of_ninja = of_ninja or NINJA.match(line) is not None
        if found is not None:
            status = found
        elif of_ninja:
            print(line, end="", flush=True)
    code = process.wait()
    if code and not of_ninja and not attempt:
        print("".join(kept), end="", flush=True)
    print(f"  {what}: {'done' if code == 0 else 'failed'} after {time.monotonic() - started:.0f} s", flush=True)
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    arguments = sys.argv[1:]
    is_attempt = arguments[0] == "--attempt"
    if is_attempt:
        del arguments[0]
    sys.exit(follow(arguments[0], arguments[1:], attempt=is_attempt))

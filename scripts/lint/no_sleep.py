#!/usr/bin/env python3
"""No test sleeps: a test that waits for a time is slow when the time is long and fails when it is
short.

A test waits for an event (a pipe, a queue, a process's end), moves a manual clock, or, where a
function must just be blocked, calls `signal.pause()`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import sources

SLEEP = re.compile(
    r"\b(time|asyncio|anyio|trio|gevent)\s*\.\s*sleep\b|\bfrom\s+(time|asyncio)\s+import\b[^#\n]*\bsleep\b"
    r"|\bsleep_(for|until)\b|\b(u|nano|clock_nano)sleep\s*\("
    r"|(?<![\w.:])(::)?sleep\s*\("
    r"|(^|[\s\"'`;&|(])sleep\s+[\d$.]|[\"']sleep[\"']\s*,"
)
SUFFIXES = {".py", ".cpp", ".hpp", ".sh", ".ipynb", ".txt", ".cmake"}
# The tests of this check hold what it looks for.
OWN_TEST = Path("tests/lint/test_no_sleep.py")


def check(root: Path, file: Path) -> Iterator[str]:
    """One message for each line that sleeps."""
    if file == OWN_TEST:
        return
    for number, line in enumerate((root / file).read_text().splitlines(), start=1):
        if SLEEP.search(line):
            yield f"{file}:{number}: a test sleeps; wait for an event, or block with signal.pause(): {line.strip()}"


def main() -> int:
    """Checks the tree that this script lies in."""
    root = Path(__file__).resolve().parents[2]
    return sources.report("no_sleep", check, root, sources.tracked_files(root, SUFFIXES, ["tests"]))


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""The table of rooms in ARCHITECTURE.md has the rooms of `rooms.py`, and says for each which others
it may use.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import rooms

PAPER = Path("ARCHITECTURE.md")
HEADING = "## Rooms"
ROW = re.compile(r"^\| `([^`]+)` \| .+ \| ([^|]*) \|$")
# Rooms that do not lie in src/.
FOLDERS = {"headway": "include/headway/", "sim": "sim/"}


def check(text: str, table: Mapping[str, set[str]]) -> Iterator[str]:
    """One message for each row of `text` that says something else than `table`, and for each room
    without a row.
    """
    wanted = {FOLDERS.get(room, f"src/{room}/"): used for room, used in table.items()}
    found = dict(_rows(text))
    for folder in sorted(wanted.keys() - found.keys()):
        yield f"{PAPER}: the table of rooms has no row for `{folder}`, which rooms.py knows"
    for folder, (number, used) in found.items():
        if folder not in wanted:
            yield f"{PAPER}:{number}: `{folder}` is no room that rooms.py knows"
        elif used != (expected := ", ".join(sorted(wanted[folder])) or "none"):
            yield f"{PAPER}:{number}: `{folder}` may use {used!r} here, and {expected!r} in rooms.py"


def _rows(text: str) -> Iterator[tuple[str, tuple[int, str]]]:
    """Folder, line number and last column of each row below the heading."""
    below = False
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith("## "):
            below = line == HEADING
        elif below and (row := ROW.match(line)):
            yield row[1], (number, row[2].strip())


def main() -> int:
    """Checks the tree that this script lies in."""
    root = Path(__file__).resolve().parents[2]
    violations = list(check((root / PAPER).read_text(), rooms.ROOMS))
    for violation in violations:
        print(violation)
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""The tables of rooms in ARCHITECTURE.md are those that `rooms.py --table` prints."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import rooms
from room_list import CPP, PYTHON, Room

PAPER = Path("ARCHITECTURE.md")
HEADING = "## Rooms"
ROW = re.compile(r"^\| `([^`]+)` \|.*\|$")


def check(text: str, *tables: Mapping[str, Room]) -> Iterator[str]:
    """One message for each row of `text` that is not as the tables have it, and for each room
    without a row.
    """
    wanted = {room.folder: rooms.row(room) for table in tables for room in table.values()}
    found = dict(_rows(text))
    for folder in [folder for folder in wanted if folder not in found]:
        yield f"{PAPER}: the tables of rooms have no row for `{folder}`: {wanted[folder]}"
    for folder, (number, row) in found.items():
        if folder not in wanted:
            yield f"{PAPER}:{number}: `{folder}` is no room that room_list.py knows"
        elif row != wanted[folder]:
            yield f"{PAPER}:{number}: room_list.py has the row of `{folder}` as: {wanted[folder]}"


def _rows(text: str) -> Iterator[tuple[str, tuple[int, str]]]:
    """Folder, line number and text of each row below the heading."""
    below = False
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith("## "):
            below = line == HEADING
        elif below and (row := ROW.match(line)):
            yield row[1], (number, line)


def main() -> int:
    """Checks the tree that this script lies in."""
    root = Path(__file__).resolve().parents[2]
    violations = list(check((root / PAPER).read_text(), CPP, PYTHON))
    for violation in violations:
        print(violation)
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())

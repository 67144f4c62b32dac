#!/usr/bin/env python3
"""Copies a room that decides and plants the bugs of a file into the copy, each asleep until its
number is chosen.

Usage: plant.py BUGS_FILE SOURCE_FOLDER TARGET_FOLDER

A bug in the file is its name, the source file in the room, the text as it is, and the text
with the bug in it, in which BUG stands for "this bug is awake". White space may differ from the
source's; the text must be there exactly once, else the build stops and says so: a change of the
room then changes the bug too.
"""

from __future__ import annotations

import itertools
import re
import sys
from dataclasses import dataclass
from pathlib import Path

BLOCK = re.compile(r"^## (\w+)\n(\S+)\n--- as it is\n(.*?)--- with the bug\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)


@dataclass
class Bug:
    """One entry of the file; numbers count from 1 in its order."""

    number: int
    name: str
    file: str
    original: str
    planted: str


def read_bugs(text: str) -> list[Bug]:
    """The file's entries. Raises ValueError when something in it is no entry."""
    bugs = [
        Bug(number, match[1], match[2], match[3].strip(), match[4].strip())
        for number, match in enumerate(BLOCK.finditer(text), start=1)
    ]
    headings = len(re.findall(r"^## ", text, re.MULTILINE))
    if len(bugs) != headings:
        raise ValueError(f"{headings} headings, but {len(bugs)} entries: each has a name, a file, and two texts")
    return bugs


def plant(source: str, bugs: list[Bug], room: str) -> str:
    """The source with all `bugs` in it. Raises ValueError when one's text is not there exactly
    once.
    """
    places = []
    for bug in bugs:
        pattern = r"\s+".join(re.escape(word) for word in bug.original.split())
        found = [match.span() for match in re.finditer(pattern, source)]
        if len(found) != 1:
            raise ValueError(
                f"planted bug {bug.name}: its text is {len(found)} times in src/{room}/{bug.file}, not once; "
                "bring its entry up to date with the room"
            )
        places.append((*found[0], re.sub(r"\bBUG\b", f"HEADWAY_BUG({bug.number})", bug.planted)))
    places.sort()
    for (_, end, _), (start, _, _) in itertools.pairwise(places):
        if start < end:
            raise ValueError(f"two planted bugs overlap in src/{room}/{bugs[0].file}")
    for start, end, text in reversed(places):
        source = source[:start] + text + source[end:]
    return source


def main(bugs_file: Path, source_folder: Path, target_folder: Path) -> None:
    """Writes the copies, and planted_names.inc with the bugs' names."""
    room = source_folder.name
    bugs = read_bugs(bugs_file.read_text())
    files = sorted(source_folder.rglob("*.[ch]pp"))
    unknown = {bug.file for bug in bugs} - {str(file.relative_to(source_folder)) for file in files}
    if unknown:
        raise ValueError(f"planted bugs name files that src/{room}/ does not have: {', '.join(sorted(unknown))}")
    for file in files:
        text = file.read_text()
        name = file.relative_to(source_folder)
        here = [bug for bug in bugs if bug.file == str(name)]
        if here:
            text = '#include "sim/planted/planted.hpp"\n' + plant(text, here, room)
        copy = target_folder / room / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(text)
    (target_folder / "planted_names.inc").write_text("".join(f'"{bug.name}",\n' for bug in bugs))


if __name__ == "__main__":
    try:
        main(*(Path(argument) for argument in sys.argv[1:]))
    except ValueError as error:
        sys.exit(str(error))

#!/usr/bin/env python3
"""docs/environment.md lists each environment variable ``HEADWAY_...`` that the sources name, and no
other.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import sources

PAGE = Path("docs/environment.md")
FOLDERS = ["src", "include", "python", "scripts"]
NAME = r"(HEADWAY_[A-Z0-9_]+)"
ROW = re.compile(rf"^\| `{NAME}` \|", re.MULTILINE)
# A name is a whole string: macros and texts are others.
QUOTED = re.compile(rf"""(["']){NAME}\1""")
# A variable that is read, set or exported. "-DHEADWAY_..." is an option of CMake.
OF_SHELL = re.compile(rf"\$\{{?{NAME}|(?:^|[\s;]){NAME}=", re.MULTILINE)
SHELL = {".sh"}


def named_in(file: Path, text: str) -> set[str]:
    """The variables that a source names."""
    if file.suffix in SHELL:
        return {found[1] or found[2] for found in OF_SHELL.finditer(text)}
    return {found[2] for found in QUOTED.finditer(text)}


def check(root: Path, files: list[Path]) -> Iterator[str]:
    """One message for each variable that is missing on the page, or in the sources."""
    listed = set(ROW.findall((root / PAGE).read_text()))
    first: dict[str, Path] = {}
    for file in files:
        for name in named_in(file, (root / file).read_text()):
            first.setdefault(name, file)
    for name in sorted(first.keys() - listed):
        yield f"{first[name]}: {name} is not in a row of {PAGE}"
    for name in sorted(listed - first.keys()):
        yield f"{PAGE}: no source names {name}"


def main() -> int:
    """Checks the tree that this script lies in."""
    root = Path(__file__).resolve().parents[2]
    suffixes = sources.CPP_SUFFIXES | sources.PYTHON_SUFFIXES | SHELL
    return sources.print_violations("variables", check(root, sources.tracked_files(root, suffixes, FOLDERS)))


if __name__ == "__main__":
    sys.exit(main())

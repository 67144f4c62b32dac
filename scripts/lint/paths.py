#!/usr/bin/env python3
"""Files and folders of the tree that papers name are there: a reader who looks for one must find
it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import sources

CODE = re.compile(r"`([^`\s]+)`")
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
# Names of the tree: "src/wire/", "control/marks.hpp", "scripts/lint/run.sh",
# "tests/control/*_test.cpp".
FOLDERS = ("src", "include", "sim", "python", "scripts", "tests", "bench", "examples", "docs", "cmake", "requirements")
FILE = re.compile(r"[\w./*-]+/[\w.*-]+\.(?:hpp|cpp|py|pyi|txt|sh|md|cmake)")
# Where a short name may lie.
BASES = (".", "src", "include", "python/headway", "docs")
# Placeholders, and what a build or a run makes.
LEFT_OUT = re.compile(r"NAME|NNN|<|\.\.\.|^build/|^dist/")


def check(root: Path, file: Path) -> Iterator[str]:
    """One message for each name of a file or folder that is not in the tree."""
    text = FENCED.sub(lambda fenced: "\n" * fenced[0].count("\n"), (root / file).read_text())
    for number, line in enumerate(text.splitlines(), start=1):
        # What a later change will bring has a place that is kept for it.
        for name in CODE.findall(re.sub(r"\bnew: `[^`]*`(?: and `[^`]*`)?", "", line)):
            if _is_of_the_tree(name) and not any(_is_there(root / base, name) for base in BASES):
                yield f"{file}:{number}: there is no {name}"


def _is_of_the_tree(name: str) -> bool:
    if LEFT_OUT.search(name) or name.startswith(("/", "~", "http")):
        return False
    return FILE.fullmatch(name) is not None or (name.endswith("/") and name.split("/")[0] in FOLDERS)


def _is_there(base: Path, name: str) -> bool:
    return next(base.glob(name.rstrip("/")), None) is not None if base.is_dir() else False


def main() -> int:
    """Checks the tree that this script lies in."""
    root = Path(__file__).resolve().parents[2]
    return sources.report("paths", check, root, sources.tracked_files(root, {".md"}))


if __name__ == "__main__":
    sys.exit(main())

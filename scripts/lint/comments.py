#!/usr/bin/env python3
"""Comments and docstrings have at most 100 columns. `scripts/format_comments.py` rewraps those that
have more.

    comments.py [FOLDER...]     only files below these; without any, the folders in CLEAN
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import code_parts
import sources

COLUMNS_MAX = 100

# Folders in which no comment is longer, and where none may be again.
CLEAN = ["src", "include", "sim", "tests", "bench", "examples", "scripts", "python", "cmake"]

# A line that is indented by more than a blank after its mark is a sample of code.
SAMPLE_INDENT = 4
SAMPLE = re.compile(r"\s*(?:///?|#) {5}")
# Comments that tools read, and that stand where they stand.
PRAGMA = re.compile(r"NOLINT|clang-format |IWYU|noqa|type: ignore|fmt: |pragma[: ]")
DOCTEST = re.compile(r"\s*(?:>>>|\.\.\.)(?:\s|$)")
# Generated from the bindings; compared by a test.
LEFT_OUT = {Path("python/headway/_core.pyi")}


def check(root: Path, file: Path) -> Iterator[str]:
    """One message for each line with a comment that is too long."""
    if file in LEFT_OUT:
        return
    for number, line in overlong(file, (root / file).read_text()):
        yield f"{file}:{number}: the comment ends in column {len(line)}, {COLUMNS_MAX} are allowed"


def overlong(file: Path, text: str) -> Iterator[tuple[int, str]]:
    """Number and text of each line whose comment, or line of a docstring, is too long."""
    lines = text.splitlines()
    for part in code_parts.parts(file, text):
        if part.kind == "string":
            continue
        first = text.count("\n", 0, part.start)
        last = text.count("\n", 0, part.end)
        code_below = part.kind == "docstring" and list(doctest_lines(lines[first : last + 1]))
        for number in range(first, last + 1):
            line = lines[number]
            if len(line) <= COLUMNS_MAX or not _may_be_wrapped(part, text, line):
                continue
            if not code_below or number - first not in code_below:
                yield number + 1, line


def doctest_lines(lines: list[str]) -> Iterator[int]:
    """The lines of a docstring that are examples, or what these print."""
    inside = False
    for number, line in enumerate(lines):
        inside = bool(line.strip()) and (inside or DOCTEST.match(line) is not None)
        if inside:
            yield number


def _may_be_wrapped(part: code_parts.Part, text: str, line: str) -> bool:
    if part.kind == "docstring":
        return len(line.split()) > 1
    comment = text[part.start : part.end]
    if SAMPLE.match(line) or PRAGMA.search(comment) or (comment.startswith("/*") and "\n" not in comment):
        return False
    # An address cannot be broken.
    return len(comment.split()) > 2 or not line.strip().startswith(("//", "#"))


def main() -> int:
    """Checks the tree that this script lies in."""
    root = Path(__file__).resolve().parents[2]
    folders = sys.argv[1:] or CLEAN
    suffixes = sources.CPP_SUFFIXES | sources.PYTHON_SUFFIXES
    files = sources.tracked_files(root, suffixes, folders) if folders else []
    return sources.report("comments", check, root, files)


if __name__ == "__main__":
    sys.exit(main())

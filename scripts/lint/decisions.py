#!/usr/bin/env python3
"""Pages of decisions are numbered once, listed in their index under their title, and say what, why
and at what cost.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import sources

FOLDER = Path("docs/decisions")
INDEX = FOLDER / "README.md"
PAGE_NAME = re.compile(r"(\d{3})-[a-z0-9]+(-[a-z0-9]+)*\.md")
PARTS = ("Decision", "Why", "Rejected", "Cost")

SECTION = re.compile(r"^## (\d+) to (\d+): ")
ROW = re.compile(r"^\| \[(\d+)\]\(([^)]+)\) \| (.+) \|$")


def check(root: Path, file: Path) -> Iterator[str]:
    """One message for each thing that is wrong with a page, or with the index."""
    if file == INDEX:
        yield from _check_index(root)
    else:
        yield from _check_page(root, file)


def _check_page(root: Path, file: Path) -> Iterator[str]:
    name = PAGE_NAME.fullmatch(file.name)
    if name is None:
        yield f"{file}:1: a decision's file is called NNN-title.md, in small letters, digits and hyphens"
        return
    text = (root / file).read_text()
    title = text.partition("\n")[0]
    if not title.startswith("# "):
        yield f"{file}:1: the first line is not a title (# ...)"
    twins = sorted(other.name for other in (root / FOLDER).glob(f"{name[1]}-*.md") if other.name != file.name)
    if twins:
        yield f"{file}:1: number {name[1]} is used by {', '.join(twins)} too"
    if not any(row[2] == file.name for row in _rows(root)):
        yield f"{file}:1: {INDEX} does not list this page"
    for part in PARTS:
        if f"\n**{part}.**" not in text and not _is_table_for(part, text):
            yield f"{file}:1: the page has no paragraph that begins with **{part}.**"


def _is_table_for(part: str, text: str) -> bool:
    """A page of choices has a table in place of the first two paragraphs."""
    return part in ("Decision", "Why") and re.search(r"^\|.*\| why \|$", text, re.MULTILINE) is not None


def _check_index(root: Path) -> Iterator[str]:
    section, before = range(0), -1
    for number, line in enumerate((root / INDEX).read_text().splitlines(), start=1):
        if found := SECTION.match(line):
            section = range(int(found[1]), int(found[2]) + 1)
        row = ROW.match(line)
        if row is None:
            continue
        decision = int(row[1])
        if decision not in section:
            yield f"{INDEX}:{number}: {decision} is not within its section's numbers"
        if decision <= before:
            yield f"{INDEX}:{number}: {decision} comes after {before}; rows are in the order of their numbers"
        before = decision
        page = root / FOLDER / row[2]
        if not row[2].startswith(f"{decision}-") or not page.is_file():
            yield f"{INDEX}:{number}: {row[2]} is not the page of decision {decision}"
        elif page.read_text().partition("\n")[0] != f"# {row[3]}":
            yield f"{INDEX}:{number}: the page's title is {page.read_text().partition(chr(10))[0][2:]!r}"


def _rows(root: Path) -> list[re.Match[str]]:
    index = root / INDEX
    lines = index.read_text().splitlines() if index.is_file() else []
    return [row for line in lines if (row := ROW.match(line))]


def main() -> int:
    """Checks the tree that this script lies in."""
    root = Path(__file__).resolve().parents[2]
    return sources.report("decisions", check, root, sources.tracked_files(root, {".md"}, [str(FOLDER)]))


if __name__ == "__main__":
    sys.exit(main())

"""ARCHITECTURE.md answers what a newcomer asks first."""

import re
from pathlib import Path

import pytest

TEXT = (Path(__file__).resolve().parents[2] / "ARCHITECTURE.md").read_text()


def section(heading: str) -> str:
    return re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", TEXT, re.MULTILINE | re.DOTALL)[1]


def rows(heading: str) -> list[list[str]]:
    """The cells of the table's rows, without its head."""
    lines = [line for line in section(heading).splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


@pytest.mark.parametrize(
    "thing",
    ["a scheduler for trials", "a data source", "an engine", "a new message", "a new role of helper process",
     "a framework integration", "a storage backend", "a lint", "a benchmark"],
)  # fmt: skip
def test_each_new_thing_has_a_place_a_file_to_start_from_and_tests(thing: str) -> None:
    (row,) = [row for row in rows("Where do I put ...") if row[0].startswith(f"**{thing}**")]
    assert len(row) == 4
    assert all("`" in cell for cell in row[1:3])
    assert row[3]


def test_the_places_come_before_everything_else_but_the_map() -> None:
    assert re.findall(r"^## (.+)$", TEXT, re.MULTILINE)[:3] == ["Map", "Where do I put ...", "A run, step by step"]


def test_the_glossary_has_each_word_once_in_order() -> None:
    words = [row[0].split(",")[0] for row in rows("Glossary")]
    assert words == sorted(set(words))
    assert {"guest", "host", "lease", "agent", "engine", "node", "factory", "guard", "worker", "rank"} <= set(words)

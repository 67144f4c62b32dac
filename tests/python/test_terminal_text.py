"""Text as a terminal shows it. tests/core/terminal_text_test.cpp has more of it."""

import importlib.util
import unicodedata
from pathlib import Path

import pytest
from headway import _core
from headway._values.terminal_text import cut, cut_parts, width, without_escapes

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("text", "columns"),
    [("", 0), ("step 1", 6), ("学習中", 6), ("e\u0301tape", 5), ("█▌ 60%", 6), ("한 2/3", 6), ("🚀", 2), ("\udcff", 1)],
)
def test_the_width_of_a_text(text, columns):
    assert width(text) == columns


@pytest.mark.parametrize(
    ("text", "columns", "shown"), [("step 1", 4, "step"), ("学習中", 5, "学習"), ("学習中", 6, "学習中"), ("a", -1, "")]
)
def test_a_text_is_cut_to_columns(text, columns, shown):
    assert cut(text, columns) == shown


def test_a_text_of_parts_is_cut_between_them():
    assert cut_parts("epoch 3 · 20 steps/s · 640 samples/s", 30) == "epoch 3 · 20 steps/s"
    assert cut_parts("epoch 3", 3) == "epo"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("60%|\x1b[32m█████     \x1b[0m| 3/5", "60%|█████     | 3/5"),
        ("\x1b[A\x1b[2Kinner\x1b[38;5;196m!\x1b7", "inner!"),
        ("bell\x07 and tab\t.", "bell and tab ."),
    ],
)
def test_colours_and_movements_are_left_out(text, shown):
    assert without_escapes(text) == shown


def test_each_character_takes_the_columns_that_unicode_says():
    spec = importlib.util.spec_from_file_location("character_widths", ROOT / "scripts" / "character_widths.py")
    table = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(table)
    characters = map(chr, range(0x110000))
    assigned = [each for each in characters if unicodedata.category(each) not in ("Cc", "Cn", "Co", "Cs")]
    wrong = [each for each in assigned if _core.text_width(each.encode()) != table.width(each)]
    assert len(assigned) > 100_000
    assert not wrong, "run scripts/character_widths.py"

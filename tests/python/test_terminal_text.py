"""Text as a terminal shows it."""

import pytest
from headway._values.terminal_text import cut, width, without_escapes


@pytest.mark.parametrize(
    ("text", "columns"), [("", 0), ("step 1", 6), ("学習中", 6), ("e\u0301tape", 5), ("█▌ 60%", 6), ("한 2/3", 6)]
)
def test_the_width_of_a_text(text, columns):
    assert width(text) == columns


@pytest.mark.parametrize(
    ("text", "columns", "shown"), [("step 1", 4, "step"), ("学習中", 5, "学習"), ("学習中", 6, "学習中"), ("", 3, "")]
)
def test_a_text_is_cut_to_columns(text, columns, shown):
    assert cut(text, columns) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("60%|\x1b[32m█████     \x1b[0m| 3/5", "60%|█████     | 3/5"),
        ("\x1b[A\x1b[2Kinner\x1b[38;5;196m!\x1b7", "inner!"),
        ("bell\x07 and tab\t.", "bell and tab."),
    ],
)
def test_colours_and_movements_are_left_out(text, shown):
    assert without_escapes(text) == shown

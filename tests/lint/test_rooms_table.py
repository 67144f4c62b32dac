from pathlib import Path

import pytest
import rooms_table
from room_list import CPP, PYTHON, Room

ROOT = Path(__file__).resolve().parents[2]
TABLE = {
    "headway": Room("include/headway/", "the public API", frozenset()),
    "core": Room("src/core/", "values", frozenset({"headway"})),
}
OTHER = {"sim": Room("sim/", "the simulator", frozenset({"core", "headway"}))}
TEXT = """
## Rooms

| room | what is in it | may use |
| --- | --- | --- |
| `include/headway/` | the public API | none |
| `src/core/` | values | headway |
| `sim/` | the simulator | core, headway |

## Laws
"""


def test_a_table_that_says_the_same_passes() -> None:
    assert list(rooms_table.check(TEXT, TABLE, OTHER)) == []


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("| values | headway |", "| values | none |", "the row of `src/core/` as: | `src/core/` | values | headway |"),
        ("| the simulator |", "| a game |", "the row of `sim/` as: | `sim/` | the simulator | core, headway |"),
        ("| `src/core/` | values | headway |\n", "", "have no row for `src/core/`"),
        ("## Laws", "| `src/cellar/` | wine | core |\n## Laws", "`src/cellar/` is no room"),
    ],
)
def test_a_table_that_says_something_else_is_named(old: str, new: str, reason: str) -> None:
    (message,) = rooms_table.check(TEXT.replace(old, new), TABLE, OTHER)
    assert reason in message


def test_the_paper_agrees_with_the_lint() -> None:
    assert list(rooms_table.check((ROOT / rooms_table.PAPER).read_text(), CPP, PYTHON)) == []

from pathlib import Path

import pytest
import rooms
import rooms_table

ROOT = Path(__file__).resolve().parents[2]
TABLE = {"headway": set(), "core": {"headway"}, "sim": {"core", "headway"}}
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
    assert list(rooms_table.check(TEXT, TABLE)) == []


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("| values | headway |", "| values | none |", "`src/core/` may use 'none' here, and 'headway' in rooms.py"),
        ("| `src/core/` | values | headway |\n", "", "has no row for `src/core/`"),
        ("## Laws", "| `src/cellar/` | wine | core |\n## Laws", "`src/cellar/` is no room"),
    ],
)
def test_a_table_that_says_something_else_is_named(old: str, new: str, reason: str) -> None:
    (message,) = rooms_table.check(TEXT.replace(old, new), TABLE)
    assert reason in message


def test_the_paper_agrees_with_the_lint() -> None:
    assert list(rooms_table.check((ROOT / rooms_table.PAPER).read_text(), rooms.ROOMS)) == []

from pathlib import Path

import pytest
import python_rooms
import rooms
from room_list import CPP, PYTHON, Room

ROOT = Path(__file__).resolve().parents[2]
TABLE = {
    "_low": Room("python/headway/_low/", "values", frozenset()),
    "_high": Room("python/headway/_high/", "decisions", frozenset({"_low"})),
    "_high.deep": Room("python/headway/_high/deep/", "a room in a room", frozenset()),
    "": Room("python/headway/__init__.py", "names", frozenset({"_high"})),
}


def found(root: Path, **texts: str) -> list[str]:
    """What the check says of a package with these modules; ``__`` stands for a dot."""
    files = []
    for name, text in texts.items():
        file = Path("python/headway", *name.split("__")).with_suffix(".py")
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_text(text)
        files.append(file)
    return list(python_rooms.check(root, files, TABLE))


@pytest.mark.parametrize(
    "text",
    [
        "from headway._low import value",
        "import headway._low.value",
        "from headway._low.value import x",
        "def f():\n    from headway._low import value",
        "import os, json",
        "from headway._high import other",
    ],
)
def test_what_the_table_allows_passes(tmp_path: Path, text: str) -> None:
    assert found(tmp_path, _low__value="x = 1", _high__other="", _high__thing=text) == []


@pytest.mark.parametrize(
    "text",
    [
        "from headway._high import thing",
        "from headway._high.thing import x",
        "import headway._high.thing",
        "def f():\n    from headway._high import thing",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from headway._high import thing",
        "import importlib\nthing = importlib.import_module('headway._high.thing')",
        "class C:\n    def f(self):\n        import headway._high.thing as thing",
    ],
)
def test_an_import_up_the_table_is_named_wherever_it_stands(tmp_path: Path, text: str) -> None:
    (message,) = found(tmp_path, _low__value=text, _high__thing="x = 1")
    assert message.startswith("python/headway/_low/value.py:")
    assert "_low may not import _high (headway._high.thing); it may use: nothing" in message


def test_a_room_in_a_room_is_one_by_itself(tmp_path: Path) -> None:
    (message,) = found(tmp_path, _high__thing="from headway._high.deep import x", _high__deep__x="")
    assert "_high may not import _high.deep" in message


def test_nobody_imports_the_package_itself(tmp_path: Path) -> None:
    (message,) = found(tmp_path, _high__thing="import headway")
    assert "_high may not import headway" in message


def test_a_module_without_a_room_is_named(tmp_path: Path) -> None:
    (message,) = found(tmp_path, _cellar__wine="")
    assert "headway._cellar.wine is in no room" in message


def test_a_circle_within_a_room_is_named_with_its_modules(tmp_path: Path) -> None:
    (message,) = found(
        tmp_path,
        _low__a="from headway._low import b",
        _low__b="def f():\n    from headway._low.c import x",
        _low__c="from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import headway._low.a",
    )
    assert message == (
        "python/headway/_low/c.py:3: a circle of imports: "
        "headway._low.a -> headway._low.b -> headway._low.c -> headway._low.a"
    )


@pytest.mark.parametrize("table", [CPP, PYTHON], ids=["cpp", "python"])
def test_rooms_use_only_those_above_them_in_the_table(table: dict[str, Room]) -> None:
    above: set[str] = set()
    for name, room in table.items():
        assert room.uses <= above, name
        above.add(name)


def test_every_room_of_python_is_there() -> None:
    for name, room in PYTHON.items():
        if name != "_core":  # It is built.
            assert (ROOT / room.folder).exists(), name


def test_the_tables_are_printed_as_markdown() -> None:
    lines = rooms.table(TABLE.values()).splitlines()
    assert lines[0] == "| room | what is in it | may use |"
    assert lines[3] == "| `python/headway/_high/` | decisions | _low |"

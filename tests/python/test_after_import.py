"""What is done to a module right after its import."""

import importlib.util
import sys

import pytest
from headway._values.after_import import after_import


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A package with a module, which nobody has imported."""
    package = tmp_path / "later_package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "part.py").write_text("value = 1\n\n\ndef double():\n    return 2 * value\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    yield "later_package.part"
    for name in ("later_package.part", "later_package"):
        sys.modules.pop(name, None)


def change(module):
    module.value += 10


def test_a_module_is_changed_when_it_is_imported(module):
    finders = list(sys.meta_path)
    after_import(module, change)
    after_import(module, change)
    assert importlib.util.find_spec(module) is not None
    assert module not in sys.modules
    part = importlib.import_module(module)
    assert part.double() == 42
    assert part.__spec__.origin.endswith("part.py")
    assert sys.meta_path == finders, "nothing stays behind"


def test_a_module_that_is_there_is_changed_at_once(module):
    part = importlib.import_module(module)
    finders = list(sys.meta_path)
    after_import(module, change)
    assert part.value == 11
    assert sys.meta_path == finders


def test_a_module_that_is_not_installed_is_missing_as_ever(module):
    after_import("later_package.no_such", change)
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'later_package\.no_such'"):
        importlib.import_module("later_package.no_such")

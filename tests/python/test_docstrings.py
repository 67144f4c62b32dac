"""The API reference, which is made of docstrings: every public name has an example, and the
examples are so.
"""

import doctest
import importlib
import inspect
import os
import sys
from pathlib import Path

import headway
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))

from public_modules import public_modules


def offered():
    """Each public function and class once, by the shortest name that it is offered under."""
    found = {}
    for module_name in sorted(public_modules("headway"), key=len):
        module = importlib.import_module(module_name)
        for name in getattr(module, "__all__", ()):
            thing = getattr(module, name)
            if inspect.isclass(thing) or inspect.isfunction(thing):
                found.setdefault(id(thing), (f"{module_name}.{name}", thing))
    return [pytest.param(thing, id=name) for name, thing in found.values()]


OFFERED = offered()


@pytest.mark.parametrize("thing", OFFERED)
def test_a_public_name_has_an_example(thing):
    words = inspect.getdoc(thing) or ""
    assert "Example:" in words
    if inspect.isfunction(thing) and inspect.signature(thing).parameters:
        assert "Args:" in words


@pytest.mark.skipif(os.environ.get("HEADWAY_WORKER_START") == "exec", reason="the same code either way; once is enough")
@pytest.mark.parametrize("thing", OFFERED)
def test_its_examples_are_so(thing, tmp_path, monkeypatch):
    monkeypatch.setenv("HEADWAY_STORAGE", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    # What as_ray() changes.
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    headway.shutdown()
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    told = []
    for example in doctest.DocTestFinder(recurse=True).find(thing, globs=vars(inspect.getmodule(thing)).copy()):
        runner.run(example, out=told.append)
    headway.shutdown()
    for name in [name for name in sys.modules if name.partition(".")[0] == "ray"]:
        del sys.modules[name]
    assert runner.failures == 0, "".join(told)

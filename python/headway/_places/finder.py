"""The one way to answer an import without a file: a finder in front of all others, for the names
that it knows.

The table's is there from ``import headway`` on, so workers and other processes have it too, forked
or not. It does without the base classes of ``importlib.abc``, whose import takes longer than all of
this package.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from types import CodeType, ModuleType
from typing import Protocol

from headway._places.missing import explanation
from headway._places.table import PLACES, Place, is_package


class PlaceLoader(Protocol):
    """What makes a module, as ``importlib`` asks for it."""

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """The module; None for a new one."""

    def exec_module(self, module: ModuleType) -> None:
        """Fills it."""


class PlacesFinder:
    """Answers with what ``loader_of`` gives for a module's full name; None leaves the name to other
    finders.

    Args:
        loader_of: From a full name to its loader.
    """

    def __init__(self, loader_of: Callable[[str], PlaceLoader | None]):
        self._loader_of = loader_of

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module's spec; None for a name that is not this finder's."""
        loader = self._loader_of(fullname)
        return spec_from_loader(fullname, loader) if loader is not None else None  # type: ignore[arg-type]

    def install(self) -> None:
        """Puts it first, once: neither an installed package nor an old folder is taken for the
        module.
        """
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)


class _RowLoader:
    """Makes a module of a row of the table, as if its file had the imports that the row says."""

    def __init__(self, place: Place):
        self._place = place

    def create_module(self, spec: ModuleSpec) -> None:
        """None: a new module will do."""

    def exec_module(self, module: ModuleType) -> None:
        exec(self.get_code(module.__name__), module.__dict__)

    def is_package(self, fullname: str) -> bool:
        return is_package(fullname)

    def get_code(self, fullname: str) -> CodeType:
        """For ``python -m``, which runs a module by its code."""
        return compile(self.get_source(fullname), f"<headway: {fullname}>", "exec")

    def get_source(self, fullname: str) -> str:
        """For ``inspect``, and for tracebacks."""
        return self._place.source()


def _loader_of(fullname: str) -> PlaceLoader | None:
    place = PLACES.get(fullname)
    if place is not None:
        return _RowLoader(place)
    words = explanation(fullname)
    if words is not None:
        # Not its own name: `from headway.tune import Tuner` looks for a module `headway.tune.Tuner`
        # and swallows an error of that name, and with it the words.
        raise ModuleNotFoundError(words, name=fullname.rpartition(".")[0])
    return None


#: Answers for the modules of the table, and says why others are not there.
TABLE_FINDER = PlacesFinder(_loader_of)

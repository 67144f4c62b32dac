"""Imports of ``ray.x`` answered with ``headway.x``: the same module object under a second name."""

from __future__ import annotations

import importlib
from importlib.machinery import ModuleSpec
from types import ModuleType

from headway._places.finder import PlacesFinder
from headway._places.missing import explanation
from headway._ray import core_names

_SHARED = ("air", "data", "train")
"""What Headway has of Ray. All else is Ray Core's, or of other libraries of Ray's."""


class _Alias:
    def __init__(self, name: str):
        self._name = name
        self._own = f"headway.{name.removeprefix('ray.')}"
        self._own_spec: ModuleSpec | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        try:
            module = importlib.import_module(self._own)
        except ModuleNotFoundError as error:
            if error.name is None or not f"{self._own}.".startswith(f"{error.name}."):
                raise  # It is there, and misses a library.
            # Not the alias's name: `from ray import x` swallows an error of that one, and with it
            # the words.
            raise ModuleNotFoundError(_words(self._name), name=self._own) from None
        self._own_spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        # It ran when it was imported under its own name; the import system has just written the
        # alias's spec into it.
        module.__spec__ = self._own_spec


def _words(name: str) -> str:
    """Why there is no such module, and what to do."""
    own = f"headway.{name.removeprefix('ray.')}"
    words = explanation(own)
    if words is not None:
        return name + words.removeprefix(own)
    if name.split(".")[1] in _SHARED:
        return f"{name}: Headway has no such module; docs/compatibility.md lists what there is"
    return core_names.explanation(name.removeprefix("ray."))


#: Answers for every module below ``ray``. That there is no such module is said when it is loaded,
#: in words.
FINDER = PlacesFinder(lambda name: _Alias(name) if name.startswith("ray.") else None)

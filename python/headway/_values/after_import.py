"""What is done to a module right after its import, whoever imports it: a worker factory may have
done so before the rank was forked, or the rank's training function does later.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


def after_import(name: str, action: Callable[[Any], None]) -> None:
    """Calls ``action`` with the module ``name``: now if this process has it, else when it is
    imported.
    """
    module = sys.modules.get(name)
    if module is not None:
        action(module)
    else:
        sys.meta_path.insert(0, _Finder(name, action))


class _Finder(MetaPathFinder):
    """Finds one module, as those behind it do, until the module has been imported."""

    def __init__(self, name: str, action: Callable[[Any], None]):
        self._name = name
        self._action = action
        self._asks_others = False

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> Any:
        if fullname != self._name or self._asks_others:
            return None
        self._asks_others = True
        try:
            spec: ModuleSpec | None = importlib.util.find_spec(fullname)
        finally:
            self._asks_others = False
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                execute(module)
                sys.meta_path.remove(self)
                self._action(module)

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec

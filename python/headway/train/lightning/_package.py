"""Lightning, which is installed under either of two names."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from types import ModuleType

_NAMES = ("lightning.pytorch", "pytorch_lightning")


def lightning(module: str = "") -> ModuleType:
    """The package that this process has imported, or else the one that is installed. Where that is
    true of both, ``lightning``.

    Args:
        module: A module of it instead, such as ``"strategies"``.

    Raises:
        ImportError: neither is installed.
    """
    name = _name()
    if name is None:
        raise ImportError("headway.train.lightning needs Lightning, which is not installed: pip install lightning")
    return importlib.import_module(f"{name}.{module}" if module else name)


def needed_in_workers() -> list[str]:
    """What worker factories import for a training function that names this package."""
    name = _name()
    return [name] if name is not None else []


def _name() -> str | None:
    imported = (name for name in _NAMES if sys.modules.get(name) is not None)
    installed = (name for name in _NAMES if importlib.util.find_spec(name.partition(".")[0]) is not None)
    return next(imported, None) or next(installed, None)

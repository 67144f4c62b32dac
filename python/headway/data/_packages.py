"""Packages that only some readers and writers need."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any


def check_installed(user: str, module: str, package: str | None = None) -> None:
    """Raises an error with the way out where a package is missing.

    Args:
        user: What needs it.
        module: What is imported.
        package: What is installed; None: of the same name.

    Raises:
        ModuleNotFoundError: it is not installed.
    """
    if importlib.util.find_spec(module) is None:
        name = package or module
        raise ModuleNotFoundError(f"{user} needs the package {name}: pip install {name}", name=module)


def needed(user: str, module: str, package: str | None = None) -> Any:
    """The module; see :func:`check_installed`."""
    check_installed(user, module, package)
    return importlib.import_module(module)

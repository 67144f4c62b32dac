"""Packages that only some integrations, readers and writers need."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any


def check_installed(user: str, module: str, package: str | None = None) -> None:
    """Refuses ``user`` where a package is not installed; nothing is imported.

    Args:
        user: What needs it.
        module: What would be imported.
        package: What pip calls it; None: the same.

    Raises:
        ModuleNotFoundError: with the command that installs it.
    """
    if importlib.util.find_spec(module) is None:
        name = package or module
        raise ModuleNotFoundError(
            f"{user} needs the package {name}, which is not installed; run: pip install {name}", name=module
        )


def needed(user: str, module: str, package: str | None = None) -> Any:
    """The module; see :func:`check_installed`."""
    check_installed(user, module, package)
    return importlib.import_module(module)

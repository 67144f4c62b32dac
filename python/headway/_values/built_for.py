"""Why the compiled part of Headway cannot be imported."""

from __future__ import annotations

import importlib.machinery
import pathlib
import platform
import sys


def why_no_core() -> str:
    """Names the Python that Headway was built for, where that is another one than this."""
    folder = pathlib.Path(__file__).parents[1]
    this = f"{platform.python_implementation()} {platform.python_version()} ({sys.executable})"
    built = sorted(file.name for file in folder.glob("_core.*") if file.suffix in (".so", ".pyd"))
    if not built:
        return f"Headway's compiled part is not in {folder}: build it with `make`, or `pip install` it"
    return (
        f"Headway in {folder} was built for another Python: it has {', '.join(built)}, and this is {this}, which looks "
        f"for _core{importlib.machinery.EXTENSION_SUFFIXES[0]}. Use the Python that Headway was built with, or build "
        f"it for this one: `make PYTHON={sys.executable}`, or `pip install`"
    )

"""Which modules of ``headway`` are public, and which of them get a page in the reference."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

from headway._places.table import public_places


def public_modules(package: str) -> list[str]:
    """The package and all modules below it, with a file or without one, but for private ones."""
    return sorted({*_modules_with_files(package), *(name for name in public_places() if name.startswith(package))})


def modules_with_pages(package: str) -> list[str]:
    """Modules with a file that offer a name of no package above: each name has one page."""
    pages: list[str] = []
    offered: set[int] = set()
    for name in sorted(set(_modules_with_files(package)), key=lambda name: (name.count("."), name)):
        module = importlib.import_module(name)
        new = {id(getattr(module, offer)) for offer in getattr(module, "__all__", ())} - offered
        if new:
            pages.append(name)
            offered |= new
    return sorted(pages)


def _modules_with_files(package: str) -> Iterator[str]:
    yield package
    module = importlib.import_module(package)
    for found in pkgutil.iter_modules(getattr(module, "__path__", ())):
        if not found.name.startswith("_"):
            yield from _modules_with_files(f"{package}.{found.name}")

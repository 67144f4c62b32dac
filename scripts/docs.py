"""Writes the API reference, one HTML page a public module: scripts/docs.py TARGET_FOLDER."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Iterator
from pathlib import Path

import headway
import pdoc
import pdoc.render


def public_modules(package: str) -> Iterator[str]:
    """The package and all modules below it, but for private ones."""
    yield package
    module = importlib.import_module(package)
    for found in pkgutil.iter_modules(getattr(module, "__path__", ())):
        if not found.name.startswith("_"):
            yield from public_modules(f"{package}.{found.name}")


def main() -> None:
    """Renders everything; a docstring that cannot be read, or a module that cannot be imported, ends it."""
    target = Path(sys.argv[1])
    pdoc.render.configure(docformat="google", footer_text=f"Headway {headway.__version__}", search=True)
    pdoc.pdoc(*public_modules("headway"), output_directory=target)
    print(f"The API reference is in {target / 'index.html'}")


if __name__ == "__main__":
    main()

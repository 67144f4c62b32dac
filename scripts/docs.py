"""Writes the API reference, one HTML page a public module: scripts/docs.py TARGET_FOLDER."""

from __future__ import annotations

import html
import importlib
import pkgutil
import sys
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path

import headway
import pdoc
import pdoc.render
from headway._places.table import public_places


def public_modules(package: str) -> list[str]:
    """The package and all modules below it, with a file or without one, but for private ones."""
    return sorted({*_modules_with_files(package), *(name for name in public_places() if name.startswith(package))})


def _modules_with_files(package: str) -> Iterator[str]:
    yield package
    module = importlib.import_module(package)
    for found in pkgutil.iter_modules(getattr(module, "__path__", ())):
        if not found.name.startswith("_"):
            yield from _modules_with_files(f"{package}.{found.name}")


def write(modules: Iterable[str], target: Path) -> None:
    """One page a module, with an index and a search."""
    # Names are shown under the module that people import; those of their annotations need not be
    # there, and stay text.
    warnings.filterwarnings("ignore", message="Error parsing type annotation")
    warnings.filterwarnings("ignore", message="Cannot determine where .* is taken from")
    # A package brings the modules below it, which are named by themselves too.
    warnings.filterwarnings("ignore", message=".* a module with this name has already been added")
    pdoc.render.configure(docformat="google", footer_text=f"Headway {headway.__version__}", search=True)
    names = list(modules)
    pdoc.pdoc(*names, output_directory=target)
    # pdoc's own leads to the package alone, which names only what its __all__ has.
    rows = "".join(_index_row(name) for name in names)
    title = f"Headway {headway.__version__}"
    (target / "index.html").write_text(
        f"<!doctype html><meta charset='utf-8'><title>{title}</title><h1>{title}</h1><ul>{rows}</ul>"
    )


def _index_row(name: str) -> str:
    words = (importlib.import_module(name).__doc__ or "").strip().partition("\n")[0]
    return f"<li><a href='{name.replace('.', '/')}.html'>{name}</a>: {html.escape(words)}</li>"


def main() -> None:
    """Writes all of it; a module that cannot be imported ends it."""
    target = Path(sys.argv[1])
    write(public_modules("headway"), target)
    print(f"The API reference is in {target / 'index.html'}")


if __name__ == "__main__":
    main()

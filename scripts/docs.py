"""Writes the site of guides and references: scripts/docs.py TARGET_FOLDER.

Pages keep the places that they have in the tree, so their links hold. Source files that a page
links to become pages as well, and each public module of Python gets one.
"""

from __future__ import annotations

import importlib
import json
import logging
import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any

from public_modules import modules_with_pages

ROOT = Path(__file__).parents[1]
PAGES = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")
FOLDERS = ("docs", "examples", "bench")
LANGUAGES = {".py": "python", ".cpp": "cpp", ".txt": "cmake", ".hpp": "cpp"}
# A link to a file or folder of the tree that is no page.
SOURCE_LINK = re.compile(r"\]\(((?!https?:)[^)#\s]+\.(?:py|cpp|hpp|txt|ipynb)|LICENSE)\)")
# Folders that pages link to, with what their pages are called.
LINKED_FOLDERS = {"bench": "Programs of the benchmarks", "examples/cpp": "Examples in C++"}
FOLDER_LINK = re.compile(r"\]\(((?:\.\./)?(?:bench|cpp))\)")


def stage(target: Path) -> None:
    """Copies the pages of the tree to a folder, and examples and benchmarks as pages."""
    shutil.rmtree(target, ignore_errors=True)
    for page in PAGES:
        _stage_page(ROOT / page, target / page)
    for folder in FOLDERS:
        for file in sorted((ROOT / folder).rglob("*")):
            place = target / file.relative_to(ROOT)
            if file.suffix == ".md":
                _stage_page(file, place)
            elif file.suffix in (".svg", ".png"):
                shutil.copy(file, place)
            elif file.suffix == ".ipynb":
                _stage_notebook(file, place)
            elif file.suffix in LANGUAGES:
                _stage_source(file, place)
    _write(target / "LICENSE.md", f"# License\n\n```\n{(ROOT / 'LICENSE').read_text()}\n```\n")
    for folder, title in LINKED_FOLDERS.items():
        _write(target / folder / "README.md", f"# {title}\n\n" + _list_of_pages(target / folder))


def stage_references(target: Path) -> list[str]:
    """A page for each public module of Python, and one that names them; returns their places."""
    rows = []
    for name in modules_with_pages("headway"):
        words = (importlib.import_module(name).__doc__ or "").strip().partition("\n")[0]
        _write(target / "api" / f"{name}.md", f"# {name}\n\n::: {name}\n")
        rows.append(f"| [{name}]({name}.md) | {words} |\n")
    _write(target / "api" / "README.md", "# Python API\n\n| module | contents |\n| --- | --- |\n" + "".join(rows))
    return ["api/README.md", *sorted(f"api/{page.name}" for page in (target / "api").glob("headway*.md"))]


def build(pages: Path, target: Path) -> None:
    """Builds the site. Links that lead nowhere, or pages outside the contents, are errors."""
    os.environ["NO_MKDOCS_2_WARNING"] = "1"
    from mkdocs.commands.build import build as build_site
    from mkdocs.config import load_config

    stage(pages)
    references = stage_references(pages)
    config: Any = load_config(str(ROOT / "mkdocs.yml"), docs_dir=str(pages), site_dir=str(target))
    for section in config.nav:
        if "Python API" in section:
            section["Python API"] = references
    config.plugins.on_startup(command="build", dirty=False)
    build_site(config)


def _list_of_pages(folder: Path) -> str:
    pages = sorted(page.relative_to(folder) for page in folder.rglob("*.md"))
    return "".join(f"- [{str(page).removesuffix('.md')}]({page})\n" for page in pages)


def _stage_page(file: Path, place: Path) -> None:
    text = SOURCE_LINK.sub(r"](\1.md)", file.read_text())
    _write(place, FOLDER_LINK.sub(r"](\1/README.md)", text))


def _stage_notebook(file: Path, place: Path) -> None:
    text = ""
    for cell in json.loads(file.read_text())["cells"]:
        source = "".join(cell["source"])
        text += f"```python\n{source}\n```\n\n" if cell["cell_type"] == "code" else f"{source}\n\n"
    _write(place.with_name(file.name + ".md"), text)


def _stage_source(file: Path, place: Path) -> None:
    fence = f"```{LANGUAGES[file.suffix]}\n{file.read_text()}\n```\n"
    _write(place.with_name(file.name + ".md"), f"# {file.relative_to(ROOT)}\n\n{fence}")


def _write(place: Path, text: str) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)


def main() -> None:
    logging.basicConfig(format="%(levelname)s: %(message)s", level=logging.WARNING)
    target = Path(sys.argv[1]).resolve()
    build(target.with_name(target.name + "-pages"), target)
    print(f"The guides and references are in {target / 'index.html'}")
    print(f"With the search, in a browser: python3 -m http.server --bind 127.0.0.1 --directory {target}")


if __name__ == "__main__":
    main()

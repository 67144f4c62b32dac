"""Makes docstrings what the site's reference reads: an extension of griffe.

Roles of Sphinx become code, examples get fences, and arguments that share a description stay one
row, also when their names take two lines.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from typing import Any

import griffe

ROLE = re.compile(r":(?:attr|class|data|func|meth|mod|exc):`~?([\w.]+)`")
NAMES = re.compile(r"( *)(\w+, )*\w+,$")


class Docstrings(griffe.Extension):
    """Rewrites each docstring as it is read."""

    def __init__(self) -> None:
        super().__init__()
        # Arguments that are named together, or taken as keywords, have no annotation of that name.
        for handler in ("griffe", "mkdocs.plugins.griffe"):
            logging.getLogger(handler).addFilter(lambda record: "No type or annotation" not in record.getMessage())

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Called for modules, classes, functions and attributes below the package."""
        if obj.docstring is not None:
            text = "\n".join(_joined_names(obj.docstring.value.splitlines()))
            obj.docstring.value = ROLE.sub(r"`\1`", text).replace("\nExample:\n", "\nExamples:\n")

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Called for the package itself."""
        self.on_object(obj=pkg)


def _joined_names(lines: list[str]) -> Iterator[str]:
    """Lines of names alone are joined with the lines below that continue them."""
    text = ""
    for line in lines:
        if NAMES.match(text) or (text and line.lstrip().startswith(":class:")):
            text = f"{text} {line.strip()}"
        else:
            yield text
            text = line
    yield text

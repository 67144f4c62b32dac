#!/usr/bin/env python3
"""The size rule: a source file has at most 400 lines, a function at most 60. There is no list of
exceptions.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import cpp_functions
import sources

FILE_LINES_MAX = 400
FUNCTION_LINES_MAX = 60


def check(root: Path, file: Path) -> Iterator[str]:
    """One message for the file when it is too long, and one for each function that is."""
    text = (root / file).read_text()
    lines = len(text.splitlines())
    if lines > FILE_LINES_MAX:
        yield f"{file}:1: the file has {lines} lines, {FILE_LINES_MAX} are allowed; split it by concept"
    functions = _python_functions(text) if file.suffix == ".py" else cpp_functions.functions(text)
    for name, first, last in functions:
        length = last - first + 1
        if length > FUNCTION_LINES_MAX:
            yield f"{file}:{first}: {name} has {length} lines, {FUNCTION_LINES_MAX} are allowed; split it"


def _python_functions(text: str) -> Iterator[tuple[str, int, int]]:
    """Name, first and last line of each function, without its docstring: that is for the reader's
    benefit.
    """
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.lineno
            if ast.get_docstring(node, clean=False) is not None:
                docstring = node.body[0]
                first += (docstring.end_lineno or docstring.lineno) - docstring.lineno + 1
            yield node.name, first, node.end_lineno or node.lineno


def main() -> int:
    """Checks the tree that this script lies in."""
    root = Path(__file__).resolve().parents[2]
    return sources.report(
        "size", check, root, sources.tracked_files(root, sources.CPP_SUFFIXES | sources.PYTHON_SUFFIXES)
    )


if __name__ == "__main__":
    sys.exit(main())

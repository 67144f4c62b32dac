"""The comments and strings of a source file, by their offsets. Shared by the checks of prose and of
comments.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import cpp_functions

_PYTHON_STRINGS = {tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}


@dataclass(frozen=True)
class Part:
    """A comment, a docstring or another string: ``text[start:end]`` of its file, with quotes and
    comment marks.
    """

    kind: str  # "comment", "docstring" or "string"
    start: int
    end: int


def parts(file: Path, text: str) -> list[Part]:
    """The parts of a C++ or Python source, in the order of the text."""
    return list(_python_parts(text) if file.suffix == ".py" else _cpp_parts(text))


def _cpp_parts(text: str) -> Iterator[Part]:
    for match in cpp_functions.NO_CODE.finditer(text):
        if match[0].startswith(("//", "/*")):
            yield Part("comment", match.start(), match.end())
        elif match[0][0] in 'R"':
            yield Part("string", match.start(), match.end())


def _python_parts(text: str) -> Iterator[Part]:
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    docstrings = {
        (node.value.lineno, len(lines[node.value.lineno - 1].encode()[: node.value.col_offset].decode()))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    }
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        start, end = (starts[line - 1] + column for line, column in (token.start, token.end))
        if token.type == tokenize.COMMENT:
            yield Part("comment", start, end)
        elif token.type in _PYTHON_STRINGS:
            yield Part("docstring" if token.start in docstrings else "string", start, end)

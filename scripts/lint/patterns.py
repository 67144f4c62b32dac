#!/usr/bin/env python3
r"""No pattern in a test has a `|` at its top: `for 0\.[5-9]|[1-9]\d* s` holds for any text with a
digit and ` s` in it.

An alternation belongs into a group, which says how far it reaches: `for (?:0\.[5-9]|[1-9]\d*) s`.
The check looks at the `match` of `pytest.raises` and `pytest.warns`, and at what the functions of
`re` are given.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import sources

OF_RE = {"search", "match", "fullmatch", "findall", "finditer", "compile", "split", "sub"}


def pattern_text(node: ast.expr) -> str | None:
    """The pattern, as far as it is written there; what is put into an f-string is left out. None:
    it is no text.
    """
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) for part in node.values if isinstance(part, ast.Constant))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        sides = pattern_text(node.left), pattern_text(node.right)
        return None if sides == (None, None) else "".join(side or "" for side in sides)
    return None


def patterns(tree: ast.AST) -> Iterator[ast.expr]:
    """The expressions that are patterns."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        owner = node.func.value.id if isinstance(node.func.value, ast.Name) else ""
        if owner == "re" and node.func.attr in OF_RE and node.args:
            yield node.args[0]
        elif owner == "pytest" and node.func.attr in {"raises", "warns"}:
            yield from (keyword.value for keyword in node.keywords if keyword.arg == "match")


def has_top_level_bar(pattern: str) -> bool:
    """Whether a `|` stands outside of every group and every set of characters."""
    depth, place, set_began = 0, 0, -1
    while place < len(pattern):
        letter = pattern[place]
        if letter == "\\":
            place += 1
        elif set_began >= 0:
            # A `]` that comes first is one of the set.
            if letter == "]" and pattern[set_began + 1 : place] not in ("", "^"):
                set_began = -1
        elif letter == "[":
            set_began = place
        elif letter == "|" and depth == 0:
            return True
        else:
            depth += {"(": 1, ")": -1}.get(letter, 0)
        place += 1
    return False


def check(root: Path, file: Path) -> Iterator[str]:
    """One message for each such pattern."""
    for node in patterns(ast.parse((root / file).read_text())):
        text = pattern_text(node)
        if text is not None and has_top_level_bar(text):
            yield f"{file}:{node.lineno}: a `|` at the top of a pattern; put the alternation into a group: {text}"


def main() -> int:
    """Checks the tree that this script lies in."""
    root = Path(__file__).resolve().parents[2]
    return sources.report("patterns", check, root, sources.tracked_files(root, sources.PYTHON_SUFFIXES, ["tests"]))


if __name__ == "__main__":
    sys.exit(main())

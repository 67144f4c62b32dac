#!/usr/bin/env python3
"""No binding keeps Python's lock (the GIL) while it may block.

What a binding calls of a room that may block (`storage::`, `driver::`, `worker::`, `node::`,
`cluster::`) is called within `without_gil` or below a `GilReleased`, the binding has
`nb::call_guard<GilReleased>()`, or the comment above it says why not: `// Keeps the GIL:
...`. What raises (`unwrap`) needs the lock, so it does not stand below such a guard.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import sources

BINDING = re.compile(r"(?:\bmodule|^\s*|\bsession)\.(?:def|def_prop_ro|def_prop_rw|def_static)\(")
MAY_BLOCK = re.compile(r"\b(storage|driver|worker|node|cluster)::|\bself\b|->")
RELEASES = re.compile(r"\bGilReleased\b|\bwithout_gil\b|\bget_shared\b|\bWithoutGil\b")
GUARD = re.compile(r"call_guard<GilReleased>|\bWithoutGil\(\)")
EXEMPT = "// Keeps the GIL: "
FUNCTION = re.compile(r"^(?:[\w:<>,&*\s]+?)\b(\w+)\([^;{}]*\)\s*(?:const\s*)?\{$", re.MULTILINE)


def closing(text: str, opening: int) -> int:
    """The place after the bracket that closes the one at `opening`; strings and characters are
    skipped.
    """
    depth = 0
    for match in re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\'|[(){}]').finditer(text, opening):
        if match.group() in "({":
            depth += 1
        elif match.group() in ")}":
            depth -= 1
            if depth == 0:
                return match.end()
    return len(text)


def functions(text: str) -> dict[str, str]:
    """The bodies of a file's functions, by name."""
    return {found.group(1): text[found.end() : closing(text, found.end() - 1)] for found in FUNCTION.finditer(text)}


def check(root: Path, file: Path) -> Iterator[str]:
    """One message for each binding that may block with the lock, or raises without it."""
    text = (root / file).read_text()
    bodies = functions(text)
    lines = text.splitlines()
    for found in re.finditer(BINDING.pattern, text, re.MULTILINE):
        end = closing(text, found.end() - 1)
        binding = text[found.start() : end]
        named = " ".join(bodies.get(name, "") for name in re.findall(r"&(\w+)\b", binding))
        number = text.count("\n", 0, found.end()) + 1
        name = re.search(r'"(\w+)"', binding)
        what = f"{file}:{number}: the binding {name.group(1) if name else 'of a constructor'}"
        guarded = GUARD.search(binding)
        if guarded and re.search(r"\bunwrap\(", binding + named):
            yield f"{what} raises without Python's lock: call_guard holds for all of it; use without_gil"
        exempt = EXEMPT.strip() in "".join(lines[max(0, number - 3) : number - 1])
        if MAY_BLOCK.search(binding + named) and not RELEASES.search(binding + named) and not exempt:
            yield f"{what} may block and keeps Python's lock: without_gil, a call_guard, or `{EXEMPT}...` above it"


def main() -> int:
    """Checks the tree that this script lies in."""
    root = Path(__file__).resolve().parents[2]
    return sources.report("bindings", check, root, sources.tracked_files(root, {".cpp"}, ["src/bindings"]))


if __name__ == "__main__":
    sys.exit(main())

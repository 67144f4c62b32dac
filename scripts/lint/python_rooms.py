"""Which Python package may import which, wherever the import stands, and that no imports go in a
circle.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from room_list import PYTHON, Room

PACKAGE = "headway"
SOURCES = Path("python")


class Import(NamedTuple):
    """One import of a module of ours.

    Attributes:
        file: Where it stands.
        line: Its line.
        importer: The module that imports.
        imported: The module that is imported.
    """

    file: Path
    line: int
    importer: str
    imported: str


def check(root: Path, files: Iterable[Path], rooms: Mapping[str, Room] = PYTHON) -> Iterator[str]:
    """One message for each import that the table does not allow, each file without a room, and each
    circle.
    """
    files = list(files)
    modules = {module_of(file): file for file in files}
    found = [each for file in files for each in _imports(root, file, modules)]
    for module, file in modules.items():
        if room_of(module, rooms) is None:
            yield f"{file}:1: {module} is in no room that scripts/lint/room_list.py knows; say there what it may use"
    for each in dict.fromkeys(found):
        yield from _violations(each, rooms)
    yield from _circles(found)


def module_of(file: Path) -> str:
    """The dotted name of the module in a file."""
    parts = file.relative_to(SOURCES).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room_of(module: str, rooms: Mapping[str, Room]) -> str | None:
    """The room with the longest name that begins the module's; the package itself is in the room
    without a name.
    """
    if module in (PACKAGE, f"{PACKAGE}.__main__"):
        return ""
    name = module.removeprefix(f"{PACKAGE}.")
    while name and name not in rooms:
        name = name.rpartition(".")[0]
    return name or None


def _imports(root: Path, file: Path, modules: Mapping[str, Path]) -> Iterator[Import]:
    """Every import of ours in a file, also in functions, for type checkers alone, and by
    importlib.
    """
    importer = module_of(file)
    for node in ast.walk(ast.parse((root / file).read_text())):
        for name in _named(node):
            if name == PACKAGE or name.startswith(f"{PACKAGE}."):
                yield Import(file, getattr(node, "lineno", 1), importer, _module(name, modules))


def _named(node: ast.AST) -> list[str]:
    """The dotted names that a node imports, a module's or those of what is in it."""
    if isinstance(node, ast.Import):
        return [each.name for each in node.names]
    if isinstance(node, ast.ImportFrom):
        return [f"{node.module}.{each.name}" for each in node.names]
    if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module") and node.args:
        name = node.args[0]
        return [name.value] if isinstance(name, ast.Constant) and isinstance(name.value, str) else []
    return []


def _module(name: str, modules: Mapping[str, Path]) -> str:
    """The module that has a name: itself, or the one that the name is in."""
    while name not in modules and name != f"{PACKAGE}._core" and "." in name:
        name = name.rpartition(".")[0]
    return name


def _violations(each: Import, rooms: Mapping[str, Room]) -> Iterator[str]:
    own, used = room_of(each.importer, rooms), room_of(each.imported, rooms)
    if own is None or used is None or own == used or used in rooms[own].uses:
        return
    allowed = ", ".join(sorted(rooms[own].uses)) or "nothing"
    yield (
        f"{each.file}:{each.line}: {own or PACKAGE} may not import {used or PACKAGE} ({each.imported}); "
        f"it may use: {allowed}"
    )


def _circles(found: Iterable[Import]) -> Iterator[str]:
    """One message for each circle that a walk through the imports comes upon."""
    graph: dict[str, dict[str, Import]] = {}
    for each in found:
        if each.importer != each.imported:
            graph.setdefault(each.importer, {}).setdefault(each.imported, each)
    done: set[str] = set()
    for start in sorted(graph):
        yield from _walk(start, graph, [], done)


def _walk(module: str, graph: Mapping[str, Mapping[str, Import]], path: list[str], done: set[str]) -> Iterator[str]:
    if module in path:
        circle = [*path[path.index(module) :], module]
        last = graph[circle[-2]][module]
        yield f"{last.file}:{last.line}: a circle of imports: {' -> '.join(circle)}"
        return
    if module in done:
        return
    path.append(module)
    for imported in graph.get(module, {}):
        yield from _walk(imported, graph, path, done)
    path.pop()
    done.add(module)

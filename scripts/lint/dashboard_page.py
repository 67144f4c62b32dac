#!/usr/bin/env python3
"""The dashboard's page: plain files that the driver serves, without a build and without anything
from elsewhere.

Names from runs are text: no file makes markup of strings, or code of them. Modules import only
names that are there, by relative paths, since one prefix with a hash stands before all of them.
What is loaded lies in the folder, and the page's own files stay small.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import size
import sources

FOLDER = Path("src/dashboard/page")
INLINE_PAGE, INLINE_MODULE = Path("src/dashboard/inline_page.cpp"), "inline.js"
SUFFIXES = {".js", ".css", ".html"}
VENDOR = "vendor"
OWN_BYTES_MAX = 150_000
FORBIDDEN = {
    re.compile(
        r"\b(inner|outer)HTML\b|\binsertAdjacentHTML\b|\bdocument\.write|\bDOMParser\b|\bsrcdoc\b"
    ): "makes markup of text; use h() of element.js",
    re.compile(r"\beval\(|\bnew Function\b|\bset(Timeout|Interval)\(\s*[\"'`]"): "makes code of text",
    re.compile(r"\bhttps?://|@import\b|\burl\(|[\"'`]//"): "loads something from elsewhere",
}
INLINE = re.compile(r"<script(?![^>]*\bsrc=)|<style|\s(style|on\w+)=\"")
REFERENCE = re.compile(r"\b(?:src|href)=\"@ASSETS@/([^\"]+)\"")
IMPORT = re.compile(r"^import (?:\{([^}]*)\} from )?\"([^\"]+)\";", re.M)
EXPORT = re.compile(r"^export (?:async )?(?:class|const|function|let) (\w+)", re.M)


def check(root: Path, file: Path) -> Iterator[str]:
    """One message for each thing that the file must not have."""
    if VENDOR in file.parts:
        return
    text = (root / file).read_text()
    lines = text.splitlines()
    if len(lines) > size.FILE_LINES_MAX:
        yield f"{file}:1: the file has {len(lines)} lines, {size.FILE_LINES_MAX} are allowed; split it by concept"
    for number, line in enumerate(lines, start=1):
        for pattern, why in FORBIDDEN.items():
            if pattern.search(line):
                yield f"{file}:{number}: this {why}: {line.strip()}"
        if file.suffix == ".html" and INLINE.search(line):
            yield f"{file}:{number}: the page's policy forbids scripts and styles within it: {line.strip()}"
    yield from _references(root, file, text)


def _references(root: Path, file: Path, text: str) -> Iterator[str]:
    for name in REFERENCE.findall(text):
        if not (root / FOLDER / name).is_file():
            yield f"{file}: there is no {name}"
    for names, path in IMPORT.findall(text) if file.suffix == ".js" else []:
        other = (root / file).parent / path
        if not path.startswith("./") or not other.is_file():
            yield f"{file}: imports {path}, which is no file beside it"
            continue
        for name in sorted({name.strip() for name in names.split(",")} - {""} - set(EXPORT.findall(other.read_text()))):
            yield f"{file}: imports {name}, which {path} does not export"
        for name in (name.strip() for name in names.split(",")):
            if name and len(re.findall(rf"\b{re.escape(name)}\b", text)) < 2:
                yield f"{file}: imports {name} and does not use it"


def check_all(root: Path, files: list[Path]) -> Iterator[str]:
    """What holds of all files together: their size, and that each module is imported."""
    own = [file for file in files if VENDOR not in file.parts]
    total = sum((root / file).stat().st_size for file in own)
    if total > OWN_BYTES_MAX:
        yield f"{FOLDER}: the page's own files have {total} bytes, {OWN_BYTES_MAX} are allowed"
    used = {match for file in own for match in re.findall(r"[\w.]+\.(?:js|css)", (root / file).read_text())}
    for file in own:
        if file.suffix != ".html" and file.name not in {*used, INLINE_MODULE}:
            yield f"{file}: nothing of the page uses it"


def check_inline(root: Path) -> Iterator[str]:
    """The page without a server carries its first module and all that are imported from there."""
    found: set[str] = set()
    to_read = [INLINE_MODULE]
    while to_read:
        name = to_read.pop()
        found.add(name)
        imports = IMPORT.findall((root / FOLDER / "app" / name).read_text())
        to_read += [path[2:] for _, path in imports if path[2:] not in found]
    carried = re.search(r"constexpr std::array modules = {([^}]*)}", (root / INLINE_PAGE).read_text())
    named = set(re.findall(r'"(\w+)"', carried[1])) if carried else set()
    for name in sorted({name.removesuffix(".js") for name in found} ^ named):
        yield f"{INLINE_PAGE}: modules and what {INLINE_MODULE} imports differ by {name}"


def main() -> int:
    """Checks the tree that this script lies in."""
    root = Path(__file__).resolve().parents[2]
    files = sources.tracked_files(root, SUFFIXES, [str(FOLDER)])
    status = sources.report("dashboard_page", check, root, files)
    for message in [*check_all(root, files), *check_inline(root)]:
        print(message)
        status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())

"""Which files the lint checks look at, and how they report."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

CPP_SUFFIXES = {".cpp", ".hpp"}
PYTHON_SUFFIXES = {".py"}

# A check takes the root and a file's path below it, and gives one message for each violation.
Check = Callable[[Path, Path], Iterable[str]]


def tracked_files(root: Path, suffixes: Iterable[str], folders: Iterable[str] = ("",)) -> list[Path]:
    """The files of these kinds that git knows, or would with `git add`, as paths below `root`."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *(f"./{f}" for f in folders)],
        cwd=root, check=True, capture_output=True, text=True,
    )  # fmt: skip
    wanted = set(suffixes)
    names = sorted({Path(name) for name in listed.stdout.split("\0") if name})
    return [name for name in names if name.suffix in wanted and (root / name).is_file()]


def report(name: str, check: Check, root: Path, files: Iterable[Path]) -> int:
    """Prints what the check finds. Returns the exit status: 0 when it finds nothing."""
    return print_violations(name, (violation for file in files for violation in check(root, file)))


def print_violations(name: str, found: Iterable[str]) -> int:
    """Prints violations and their number. Returns the exit status."""
    violations = list(found)
    for violation in violations:
        print(violation)
    if violations:
        print(f"{name}: {len(violations)} violation(s)", file=sys.stderr)
    return 1 if violations else 0

#!/usr/bin/env python3
"""clang-tidy on the C++ sources that changed since the merge base with origin/main (or, without
one, the last commit).

    tidy.py [BUILD_FOLDER] [FILE...]     files named are checked whether they changed or not

The compile commands are GCC's: what concerns its precompiled headers is taken out, clang could not
read them.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

FILE_SECONDS_MAX = 180
PRECOMPILED_HEADER = re.compile(r"\s-include\s+\S*cmake_pch\.hxx(?=\s|$)")
BATCH = re.compile(r"/Unity/unity_\w+_cxx\.cxx$")
INCLUDED = re.compile(r'^#include "(.+)"$', re.MULTILINE)
# GCC's own options, which clang does not know; and -Werror, as the compiler's warnings are the
# build's business.
GCC_ONLY = re.compile(
    r"\s(-Winvalid-pch|-Werror|-Wno-stringop-overflow|-Wno-restrict|-Wno-maybe-uninitialized|-Wno-tsan"
    r"|-fno-fat-lto-objects|-fpch-preprocess)(?=\s|$)"
)


def clang_commands(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The compile commands as clang can read them."""
    return [
        {**entry, "command": GCC_ONLY.sub("", PRECOMPILED_HEADER.sub("", entry["command"]))}
        for together in entries
        if not together["file"].endswith((".hxx", ".hxx.cxx"))
        for entry in _one_by_one(together)
    ]


def _one_by_one(entry: dict[str, Any]) -> list[dict[str, Any]]:
    """An entry for each file of a batch (a file of CMake's that includes them); of any other file
    its own.
    """
    batch = entry["file"]
    if not BATCH.search(batch):
        return [entry]
    files = INCLUDED.findall(Path(batch).read_text())
    return [{**entry, "file": file, "command": entry["command"].replace(batch, file)} for file in files]


def changed_files(root: Path) -> list[Path]:
    """What differs from the merge base with origin/main, or from the last commit; and files new to
    git.
    """
    base = _git(root, "merge-base", "HEAD", "origin/main") or _git(root, "rev-parse", "HEAD")
    # On main itself the merge base is the last commit: look at what that commit brought.
    if base == _git(root, "rev-parse", "HEAD") and not _git(root, "status", "--porcelain"):
        base = _git(root, "rev-parse", "HEAD~1") or base
    names = _git(root, "diff", "--name-only", "--diff-filter=d", base or "HEAD").splitlines()
    names += _git(root, "ls-files", "--others", "--exclude-standard").splitlines()
    return sorted({root / name for name in names})


def sources_to_check(changed: list[Path], compiled: list[Path]) -> list[Path]:
    """The compiled files that changed, or whose own header (same name beside it) did."""
    wanted = set(changed)
    return sorted(file for file in compiled if file in wanted or file.with_suffix(".hpp") in wanted)


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else ""


def _tidy(root: Path, commands: str, file: Path) -> tuple[Path, str]:
    """What clang-tidy says of one file; nothing when it is content."""
    command = [str(Path(sys.executable).parent / "clang-tidy"), "--quiet", "-p", commands, str(file)]
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=FILE_SECONDS_MAX)
    except subprocess.TimeoutExpired:
        return file, f"clang-tidy took more than {FILE_SECONDS_MAX} s"
    return file, (done.stdout + done.stderr if done.returncode != 0 else "")


def main() -> int:
    """Checks the tree that this script lies in."""
    root = Path(__file__).resolve().parents[2]
    build = root / (sys.argv[1] if len(sys.argv) > 1 else "build")
    entries = clang_commands(json.loads((build / "compile_commands.json").read_text()))
    named = [Path(name).resolve() for name in sys.argv[2:]]
    files = sources_to_check(named or changed_files(root), [Path(entry["file"]) for entry in entries])
    print(f"clang-tidy: {len(files)} file(s)")
    jobs = int(subprocess.check_output([root / "scripts/jobs.sh"], text=True))
    failed = False
    with tempfile.TemporaryDirectory() as commands, ThreadPoolExecutor(jobs) as pool:
        (Path(commands) / "compile_commands.json").write_text(json.dumps(entries))
        for file, said in pool.map(lambda file: _tidy(root, commands, file), files):
            if said:
                failed = True
                print(f"{file.relative_to(root)}:\n{said}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

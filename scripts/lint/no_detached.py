#!/usr/bin/env python3
"""Nothing in production code is without an owner.

An exception that nobody hears leaves a channel deaf forever; a thread that nobody joins outlives
what it uses. Coroutines start by `wire::spawn`, which asks what an exception ends; threads are
joined by their owner (worker/own_thread.hpp). In wire/, cluster/, driver/ and node/ a timer or a
post asks whether its object is still there, or the comment above says why it is: `// Outlived:
...`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import sources

DETACHED = re.compile(r"\basio::detached\b|\bboost::asio::detached_t\b|(\.|->)detach\(\)|\bpthread_detach\b")
SPAWN = re.compile(r"\bco_spawn\s*\(")
# The one place that may start a coroutine.
OWN_SPAWN = Path("src/wire/spawn.hpp")
# On an event loop a timer or a post may run after its object has gone.
POSTED = re.compile(r"\b(async_wait|post|dispatch|defer)\(([^\[;{}]*,)?\s*\[([^\]]*)\]")
GUARDED_ROOMS = (Path("src/wire"), Path("src/cluster"), Path("src/driver"), Path("src/node"))
OUTLIVED = "// Outlived: "
# Run::detach and its like: an object of ours that leaves something, not a thread.
OURS = re.compile(r"\b(run|guest|self)->detach\(\)")


def check(root: Path, file: Path) -> Iterator[str]:
    """One message for each line that detaches something."""
    text = (root / file).read_text()
    if any(room in file.parents for room in GUARDED_ROOMS):
        yield from _unguarded(file, text)
    for number, line in enumerate(text.splitlines(), start=1):
        code = OURS.sub("", line.split("//")[0])
        if DETACHED.search(code):
            yield f"{file}:{number}: nothing is detached: join threads, start coroutines by wire::spawn: {line.strip()}"
        elif SPAWN.search(code) and file != OWN_SPAWN:
            yield f"{file}:{number}: coroutines start by wire::spawn, which says what an exception ends: {line.strip()}"


def _unguarded(file: Path, text: str) -> Iterator[str]:
    lines = text.splitlines()
    for posted in POSTED.finditer(text):
        number = text.count("\n", 0, posted.start()) + 1
        outlived = number > 1 and OUTLIVED in lines[number - 2]
        if _holds_only_this(posted[3]) and not outlived:
            line = lines[number - 1].strip()
            yield f"{file}:{number}: this may be gone when that runs: capture a weak pointer as well: {line}"


def _holds_only_this(captures: str) -> bool:
    return re.search(r"\bthis\b", captures.replace("shared_from_this", "")) is not None and "weak" not in captures


def main() -> int:
    """Checks the tree that this script lies in."""
    root = Path(__file__).resolve().parents[2]
    return sources.report("no_detached", check, root, sources.tracked_files(root, sources.CPP_SUFFIXES, ["src"]))


if __name__ == "__main__":
    sys.exit(main())

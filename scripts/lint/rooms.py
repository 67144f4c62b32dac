#!/usr/bin/env python3
"""Which folder of src/ (or sim/) may include which, and what the deciding rooms may know of the world."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import sources

# Each room, and the rooms it may include beside itself. `headway` is include/headway/, the public API.
ROOMS: dict[str, set[str]] = {
    "headway": set(),
    "core": {"headway"},
    "wire": {"headway", "core"},
    "control": {"headway", "core"},
    "storage": {"headway", "core"},
    "arrow": {"headway", "core", "storage"},
    "node": {"headway", "core", "wire"},
    "engine": {"headway", "core", "wire", "node"},
    "cluster": {"headway", "core", "wire", "node"},
    "driver": {"headway", "core", "wire", "control", "storage", "node", "engine", "cluster"},
    "worker": {"headway", "core", "wire", "storage"},
    "library": {"headway", "core", "wire", "storage", "node", "driver", "worker"},
    "sim": {"headway", "core", "control"},
    "bindings": {"headway", "core", "wire", "storage", "node", "cluster", "driver", "worker"},
}

# core/ speaks only of values: of the public headers it may use these.
HEADERS_FOR_CORE = {"headway/config.hpp", "headway/export.hpp", "headway/preemption.hpp", "headway/result.hpp"}

# Rooms that decide, and so may not touch threads, files, sockets, processes, clocks or Arrow.
PURE_ROOMS = {"core", "control"}
WORLD = re.compile(
    r"""^( thread | mutex | shared_mutex | condition_variable | future | semaphore | latch | barrier | stop_token
        | fstream | filesystem | iostream | ctime | time\.h
        | unistd\.h | fcntl\.h | poll\.h | pthread\.h | sched\.h | spawn\.h | dirent\.h | dlfcn\.h | netdb\.h
        | (sys|netinet|arpa|net|linux)/.* | boost/(asio|beast|process|filesystem|thread|interprocess)(/.*|\.hpp)
        | arrow/.* | openssl/.* | Python\.h | nanobind/.* )$""",
    re.VERBOSE,
)
# <chrono> is for durations and for times that are handed in; reading a clock is not.
CLOCK = re.compile(r"\b(system_clock|steady_clock|high_resolution_clock)::now\b|\bclock_gettime\b")

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')


def room_of(file: Path) -> str | None:
    """The room that a file belongs to, by its path below the root."""
    if file.parts[:2] == ("include", "headway"):
        return "headway"
    if file.parts[0] == "sim":
        return "sim"
    return file.parts[1] if file.parts[0] == "src" and len(file.parts) > 2 else None


def check(root: Path, file: Path) -> Iterator[str]:
    """One message for each include (or clock) that the file's room does not allow."""
    room = room_of(file)
    if room is None:
        return
    if room not in ROOMS:
        yield f"{file}:1: src/{room}/ is no room that scripts/lint/rooms.py knows; say there what it may use"
        return
    for number, line in enumerate((root / file).read_text().splitlines(), start=1):
        include = INCLUDE.match(line)
        reason = _why_not(room, include[1]) if include else None
        if reason is None and room in PURE_ROOMS and CLOCK.search(line):
            reason = f"src/{room}/ reads a clock; the time is handed in"
        if reason is not None:
            yield f"{file}:{number}: {reason}"


def _why_not(room: str, header: str) -> str | None:
    """The reason why `room` may not include `header`; None when it may."""
    if room in PURE_ROOMS and WORLD.match(header):
        return (
            f"src/{room}/ includes <{header}>; it decides, and may not touch threads, files, sockets, clocks or Arrow"
        )
    used = header.split("/")[0]
    if used == room or used not in ROOMS:
        return None
    if used not in ROOMS[room]:
        return f"{room}/ may not include {used}/ ({header}); it may use: {', '.join(sorted(ROOMS[room])) or 'nothing'}"
    if room == "core" and used == "headway" and header not in HEADERS_FOR_CORE:
        return (
            f"core/ may not include {header}; of the public headers it may use: {', '.join(sorted(HEADERS_FOR_CORE))}"
        )
    return None


def main() -> int:
    """Checks the tree that this script lies in."""
    root = Path(__file__).resolve().parents[2]
    files = sources.tracked_files(root, sources.CPP_SUFFIXES, ["src", "include", "sim"])
    return sources.report("rooms", check, root, files)


if __name__ == "__main__":
    sys.exit(main())

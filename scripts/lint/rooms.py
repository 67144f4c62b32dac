#!/usr/bin/env python3
"""Which room may include or import which (room_list.py), and what the deciding rooms may know of
the world.

`rooms.py --table` prints the tables of C++'s and Python's rooms as Markdown.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import python_rooms
import sources
from room_list import CPP, FOLDERS, PYTHON, Room

# Each room of C++, and the rooms it may include beside itself.
ROOMS = {name: room.uses for name, room in CPP.items()}

# core/ speaks only of values: of the public headers it may use these.
HEADERS_FOR_CORE = {f"headway/{name}.hpp" for name in ("config", "export", "preemption", "reduce", "result")}

# Rooms that decide, and so may not touch threads, files, sockets, processes, clocks or Arrow.
PURE_ROOMS = {"core", "control", "data"}
WORLD = re.compile(
    r"""^( thread | mutex | shared_mutex | condition_variable | future | semaphore | latch | barrier | stop_token
        | fstream | filesystem | iostream | ctime | time\.h
        | unistd\.h | fcntl\.h | poll\.h | pthread\.h | sched\.h | spawn\.h | dirent\.h | dlfcn\.h | netdb\.h
        | (sys|netinet|arpa|net|linux)/.* | boost/(asio|beast|process|filesystem|thread|interprocess)(/.*|\.hpp)
        | arrow/.* | openssl/.* | Python\.h | nanobind/.* )$""",
    re.VERBOSE,
)
# These are linked to Arrow. Its headers are in a folder of the same name as one of our rooms.
ROOMS_WITH_ARROW = {"arrow", "flow"}
ARROW = re.compile(r"^\s*#\s*include\s*<(arrow|parquet)/")
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
        yield f"{file}:1: src/{room}/ is no room of scripts/lint/room_list.py; say there what it may use"
        return
    for number, line in enumerate((root / file).read_text().splitlines(), start=1):
        include = None if room in ROOMS_WITH_ARROW and ARROW.match(line) else INCLUDE.match(line)
        reason = (_why_not(room, include[1]) or _why_not_folder(file, include[1])) if include else None
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


def _why_not_folder(file: Path, header: str) -> str | None:
    """The reason why a file in a folder of a room may not include `header` of another folder of
    it.
    """
    if len(file.parts) != 4 or file.parts[1] not in FOLDERS:
        return None
    room, folder = file.parts[1:3]
    used = header.split("/")
    if len(used) != 3 or used[0] != room or used[1] == folder:
        return None
    allowed = FOLDERS[room].get(folder, frozenset())
    if used[1] in allowed:
        return None
    rest = ", ".join(sorted(allowed)) or "nothing"
    return f"{room}/{folder}/ may not include {room}/{used[1]}/ ({header}); it may use: {rest}"


def row(room: Room) -> str:
    """A room's row in a table of Markdown."""
    return f"| `{room.folder}` | {room.contents} | {', '.join(sorted(room.uses)) or 'none'} |"


def table(rooms: Iterable[Room]) -> str:
    """The rooms as a table of Markdown, for ARCHITECTURE.md."""
    head = ["| room | what is in it | may use |", "| --- | --- | --- |"]
    return "\n".join([*head, *(row(room) for room in rooms)])


def main() -> int:
    """Checks the tree that this script lies in, or prints the tables."""
    if sys.argv[1:] == ["--table"]:
        print(table(CPP.values()), table(PYTHON.values()), sep="\n\n")
        return 0
    root = Path(__file__).resolve().parents[2]
    files = sources.tracked_files(root, sources.CPP_SUFFIXES, ["src", "include", "sim"])
    of_cpp = sources.report("rooms", check, root, files)
    scripts = sources.tracked_files(root, sources.PYTHON_SUFFIXES, [str(python_rooms.SOURCES)])
    of_python = sources.print_violations("rooms", python_rooms.check(root, scripts))
    return of_cpp or of_python


if __name__ == "__main__":
    sys.exit(main())

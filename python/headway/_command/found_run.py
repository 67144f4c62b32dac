"""A run that a command looks at: from its journal and, while it is at work on this machine, from
what its driver writes of it each two seconds.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import Any

from headway._command.text import age
from headway._storage import locations, run_files

#: An older word of a driver's is said to be old.
_FRESH_S = 10.0
_ENDS = ("finished", "errored", "aborted")


@dataclass
class FoundRun:
    """A run.

    Attributes:
        location: Its folder.
        state: In a word.
        words: The state, since when, and why.
        reports: How many are recorded.
        attempt: The number of its last attempt.
        seen_unix_s: When this was so.
        checkpoints: The names of those that are kept.
        view: The run as its driver sees it (``control::RunView``); None when it is not at work, or
            elsewhere.
    """

    location: str
    state: str
    words: str
    reports: int
    attempt: int
    seen_unix_s: float
    checkpoints: list[str]
    view: dict[str, Any] | None


def find(name: str) -> FoundRun:
    """The run in a folder, or of a name in the default storage path.

    Raises:
        FileNotFoundError: there is none.
    """
    places = [locations.location_of(name, argument="RUN")]
    if "/" not in name:
        places.append(locations.join(locations.location_of(locations.default_storage()), name))
    for place in places:
        try:
            return open_run(place)
        except FileNotFoundError:
            continue
    raise FileNotFoundError(f"RUN is {name!r}; no run in {' or '.join(map(locations.shown, places))}")


def open_run(location: str) -> FoundRun:
    """The run in a folder.

    Raises:
        FileNotFoundError: there is none.
    """
    journal = run_files.read_journal(location)
    if journal is None:
        raise FileNotFoundError(f"no run in {locations.shown(location)}")
    kept = [each["name"] for each in journal["checkpoints"]]
    reports, seen = journal["reports"], journal["written_unix_s"]
    state = journal["state"]
    view = None if state in _ENDS or locations.is_remote(location) else run_files.read_json(location, "status.json")
    if view is not None and view["taken_unix_s"] >= seen - _FRESH_S:
        seen = view["taken_unix_s"]
        kept = [each["name"] for each in view["checkpoints"] or ()]
        state, reports = view["state"], view["reports"]["count"]
    else:
        view = None
    words = _words(state, journal, view, time.time() - seen)
    if state not in _ENDS and view is not None and time.time() - seen > _FRESH_S:
        state = "lost"
    return FoundRun(location, state, words, reports, journal["attempt"], seen, kept, view)


def _words(state: str, journal: dict[str, Any], view: dict[str, Any] | None, ago_s: float) -> str:
    if state in _ENDS:
        reason = journal.get("failure") or journal.get("abort_reason") or journal.get("stop_reason")
        words = f"{state} {age(ago_s)} ago, after {age(journal['time_total_s'])} and {_attempts(journal['attempt'])}"
        return f"{words}: {reason.splitlines()[0]}" if reason else words
    if view is None:
        return f"{state}, as its driver wrote {age(ago_s)} ago"
    words = f"{state} for {age(view['state_for_s'] + ago_s)}, attempt {view['attempt']}"
    if view.get("wait"):
        words += f"; {view['wait']['words']}"
    if ago_s > _FRESH_S:
        words += f"; its driver has written nothing for {age(ago_s)}: it has ended or hangs"
    return words


def _attempts(count: int) -> str:
    return "1 attempt" if count == 1 else f"{count} attempts"


def process_of(run: FoundRun, rank: int) -> int:
    """The process of a rank on this machine.

    Raises:
        ValueError: it has none, or it is on another machine.
    """
    name = locations.shown(run.location)
    if run.view is None:
        raise ValueError(f"{name} is not at work on this machine: it is {run.words}")
    ranks = {each["rank"]: each for each in run.view["ranks"]}
    if rank not in ranks:
        raise ValueError(f"--rank is {rank}; allowed: {', '.join(map(str, ranks))}")
    found = ranks[rank]
    if found["hostname"] != os.uname().nodename:
        raise ValueError(f"rank {rank} of {name} is on {found['hostname']} (pid {found['pid']}): call headway there")
    if found["gone"] or found["pid"] is None or not os.path.exists(f"/proc/{found['pid']}"):
        raise ValueError(f"rank {rank} of {name} has no process now")
    return int(found["pid"])

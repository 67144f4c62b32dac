"""A run that a command looks at: from its journal and, while it is at work, from what its driver
writes of it after each change.
"""

from __future__ import annotations

import contextlib
import os
import time
from dataclasses import dataclass
from typing import Any

from headway import _core
from headway._command.text import age
from headway._storage import locations, run_files

_ENDS = ("finished", "errored", "aborted")


@dataclass
class FoundRun:
    """A run.

    Attributes:
        location: Its folder.
        state: In a word: "failed" for what the journal has as "errored", "lost" for a run whose
            driver has died.
        words: The state, since when, and why.
        reports: How many are recorded.
        attempt: The number of its last attempt.
        seen_unix_s: When this was so.
        checkpoints: The names of those that are kept.
        view: The run as its driver sees it (``control::RunView``); None when it is not at work, or
            its folder is on remote storage.
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
    places = places_of(name, "RUN")
    for place in places:
        with contextlib.suppress(FileNotFoundError):
            return open_run(place)
    looked = " or ".join(map(locations.shown, places))
    raise FileNotFoundError(f"RUN is {name!r}: there is no run in {looked} (`headway ls` lists the runs)")


def places_of(name: str, argument: str) -> list[str]:
    """Where a run may be that a user names: a folder and, for a bare name, the default storage
    path.

    Args:
        name: What the user wrote.
        argument: What errors call it.
    """
    places = [locations.location_of(name, argument=argument)]
    if "/" not in name:
        places.append(locations.join(locations.location_of(locations.default_storage()), name))
    return list(dict.fromkeys(places))


def open_run(location: str) -> FoundRun:
    """The run in a folder.

    Raises:
        FileNotFoundError: there is none.
        CorruptedError: one of its files is damaged.
    """
    journal = run_files.read_journal(location)
    if journal is None:
        raise FileNotFoundError(f"no run in {locations.shown(location)}")
    kept = [each["name"] for each in journal["checkpoints"]]
    state, reports, attempt, seen = journal["state"], journal["reports"], journal["attempt"], journal["written_unix_s"]
    if state in _ENDS:
        state = _end_state(state)
        return FoundRun(location, state, _end_words(journal), reports, attempt, seen, kept, None)
    if locations.is_remote(location):
        return FoundRun(location, state, f"{state}{_written(seen)}", reports, attempt, seen, kept, None)
    view, driver = _view(location, journal.get("owner"))
    if view is not None:
        state, reports, attempt, seen = view["state"], view["reports"]["count"], view["attempt"], view["taken_unix_s"]
        kept = [each["name"] for each in view["checkpoints"] or ()]
    if view is None or driver == "dead":
        words = f"lost: it was {state}{_written(seen)}, and that driver has ended"
        return FoundRun(location, "lost", words, reports, attempt, seen, kept, None)
    words = _words_at_work(view)
    if driver == "elsewhere":
        return FoundRun(location, state, f"{words}{_written(seen)}", reports, attempt, seen, kept, view)
    return FoundRun(location, state, words, reports, attempt, time.time(), kept, view)


def _view(location: str, owner: str | None) -> tuple[dict[str, Any] | None, str]:
    """What the run's driver wrote last, and what that driver is: "alive" and "dead" are known on
    its machine, else it is "elsewhere". Of one that is alive, the view is as it would be now.
    """
    status = run_files.read_status(location)
    if status is None:
        return None, "dead"
    view: dict[str, Any] = status["view"]
    if status["host"] != os.uname().nodename:
        return view, "elsewhere"
    if _core.is_alive(status["driver"]["pid"], status["driver"]["started"]):
        _let_pass(view, time.time() - view["taken_unix_s"])
        return view, "alive"
    # A driver before the one that wrote the journal may have left it.
    return (view if status["owner"] == owner else None), "dead"


def _let_pass(view: Any, seconds: float) -> None:
    """Times of a view count up to the moment when it was taken; afterwards only they grow."""
    if isinstance(view, list):
        for each in view:
            _let_pass(each, seconds)
    if isinstance(view, dict):
        for key, value in view.items():
            if key.endswith(("for_s", "ago_s")) and value is not None:
                view[key] = value + seconds
            else:
                _let_pass(value, seconds)


def _written(seen_unix_s: float) -> str:
    return f", as its driver wrote {age(time.time() - seen_unix_s)} ago"


def _end_state(state: str) -> str:
    """As the last line of ``fit()`` has it."""
    return "failed" if state == "errored" else state


def _end_words(journal: dict[str, Any]) -> str:
    reason = journal.get("failure") or journal.get("abort_reason") or journal.get("stop_reason")
    ago, took = age(time.time() - journal["written_unix_s"]), age(journal["time_total_s"])
    words = f"{_end_state(journal['state'])} {ago} ago, after {took} and {_attempts(journal['attempt'])}"
    return f"{words}: {reason.splitlines()[0]}" if reason else words


def _words_at_work(view: dict[str, Any]) -> str:
    words = f"{view['state']} for {age(view['state_for_s'])}, attempt {view['attempt']}"
    if view.get("wait"):
        words += f"; {view['wait']['words']} ({age(view['wait']['for_s'])})"
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
        raise ValueError(f"{name} is not at work on this machine: {run.words}")
    ranks = {each["rank"]: each for each in run.view["ranks"]}
    if rank not in ranks:
        raise ValueError(f"--rank is {rank}; allowed: {', '.join(map(str, ranks))}")
    found = ranks[rank]
    if found["hostname"] != os.uname().nodename:
        raise ValueError(f"rank {rank} of {name} is on {found['hostname']} (pid {found['pid']}): call headway there")
    if found["pid"] is None and not found["gone"]:
        raise ValueError(f"rank {rank} of {name} has no process yet: the run is {run.words}")
    if found["gone"] or found["pid"] is None or not os.path.exists(f"/proc/{found['pid']}"):
        raise ValueError(f"the process of rank {rank} of {name} has ended")
    return int(found["pid"])

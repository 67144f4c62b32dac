"""The small files of a run's folder: journal, configuration, reports. They are read while the run
goes on, too.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from typing import Any

from headway import _core
from headway._storage import locations
from headway._storage.json_file import read_object
from headway._values.metrics import ReportedMetrics


def read_json(location: str, name: str) -> dict[str, Any] | None:
    """A JSON file of the run at a location; None when it is not there.

    Raises:
        CorruptedError: it is damaged.
    """
    return read_object(locations.join(location, name), _core.CorruptedError)


def step_times(location: str) -> dict[int, list[dict[str, Any]]]:
    """How long each rank of a run took, by the number of the attempt.

    Raises:
        CorruptedError: a file is damaged.
        OSError: it could not be read.
    """
    journal = read_journal(location)
    attempts = range(1, (journal["attempt"] if journal is not None else 0) + 1)
    found = {attempt: read_json(location, f"step_times_{attempt}.json") for attempt in attempts}
    return {attempt: times.get("ranks", []) for attempt, times in found.items() if times is not None}


def read_journal(location: str) -> dict[str, Any] | None:
    """The run's journal, checked as ``fit()`` checks it; None when there is no run.

    Raises:
        CorruptedError: it is damaged, or a newer version of Headway wrote it.
        OSError: it could not be read.
    """
    try:
        journal: dict[str, Any] = json.loads(_core.read_journal(locations.prepare(location)))
    except FileNotFoundError:
        return None
    return journal


def read_status(location: str) -> dict[str, Any] | None:
    """What the driver of a run at work wrote last (status.json); None when it is not there.

    Raises:
        CorruptedError: it is damaged.
    """
    status = read_json(location, "status.json")
    if status is not None and (lack := _lack(status, _STATUS, "")):
        file = locations.shown(locations.join(location, "status.json"))
        raise _core.CorruptedError(f"{file} is damaged: {lack}")
    return status


_NUMBER = (int, float)
_RANK = {
    "rank": int,
    "hostname": str,
    "pid": (int, type(None)),
    "gone": bool,
    "phase": str,
    "phase_for_s": _NUMBER,
    "reports": int,
    "waits_for": (str, type(None)),
}
# What is read of it: the shape of an object, or of each entry of a list.
_STATUS = {
    "host": str,
    "owner": str,
    "driver": {"pid": int, "started": int},
    "view": {
        "state": str,
        "state_for_s": _NUMBER,
        "attempt": int,
        "taken_unix_s": _NUMBER,
        "reports": {"count": int},
        "ranks": [_RANK],
        "checkpoints": [{"name": str}],
    },
}


def _lack(found: Any, shape: Any, place: str) -> str | None:
    """Where a value lacks the shape, in words."""
    if isinstance(shape, list) and isinstance(found, list):
        lacks = (_lack(each, shape[0], f"{place}[{number}]") for number, each in enumerate(found))
        return next(filter(None, lacks), None)
    if isinstance(shape, dict) and isinstance(found, dict):
        lacks = (_lack(found.get(key), below, f"{place}.{key}".lstrip(".")) for key, below in shape.items())
        return next(filter(None, lacks), None)
    if isinstance(shape, (dict, list)):
        return f"expected {'an object' if isinstance(shape, dict) else 'a list'} as {place}, found {found!r}"[:200]
    return None if isinstance(found, shape) else f"{place} is {found!r}"[:200]


def with_validations(manifests: list[dict[str, Any]], journal: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Checkpoints' names and metrics: those of their reports and, where the journal has them, of
    their validations.
    """
    known = {(each["name"], each.get("report")): each["metrics"] for each in journal.get("checkpoints", ())}
    return [(each["checkpoint"], known.get((each["checkpoint"], each["index"]), each["metrics"])) for each in manifests]


def read_reports(location: str) -> list[dict[str, Any]]:
    """The lines of a run's result.json.

    Raises:
        CorruptedError: one of them is damaged.
    """
    content = _content(location)
    return [_report(location, line) for line in content[: content.rfind(b"\n") + 1].splitlines()]


def stored_checkpoints(location: str) -> list[tuple[float, dict[str, Any]]]:
    """Of the run's history: when each checkpoint was durable, in seconds since 1970, with its name,
    size and the seconds that it took. A line that cannot be read is left out.
    """
    try:
        lines = locations.read_file(locations.join(location, "history.jsonl")).splitlines()
    except OSError:
        return []
    found = []
    for line in lines:
        if b'"checkpoint_stored"' in line:
            with contextlib.suppress(ValueError, KeyError):
                logged = json.loads(line)
                found.append((float(logged["at"]), dict(logged["event"])))
    return found


def _report(location: str, line: bytes) -> dict[str, Any]:
    try:
        report = json.loads(line)
    except (ValueError, RecursionError) as error:
        report, why = None, str(error)
    else:
        why = "it is no object"
    if not isinstance(report, dict):
        file = locations.shown(locations.join(location, "result.json"))
        begin = line[:40].decode(errors="replace")
        raise _core.CorruptedError(f"{file} is damaged: a line that begins with {begin!r} is no report: {why}")
    return report


def flat(report: dict[str, Any]) -> dict[str, Any]:
    """The metrics of a report under names such as ``eval/loss``; of those with one name the less
    nested counts.
    """
    found: dict[str, Any] = {}
    level = [("", report)]
    while level:
        below = []
        for start, metrics in level:
            for key, value in metrics.items():
                if isinstance(value, dict):
                    below.append((f"{start}{key}/", value))
                else:
                    found.setdefault(start + key, value)
        level = below
    return found


def user_metrics(line: dict[str, Any]) -> dict[str, Any]:
    """What the user reported, of a line of result.json."""
    return dict(ReportedMetrics.of_line(line)) if line else {}


def rank_logs(location: str) -> dict[int, list[str]]:
    """By rank: the names of the files in logs/ that have its output."""
    found: dict[int, list[str]] = {}
    for name in locations.files_in(locations.join(location, "logs")):
        if named := re.fullmatch(r"rank_(\d+)\..+", name):
            found.setdefault(int(named[1]), []).append(name)
    return dict(sorted(found.items()))


def last_report(location: str) -> dict[str, Any] | None:
    """The last whole line of a run's result.json; None without any.

    Raises:
        CorruptedError: it is damaged.
    """
    if locations.is_remote(location):
        content = _content(location)
    else:
        content = _tail(os.path.join(locations.local_path(location), "result.json"))
    whole = content[: content.rfind(b"\n") + 1].splitlines()
    return _report(location, whole[-1]) if whole else None


def _content(location: str) -> bytes:
    try:
        return locations.read_file(locations.join(location, "result.json"))
    except FileNotFoundError:
        return b""


def _tail(path: str, chunk_bytes: int = 1 << 16) -> bytes:
    """The end of a file whose lines end with a newline, with one whole line at least: the file may
    be long.
    """
    try:
        with open(path, "rb") as file:
            start = file.seek(0, os.SEEK_END)
            tail = b""
            while start > 0 and tail.rstrip(b"\n").count(b"\n") < 2:
                size = min(chunk_bytes, start)
                start = file.seek(start - size)
                tail = file.read(size) + tail
    except FileNotFoundError:
        return b""
    return tail

"""The small files of a run's folder: journal, configuration, reports. They are read while the run
goes on, too.
"""

from __future__ import annotations

import json
import os
import re
from typing import Any

from headway._storage import locations
from headway._storage.json_file import read_object
from headway._values.metrics import ReportedMetrics

# The newest that this Headway reads, as control/journal.hpp has it.
JOURNAL_VERSION = 2


def read_json(location: str, name: str) -> dict[str, Any] | None:
    """A JSON file of the run at a location; None when it is not there.

    Raises:
        OSError: it is damaged.
    """
    return read_object(locations.join(location, name), OSError)


def read_journal(location: str) -> dict[str, Any] | None:
    """The run's journal; None when there is no run.

    Raises:
        ValueError: a newer version of Headway wrote it.
        OSError: it is damaged.
    """
    journal = read_json(location, "run.json")
    if journal is not None and journal.get("version", JOURNAL_VERSION) > JOURNAL_VERSION:
        raise ValueError(
            f"{locations.shown(locations.join(location, 'run.json'))} was written by a newer Headway "
            f"(version {journal['version']}; this one reads {JOURNAL_VERSION})"
        )
    return journal


def with_validations(manifests: list[dict[str, Any]], journal: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Checkpoints' names and metrics: those of their reports and, where the journal has them, of
    their validations.
    """
    known = {(each["name"], each.get("report")): each["metrics"] for each in journal.get("checkpoints", ())}
    return [(each["checkpoint"], known.get((each["checkpoint"], each["index"]), each["metrics"])) for each in manifests]


def read_reports(location: str) -> list[dict[str, Any]]:
    """The lines of a run's result.json."""
    content = _content(location)
    return [json.loads(line) for line in content[: content.rfind(b"\n") + 1].splitlines()]


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
    """The last whole line of a run's result.json; None without any."""
    if locations.is_remote(location):
        content = _content(location)
    else:
        content = _tail(os.path.join(locations.local_path(location), "result.json"))
    whole = content[: content.rfind(b"\n") + 1].splitlines()
    return json.loads(whole[-1]) if whole else None


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

"""``headway checkpoint ls | verify | cp``."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import time
from typing import Any

from headway import _core
from headway._command import found_run
from headway._command.progress import Progress
from headway._command.text import age, counted, in_bytes, in_one_line, short_metrics, table
from headway._storage import locations, run_files

_RUN = "a run (its folder, or its name in the default storage path)"
_URI = "a path, or a URL such as s3://bucket/run"


def add_to(subjects: Any) -> None:
    """The subcommands and their arguments."""
    subject = subjects.add_parser("checkpoint", help="list, verify and copy checkpoints")
    commands = subject.add_subparsers(dest="command", metavar="COMMAND", required=True)
    ls = commands.add_parser("ls", help="a run's checkpoints, the files of one, or a folder's runs")
    ls.add_argument("uri", metavar="URI", help=f"{_RUN}, a checkpoint, or a folder of runs: {_URI}")
    ls.add_argument("--json", action="store_true", help="as JSON")
    ls.set_defaults(run=_ls)
    verify = commands.add_parser("verify", help="read every file again and compare it with what was written")
    verify.add_argument("uri", metavar="URI", help=f"a checkpoint, or {_RUN}, for all of its checkpoints: {_URI}")
    verify.add_argument("--json", action="store_true", help="the outcome as JSON, and no progress")
    verify.set_defaults(run=_verify)
    cp = commands.add_parser("cp", help="copy a checkpoint, verified on the way")
    cp.add_argument("-r", "--recursive", action="store_true", help="always so: a checkpoint is copied with all it has")
    cp.add_argument("source", metavar="SRC", help="a checkpoint: " + _URI)
    cp.add_argument(
        "target", metavar="DST", help="its new place; a directory that is there, or a name with / at its end, gets it"
    )
    cp.set_defaults(run=_cp)


def _find(uri: str) -> dict[str, Any]:
    """What is there: a checkpoint or a run, which may be a name in the default storage path.

    Raises:
        FileNotFoundError: there is neither.
    """
    place, *others = found_run.places_of(uri, "URI")
    try:
        return _survey(place)
    except FileNotFoundError:
        for other in others:
            with contextlib.suppress(FileNotFoundError):
                return _survey(other)
        raise


def _survey(location: str) -> dict[str, Any]:
    if _is_bucket(location):
        raise FileNotFoundError(f"{locations.shown(location)} is a bucket, and no run has begun right in it")
    found = json.loads(_core.survey(location))
    if found["kind"] == "run" and any(each.get("validation") for each in found["checkpoints"]):
        journal = run_files.read_journal(found["location"]) or {}
        for each, (_, metrics) in zip(
            found["checkpoints"], run_files.with_validations(found["checkpoints"], journal), strict=True
        ):
            each["metrics"] = metrics
    return found


def _is_bucket(location: str) -> bool:
    """Whether it is all of a bucket, in which no checkpoint and no run's folder can be."""
    scheme, _, rest = location.partition("://")
    return scheme in ("s3", "gs") and "/" not in rest.partition("?")[0].rstrip("/")


def _size(manifest: dict[str, Any]) -> int:
    return sum(file["size"] for file in manifest["files"])


def _survey_of_runs(uri: str) -> dict[str, Any]:
    """As ``_survey``, of a folder with runs: those that have begun."""
    location = locations.location_of(uri, argument="URI")
    runs = []
    for name in locations.directories_in(location):
        with contextlib.suppress(FileNotFoundError):
            found = _survey(locations.join(location, name))
            if found["kind"] == "run":
                runs.append(found)
    unreadable = [text for found in runs for text in found["unreadable"]]
    return {"location": location, "kind": "folder", "runs": runs, "unreadable": unreadable}


def _ls(options: argparse.Namespace) -> bool:
    try:
        found = _find(options.uri)
    except FileNotFoundError:
        found = _survey_of_runs(options.uri)
        if not found["runs"]:
            raise
    good = not found["unreadable"]
    if options.json:
        print(json.dumps(found, indent=2))
        return good
    for line in {"checkpoint": _files, "run": _checkpoints, "folder": _runs}[found["kind"]](found):
        print(line)
    for text in found["unreadable"]:
        print(f"damaged: {text}")
    return good


def _checkpoints(found: dict[str, Any]) -> list[str]:
    if not found["checkpoints"]:
        return [] if found["unreadable"] else [f"no checkpoints in {locations.shown(found['location'])}"]
    now = time.time()
    rows = [["checkpoint", "report", "attempt", "files", "size", "age", "metrics"]]
    for each in found["checkpoints"]:
        figures = [str(each["index"] + 1), str(each["attempt"]), str(len(each["files"])), in_bytes(_size(each))]
        ago = age(now - each["created_unix_s"])
        rows.append([each["checkpoint"], *figures, ago, short_metrics(each["metrics"])])
    return table(rows)


def _runs(found: dict[str, Any]) -> list[str]:
    now = time.time()
    rows = [["run", "checkpoints", "size", "newest", "age", "metrics"]]
    for run in found["runs"]:
        kept = run["checkpoints"]
        newest = ["none", "", ""]
        if kept:
            last = kept[-1]
            newest = [last["checkpoint"], age(now - last["created_unix_s"]), short_metrics(last["metrics"])]
        size = in_bytes(sum(map(_size, kept)))
        rows.append([locations.name_of(run["location"]), str(len(kept)), size, *newest])
    return table(rows, left=(0, 3, -1))


def _files(found: dict[str, Any]) -> list[str]:
    files = [file for manifest in found["checkpoints"] for file in manifest["files"]]
    if not files:
        return [] if found["unreadable"] else [f"no files in {locations.shown(found['location'])}"]
    rows = [["file", "size", "rank", "checksum"]]
    rows += [[file["name"], in_bytes(file["size"]), str(file["rank"]), file["checksum"] or "none"] for file in files]
    return table(rows)


def _verify(options: argparse.Namespace) -> bool:
    found = _find(options.uri)
    location, is_run = found["location"], found["kind"] == "run"
    places = [locations.join(location, each["checkpoint"]) for each in found["checkpoints"]] if is_run else [location]
    outcomes = [_verify_one(place, quiet=options.json) for place in places]
    _note(location if is_run else locations.parent(location), outcomes)
    unreadable = found["unreadable"] if is_run else []
    good = not unreadable and all(not each["damaged"] for each in outcomes)
    newest = None
    if is_run:
        newest = next((each["checkpoint"] for each in reversed(outcomes) if not each["damaged"]), None)
    elif good:
        newest = location
    else:
        newest = _newest_beside(location)
    if options.json:
        outcome = {"good": good, "checkpoints": outcomes, "unreadable": unreadable, "newest_good": newest}
        print(json.dumps(outcome, indent=2))
        return good
    for text in unreadable:
        print(f"damaged: {text}")
    if not outcomes and not unreadable:
        print(f"no checkpoints in {locations.shown(location)}")
    if not good:
        print(f"the newest good checkpoint is {locations.shown(newest)}" if newest else "no good checkpoint is left")
    return good


def _note(run: str, outcomes: list[dict[str, Any]]) -> None:
    """For the dashboard. Where nothing may be written, or no run is, nothing is noted."""
    if outcomes:
        with contextlib.suppress(OSError):
            _core.note_verified(run, json.dumps(outcomes))


def _newest_beside(checkpoint: str) -> str | None:
    run = locations.parent(checkpoint)
    name = _core.newest_good(run)
    return locations.join(run, name) if name is not None else None


def _verify_one(place: str, quiet: bool) -> dict[str, Any]:
    with Progress(f"verifying {locations.name_of(place)}", shown=not quiet) as progress:
        outcome = json.loads(_core.examine(place, progress))
    if not quiet:
        _say(outcome)
    return outcome


def _say(outcome: dict[str, Any], shown_max: int = 20) -> None:
    damaged = outcome["damaged"]
    for each in damaged[:shown_max]:
        print(f"damaged: {in_one_line(each['file'])}: expected {each['expected']}, found {each['found']}")
    if len(damaged) > shown_max:
        print(f"damaged: {counted(len(damaged) - shown_max, 'further file')} in {outcome['checkpoint']}")
    if not damaged:
        unchecked = f"; {outcome['unchecked']} recorded without a checksum" if outcome["unchecked"] else ""
        size = f"{counted(outcome['files'], 'file')}, {in_bytes(outcome['bytes'])}"
        print(f"good: {outcome['checkpoint']} ({size}{unchecked})")
    sys.stdout.flush()


def _cp(options: argparse.Namespace) -> bool:
    source = locations.location_of(options.source, argument="SRC")
    name = locations.name_of(source)
    target = locations.location_of(options.target, argument="DST")
    if _ends_with_slash(options.target) or (not locations.is_remote(target) and os.path.isdir(target)):
        target = locations.join(target, name)
    try:
        with Progress(f"copying {name}") as progress:
            manifest = json.loads(_core.copy_checkpoint(source, target, progress))
    except FileNotFoundError:
        _refuse_run(source)
        raise
    what = f"{counted(len(manifest['files']), 'file')}, {in_bytes(_size(manifest))}"
    print(f"copied: {locations.shown(source)} to {locations.shown(target)} ({what})")
    return True


def _ends_with_slash(uri: str) -> bool:
    """Of a URL without its query."""
    return (uri.partition("?")[0] if "://" in uri else uri).endswith("/")


def _refuse_run(source: str) -> None:
    """A run's folder in place of a checkpoint: says which there are."""
    found = _survey(source)
    if found["kind"] == "run":
        names = ", ".join(each["checkpoint"] for each in found["checkpoints"]) or "none"
        raise ValueError(f"{locations.shown(source)} is a run's folder; name one of its checkpoints: {names}")

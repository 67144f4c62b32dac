"""``headway tune ls | show | best | export``: experiments of a tuner, from their folders, while
they are at work or later.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import json
import math
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from headway import _core
from headway._command import found_run
from headway._command.text import age, counted, in_one_line, short_metrics, table
from headway._storage import locations, run_files

_FOLDER = "an experiment: its folder or URL, or its name in the default storage path"
_JOURNAL = "experiment.journal"
_ROWS_MAX = 20


def add_to(subjects: Any) -> None:
    """The subcommands and their arguments."""
    subject = subjects.add_parser("tune", help="look at experiments of a tuner")
    commands = subject.add_subparsers(dest="command", metavar="COMMAND", required=True)
    ls = commands.add_parser("ls", help="the experiments of a storage path, the newest last")
    ls.add_argument(
        "path", metavar="PATH", nargs="?", help="a folder or URL of experiments; default: the default storage path"
    )
    ls.set_defaults(run=_ls)
    show = commands.add_parser("show", help="an experiment's trials, the best first, and why they ended")
    show.add_argument("--all", action="store_true", help=f"all trials; default: the {_ROWS_MAX} best")
    best = commands.add_parser("best", help="the best trial's configuration, metrics and folder")
    best.add_argument("--json", action="store_true", help="as JSON")
    export = commands.add_parser("export", help="all trials with their configurations and last reports")
    export.add_argument("--format", choices=("csv", "json"), default="csv", help="default: csv")
    export.add_argument("-o", "--output", metavar="FILE", help="default: standard output")
    for command, run in ((show, _show), (best, _best), (export, _export)):
        command.add_argument("folder", metavar="FOLDER", help=_FOLDER)
        command.add_argument("--metric", help="default: that of the experiment")
        command.add_argument("--mode", choices=("min", "max"), help="default: that of the experiment")
        command.set_defaults(run=run)


class _Experiment:
    def __init__(self, location: str, metric: str | None = None, mode: str | None = None):
        found = json.loads(_read(location))
        self.location = location
        self.trials: list[dict[str, Any]] = found["trials"]
        self.metric: str | None = metric or found["spec"].get("metric")
        self.mode: str = mode or found["spec"].get("mode") or "min"

    def value(self, trial: dict[str, Any]) -> float | None:
        """Its last report's metric, where that is a finite number."""
        value = trial["last"].get(self.metric) if self.metric else None
        if value is None and self.metric:
            value = run_files.flat(self.last(trial)).get(self.metric)
        is_number = isinstance(value, (int, float)) and math.isfinite(value)
        return value if is_number else None

    def in_order(self) -> list[dict[str, Any]]:
        """The best first; those without a value last."""
        sign = 1 if self.mode == "min" else -1
        known = [
            (value is None, sign * (value or 0), index) for index, value in enumerate(map(self.value, self.trials))
        ]
        return [self.trials[index] for *_, index in sorted(known)]

    def folder(self, trial: dict[str, Any]) -> str:
        return locations.join(self.location, trial["folder"])

    def config(self, trial: dict[str, Any]) -> dict[str, Any]:
        return run_files.read_json(self.folder(trial), "params.json") or {}

    def last(self, trial: dict[str, Any]) -> dict[str, Any]:
        return run_files.last_report(self.folder(trial)) or {}


def _read(location: str) -> str:
    """What an experiment's journal says. That of remote storage is read from a copy.

    Raises:
        FileNotFoundError: there is none.
    """
    if not locations.is_remote(location):
        return _core.read_experiment(location)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, _JOURNAL).write_bytes(locations.read_file(locations.join(location, _JOURNAL)))
        return _core.read_experiment(folder)


def _written(location: str) -> float | None:
    """When an experiment's journal was written last; None where there is none."""
    journal = locations.join(location, _JOURNAL)
    if not locations.is_remote(location):
        return os.path.getmtime(journal) if os.path.exists(journal) else None
    path, files = locations.split(journal)
    time_ns = files.get_file_info(path).mtime_ns
    return None if time_ns is None else time_ns / 1e9


def _found(options: argparse.Namespace) -> _Experiment:
    places = found_run.places_of(options.folder, "FOLDER")
    for place in places:
        with contextlib.suppress(FileNotFoundError):
            location = place if locations.is_remote(place) else locations.local_path(place)
            return _Experiment(location, options.metric, options.mode)
    looked = " or ".join(map(locations.shown, places))
    raise FileNotFoundError(f"FOLDER is {options.folder!r}: there is no experiment in {looked}")


def _ls(options: argparse.Namespace) -> bool:
    location = locations.location_of(options.path or locations.default_storage(), argument="PATH")
    if not locations.is_remote(location):
        location = locations.local_path(location)
    is_there = locations.is_remote(location) or os.path.isdir(location)
    names = locations.directories_in(location) if is_there else []
    times = ((_written(locations.join(location, name)), name) for name in names)
    found = [(seen, name) for seen, name in times if seen is not None]
    if not found:
        print(f"no experiments in {locations.shown(location)}")
        return True
    rows = [["experiment", "trials", "ended", "failed", "age", "best"]]
    for seen, name in sorted(found):
        experiment = _Experiment(locations.join(location, name))
        states = Counter(trial["state"] for trial in experiment.trials)
        value = next(map(experiment.value, experiment.in_order()), None)
        best = "" if value is None else f"{experiment.metric}={value:.4g}"
        ended = str(states["terminated"] + states["errored"])
        rows.append([name, str(len(experiment.trials)), ended, str(states["errored"]), age(time.time() - seen), best])
    for line in table(rows):
        print(line)
    return True


def _show(options: argparse.Namespace) -> bool:
    experiment = _found(options)
    states = Counter(trial["state"] for trial in experiment.trials)
    words = ", ".join(f"{count} {state}" for state, count in states.items())
    print(f"{locations.name_of(experiment.location)}: {counted(len(experiment.trials), 'trial')} ({words})")
    order = experiment.in_order()
    shown = order if options.all else order[:_ROWS_MAX]
    rows = [["trial", "state", "reports", experiment.metric or "metric", "config", "why"]]
    for trial in shown:
        value = experiment.value(trial)
        figures = [str(trial["reports"]), "" if value is None else f"{value:.6g}"]
        config = short_metrics(experiment.config(trial))
        rows.append([trial["trial_id"], trial["state"], *figures, config, in_one_line(trial["reason"] or "")])
    for line in table(rows, left=(0, 1, -2, -1)):
        print(line)
    if len(shown) < len(order):
        print(f"... {counted(len(order) - len(shown), 'further trial')} (--all shows them)")
        failed = [trial for trial in order[len(shown) :] if trial["state"] == "errored"]
        for trial in failed[:_ROWS_MAX]:
            print(f"failed: {trial['trial_id']}: {in_one_line(trial['reason'] or '')}")
    return True


def _best(options: argparse.Namespace) -> bool:
    experiment = _found(options)
    trial = next((each for each in experiment.in_order() if experiment.value(each) is not None), None)
    if trial is None:
        there = sorted({name for each in experiment.trials for name in each["last"]})
        raise ValueError(
            f"--metric is {experiment.metric!r}, which no trial has reported as a number; there are: {there}"
        )
    folder = experiment.folder(trial)
    journal = run_files.read_journal(folder) or {}
    checkpoints = [each["name"] for each in journal.get("checkpoints", ())]
    found = {
        "trial_id": trial["trial_id"],
        "config": experiment.config(trial),
        "metrics": run_files.user_metrics(experiment.last(trial)),
        "reports": trial["reports"],
        "path": locations.shown(folder),
        "checkpoint": locations.shown(locations.join(folder, checkpoints[-1])) if checkpoints else None,
    }
    if options.json:
        print(json.dumps(found, indent=2))
        return True
    reached = f"{experiment.metric}={experiment.value(trial):.6g}"
    print(f"{trial['trial_id']}: {reached} after {counted(trial['reports'], 'report')}")
    print(f"config: {json.dumps(found['config'])}")
    print(f"metrics: {short_metrics(found['metrics'], 8)}")
    print(f"folder: {found['path']}")
    if found["checkpoint"]:
        print(f"checkpoint: {found['checkpoint']}")
    return True


def _export(options: argparse.Namespace) -> bool:
    experiment = _found(options)
    rows = []
    for trial in experiment.trials:
        metrics = {name: value for name, value in run_files.flat(experiment.last(trial)).items() if name != "trial_id"}
        config = {f"config/{name}": value for name, value in run_files.flat(experiment.config(trial)).items()}
        known = {name: trial[name] for name in ("trial_id", "state", "reason", "reports")}
        rows.append({**known, **config, **metrics, "path": locations.shown(experiment.folder(trial))})
    with contextlib.ExitStack() as stack:
        file = stack.enter_context(open(options.output, "w", newline="")) if options.output else sys.stdout
        if options.format == "json":
            json.dump(rows, file, indent=2)
            file.write("\n")
        else:
            writer = csv.DictWriter(file, list(dict.fromkeys(name for row in rows for name in row)))
            writer.writeheader()
            writer.writerows(rows)
    return True

"""``headway ls | status | logs``: runs, from their folders, while they are at work or later."""

from __future__ import annotations

import argparse
import os
import time
from typing import Any

from headway._command import found_run
from headway._command.text import age, in_one_line, short_metrics, table
from headway._storage import locations, run_files

_RUN = "a run: its folder (a path or a URL), or its name in the default storage path"


def add_to(subjects: Any) -> None:
    """The subcommands and their arguments."""
    ls = subjects.add_parser("ls", help="the runs of a storage path, the newest last")
    ls.add_argument("uri", metavar="URI", nargs="?", help="a folder of runs; default: the default storage path")
    ls.set_defaults(run=_ls)
    status = subjects.add_parser("status", help="what a run and its ranks are doing, or how it ended")
    status.add_argument("name", metavar="RUN", help=_RUN)
    status.set_defaults(run=_status)
    logs = subjects.add_parser("logs", help="what a run's ranks have printed")
    logs.add_argument("name", metavar="RUN", help=_RUN)
    logs.add_argument("--rank", type=int, help="one rank's alone, without its rank before each line")
    logs.add_argument("--lines", type=int, metavar="N", help="the last N lines of each rank; default: all")
    logs.set_defaults(run=_logs)


def _ls(options: argparse.Namespace) -> bool:
    location = locations.location_of(options.uri or locations.default_storage(), argument="URI")
    if options.uri and not locations.is_remote(location) and not os.path.isdir(locations.local_path(location)):
        raise NotADirectoryError(f"URI is {options.uri!r}, which is no folder")
    found, damages = [], []
    rows = [["run", "state", "reports", "attempt", "age", "metrics"]]
    for name in locations.directories_in(location):
        try:
            found.append(found_run.open_run(locations.join(location, name)))
        except FileNotFoundError:
            continue
        except OSError as error:
            damages.append(str(error))
            rows.append([name, "damaged", "", "", "", ""])
    if not found and not damages:
        print(f"no runs in {locations.shown(location)}")
        return True
    found.sort(key=lambda run: run.seen_unix_s)
    for run in found:
        figures = [str(run.reports), str(run.attempt), age(time.time() - run.seen_unix_s)]
        rows.append([locations.name_of(run.location), run.state, *figures, _last_metrics(run, damages)])
    for line in table(rows, left=(0, 1, -1)):
        print(line)
    for text in damages:
        print(f"damaged: {in_one_line(text)}")
    if any(run.state == "lost" for run in found):
        print("lost: the driver died before the run's end; the same name and storage path resume the run")
    return not damages


def _last_metrics(run: found_run.FoundRun, damages: list[str]) -> str:
    """Empty where the file with them is damaged, which ``damages`` then says."""
    try:
        return short_metrics(run_files.user_metrics(run_files.last_report(run.location) or {}))
    except OSError as error:
        damages.append(str(error))
        return ""


def _status(options: argparse.Namespace) -> bool:
    run = found_run.find(options.name)
    print(f"{locations.name_of(run.location)}: {run.words}")
    print(f"folder: {locations.shown(run.location)}")
    last = run_files.last_report(run.location)
    if last is not None:
        print(f"last report: {short_metrics(run_files.user_metrics(last), 8)}")
    if run.checkpoints:
        print(f"checkpoints: {len(run.checkpoints)} kept, the newest is {run.checkpoints[-1]}")
    if run.view is not None:
        print()
        for line in rank_table(run.view):
            print(line)
    return True


def rank_table(view: dict[str, Any]) -> list[str]:
    """What each rank of a run at work is doing."""
    rows = [["rank", "host", "pid", "reports", "s a report", "ms a step", "waits", "doing"]]
    for rank in view["ranks"]:
        doing = "ended" if rank["gone"] else rank["phase"]
        if rank["waits_for"]:
            doing += f", waiting for {rank['waits_for']}"
        took = rank.get("report_s")
        steps = rank.get("steps")
        waits = steps["waiting_share"] if steps is not None else None
        figures = [
            str(rank["pid"] or ""),
            str(rank["reports"]),
            "" if took is None else f"{took:.2f}",
            "" if steps is None else f"{1000 * steps['median_s']:.2f}",
            "" if waits is None else f"{100 * waits:.0f} %",
        ]
        rows.append([str(rank["rank"]), rank["hostname"], *figures, f"{doing} for {age(rank['phase_for_s'])}"])
    return table(rows, left=(1, -1))


def _logs(options: argparse.Namespace) -> bool:
    if options.lines is not None and options.lines < 1:
        raise ValueError(f"--lines is {options.lines}; allowed: at least 1")
    run = found_run.find(options.name)
    files = run_files.rank_logs(run.location)
    if options.rank is not None and options.rank not in files:
        there = ", ".join(map(str, files)) or "none"
        raise ValueError(f"--rank is {options.rank}; ranks with a log in {locations.shown(run.location)}: {there}")
    for rank, names in files.items():
        if options.rank not in (None, rank):
            continue
        prefix = "" if options.rank is not None else f"(rank {rank}) "
        for name in names:
            content = locations.read_file(locations.join(run.location, "logs", name)).decode(errors="replace")
            lines = content.removesuffix("\n").split("\n") if content else []
            for line in lines[-options.lines :] if options.lines else lines:
                # As a terminal ends up with it: a progress bar draws itself anew over what it was.
                print(prefix + in_one_line(line.rstrip("\r").rpartition("\r")[2]))
    return True

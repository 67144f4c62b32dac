"""``headway dashboard | top | runs``: runs with what each is doing in words, from their folders: on
a page in the browser, in the terminal, and for programs.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import signal
import socket
import sys
import time
from typing import Any

from headway import _core
from headway._command import found_run
from headway._command.nodes import USE_COLUMNS, use_cells
from headway._command.runs import rank_table
from headway._command.text import age, in_one_line, short_metrics, table
from headway._storage import locations, run_files
from headway._values.log import is_terminal

_FOLDER = (
    "a run, an experiment, or a folder of both (a path; of a run also a URL), or a run's name in the default storage "
    "path; default: that path"
)
_ENDS = ("finished", "failed", "aborted", "lost")
_REDRAWN_S = 1.0


def add_to(subjects: Any) -> None:
    """The subcommands and their arguments."""
    dashboard = subjects.add_parser("dashboard", help="show runs and experiments in the browser, from their folders")
    dashboard.add_argument("folder", metavar="FOLDER", nargs="?", help=_FOLDER)
    dashboard.add_argument("--port", type=int, default=0, help="default: any that is free")
    dashboard.add_argument(
        "--host",
        metavar="ADDRESS",
        default="127.0.0.1",
        help="an address of this machine, such as 0.0.0.0 for all of them: other machines can see the page, over TLS "
        "and with the token; default: 127.0.0.1, this machine alone",
    )
    dashboard.set_defaults(run=_dashboard)
    top = subjects.add_parser("top", help="what a run and its ranks are doing, drawn anew each second until it ends")
    top.add_argument(
        "name", metavar="RUN", help="a run: its folder (a path or a URL), or its name in the default storage path"
    )
    top.add_argument("--once", action="store_true", help="once, as without a terminal")
    top.set_defaults(run=_top)
    runs = subjects.add_parser("runs", help="the runs of a storage path with what each is doing")
    runs.add_argument("uri", metavar="URI", nargs="?", help="a folder of runs; default: the default storage path")
    runs.add_argument("--json", action="store_true", help="as a list of objects")
    runs.set_defaults(run=_runs)


def _dashboard(options: argparse.Namespace) -> bool:
    if not 0 <= options.port < 65536:
        raise ValueError(f"--port is {options.port}; allowed: 0 (any that is free) to 65535")
    places = found_run.places_of(options.folder, "FOLDER") if options.folder else [locations.default_storage()]
    location = next((place for place in map(_prepared, places) if _is_there(place)), _prepared(places[0]))
    names = [] if options.host in ("127.0.0.1", "::1", "localhost") else [socket.gethostname()]
    dashboard = _core.Dashboard.of_folder("FOLDER", location, options.host, options.port, names)
    print(f"dashboard of {locations.shown(location)}: {dashboard.url}")
    print("Ctrl-C ends it", flush=True)
    signal.pause()
    return True


def _prepared(place: str) -> str:
    return locations.prepare(locations.location_of(place, argument="FOLDER"))


def _is_there(location: str) -> bool:
    return locations.is_remote(location) or os.path.isdir(locations.local_path(location))


def _summary(location: str) -> dict[str, Any]:
    summary: dict[str, Any] = json.loads(_core.run_summary(locations.prepare(location)))
    return summary


def _top(options: argparse.Namespace) -> bool:
    once = options.once or not is_terminal(sys.stdout)
    while True:
        run = found_run.find(options.name)
        summary = _summary(run.location)
        status = run_files.read_status(run.location) if run.view is not None else None
        lines = _screen(summary, run.view, (status or {}).get("engine", {}).get("nodes", []))
        if once:
            print("\n".join(lines))
            return True
        height = shutil.get_terminal_size().lines - 1
        # The cursor to the top, each line cleared to its end, and what is below.
        print("\x1b[H" + "".join(f"{line}\x1b[K\n" for line in lines[:height]) + "\x1b[J", end="", flush=True)
        if summary["state"] in _ENDS:
            return True
        time.sleep(_REDRAWN_S)


def _screen(summary: dict[str, Any], view: dict[str, Any] | None, nodes: list[dict[str, Any]]) -> list[str]:
    words = in_one_line(summary["verdict"]["words"])
    lines = [f"{summary['name']}: {words}", f"folder: {in_one_line(summary['path'])}"]
    lines[1:1] = [in_one_line(why) for why in _whys(summary)]
    since = summary["verdict"]["since_s"]
    lines.append(
        f"attempt {summary['attempt']}, {summary['reports']} reports, {age(summary['time_total_s'])} at work"
        + (f", so for {age(time.time() - since)}" if since is not None else "")
    )
    if summary["last"]:
        lines.append(f"last report: {short_metrics(summary['last'], 8)}")
    if view is not None:
        lines += ["", *rank_table(view), *_nodes_of(view, nodes)]
    return lines


def _nodes_of(view: dict[str, Any], nodes: list[dict[str, Any]]) -> list[str]:
    """How much is in use of the nodes that a run's ranks are on."""
    taken = {rank["node_id"] for rank in view["ranks"]}
    rows = [
        [each["node"]["hostname"], *use_cells(each["use"])]
        for each in nodes
        if each["node"]["node_id"] in taken and each.get("use")
    ]
    return ["", *table([["host", *USE_COLUMNS], *rows], left=(0,))] if rows else []


def _reason(run: dict[str, Any]) -> str:
    """Its verdict, and why it is so where that says more."""
    return "; ".join([run["verdict"]["words"], *_whys(run)])


def _whys(run: dict[str, Any]) -> list[str]:
    """Why it was slow, and since when; why it was restarted."""
    cause, since = run["cause"], run["cause_since_unix_s"]
    if cause and since is not None:
        at = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(since))
        cause = cause.replace("slow: ", f"slow since {at}: ", 1)
    return [why for why in (cause, run["restart"]) if why]


def _runs(options: argparse.Namespace) -> bool:
    location = locations.location_of(options.uri or locations.default_storage(), argument="URI")
    if options.uri and not locations.is_remote(location) and not os.path.isdir(locations.local_path(location)):
        raise NotADirectoryError(f"URI is {options.uri!r}, which is no folder")
    found = []
    for name in locations.directories_in(location):
        with contextlib.suppress(FileNotFoundError):
            found.append(_summary(locations.join(location, name)))
    found.sort(key=lambda run: run["started_unix_s"] or 0)
    if options.json:
        print(json.dumps(found, indent=2))
        return True
    if not found:
        print(f"no runs in {locations.shown(location)}")
        return True
    rows = [["run", "reports", "verdict"]]
    rows += [[run["name"], str(run["reports"]), _reason(run)] for run in found]
    for line in table(rows, left=(0, -1)):
        print(line)
    return True

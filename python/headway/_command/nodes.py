"""``headway nodes``: the nodes of a driver that is at work."""

from __future__ import annotations

import argparse
import os
from typing import Any

from headway._command import found_run
from headway._command.text import table
from headway._storage import locations, run_files

_SHOWN = ("CPU", "GPU")


def add_to(subjects: Any) -> None:
    """The subcommand and its arguments."""
    nodes = subjects.add_parser("nodes", help="the nodes of a running driver, what is free there, and who waits")
    nodes.add_argument(
        "name",
        metavar="RUN",
        nargs="?",
        help="a run of that driver; default: the one that changed last in the storage path",
    )
    nodes.set_defaults(run=_nodes)


def _nodes(options: argparse.Namespace) -> bool:
    run = found_run.find(options.name) if options.name else _newest()
    status = run_files.read_status(run.location) if run.view is not None else None
    name = locations.name_of(run.location)
    if status is None:
        raise ValueError(f"{name} is not at work on this machine: {run.words}")
    if "engine" not in status:
        raise ValueError(f"the driver of {name} is of a version that does not say its nodes")
    engine = status["engine"]
    rows = [["node", "host", "CPU", "GPU", "free CPU", "free GPU", "ranks", "state"]]
    ranks: dict[str, int] = {}
    for rank in status["view"]["ranks"]:
        ranks[rank["node_id"]] = ranks.get(rank["node_id"], 0) + (not rank["gone"])
    for each in engine["nodes"]:
        node = each["node"]
        amounts = [f"{amounts.get(kind, 0):g}" for amounts in (node["total"], each["available"]) for kind in _SHOWN]
        state = "leaves" if each["leaving"] else "up"
        rows.append([node["node_id"], node["hostname"], *amounts, str(ranks.get(node["node_id"], 0)), state])
    for line in table(rows, left=(0, 1, -1)):
        print(line)
    more = status["nodes_count"] - len(engine["nodes"])
    if more > 0:
        print(f"and {more} more")
    for waiting in engine["waiting"]:
        print(f"{waiting['wanted']} wait for {'nodes to join' if waiting['for_nodes'] else 'others to end'}")
    print(f"ranks are those of {name}; the driver is process {status['driver']['pid']} on {status['host']}")
    return True


def _newest() -> found_run.FoundRun:
    """The run of the default storage path that is at work and has changed last."""
    location = locations.location_of(locations.default_storage())
    found = []
    for name in locations.directories_in(location):
        try:
            run = found_run.open_run(locations.join(location, name))
        except OSError:
            continue
        if run.view is not None:
            found.append(run)
    if not found:
        raise FileNotFoundError(f"no run in {locations.shown(location)} is at work: name a RUN by its folder")
    return max(found, key=lambda run: os.path.getmtime(os.path.join(locations.local_path(run.location), "status.json")))

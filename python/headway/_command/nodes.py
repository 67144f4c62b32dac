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
    rows = [["node", "host", "CPU", "GPU", "free CPU", "free GPU", *USE_COLUMNS, "ranks", "state"]]
    ranks: dict[str, int] = {}
    for rank in status["view"]["ranks"]:
        ranks[rank["node_id"]] = ranks.get(rank["node_id"], 0) + (not rank["gone"])
    for each in engine["nodes"]:
        node = each["node"]
        amounts = [f"{amounts.get(kind, 0):g}" for amounts in (node["total"], each["available"]) for kind in _SHOWN]
        state = "leaves" if each["leaving"] else "up"
        figures = [*amounts, *use_cells(each.get("use")), str(ranks.get(node["node_id"], 0))]
        rows.append([node["node_id"], node["hostname"], *figures, state])
    for line in table(rows, left=(0, 1, -1)):
        print(line)
    more = status["nodes_count"] - len(engine["nodes"])
    if more > 0:
        print(f"and {more} more")
    for waiting in engine["waiting"]:
        print(f"{waiting['wanted']} wait for {'nodes to join' if waiting['for_nodes'] else 'others to end'}")
    print(f"ranks are those of {name}; the driver is process {status['driver']['pid']} on {status['host']}")
    return True


USE_COLUMNS = ("CPUs at work", "memory", "GPUs at work", "their memory")


def use_cells(use: dict[str, Any] | None) -> list[str]:
    """How much of a node is in use, by all of its processes, in the columns ``USE_COLUMNS``. Empty
    where it is not known.

    Args:
        use: The node's part of ``node::Use``, as status.json has it.
    """
    use = use or {}
    gpus: list[dict[str, Any]] = use.get("gpus") or []
    shares = ["?" if gpu["share"] is None else f"{100 * gpu['share']:.0f}" for gpu in gpus]
    return [
        "" if use.get("cpu_share") is None else f"{100 * use['cpu_share']:.0f} %",
        _of(use.get("memory_bytes"), use.get("memory_total_bytes")),
        f"{' '.join(shares)} %" if gpus else "",
        _of(_sum(gpus, "memory_bytes"), _sum(gpus, "memory_total_bytes")),
    ]


def _sum(gpus: list[dict[str, Any]], name: str) -> float | None:
    amounts = [gpu[name] for gpu in gpus]
    return None if not amounts or None in amounts else sum(amounts)


def _of(held: float | None, there: float | None) -> str:
    """A part of a whole, in words: ``"12.1 of 25.2 GB"``."""
    return "" if held is None or there is None else f"{held / 1e9:.1f} of {there / 1e9:.1f} GB"


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

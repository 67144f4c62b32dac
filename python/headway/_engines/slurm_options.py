"""The arguments of ``headway.init("slurm", ...)``."""

from __future__ import annotations

import math
import os
import re
import sys
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from headway._engines.pool_options import check_pools
from headway._values.arguments import (
    check_bool,
    check_int,
    check_labels,
    check_number,
    check_resources,
    check_str,
    check_texts,
    refuse,
)

#: What each pool of nodes may have differently, with their meaning in docs/clusters.md.
POOL_NAMES = (
    "partition",
    "account",
    "qos",
    "time",
    "nodes",
    "cpus_per_node",
    "gpus_per_node",
    "accelerator_type",
    "resources_per_node",
    "node_labels",
    "sbatch_args",
    "setup",
)
SLURM_NAMES = (
    *POOL_NAMES,
    "pools",
    "python",
    "notice_s",
    "new_jobs",
)
_NODES_MAX = 10_000
_TIMES = re.compile(r"\d+(:\d\d?){0,2}|\d+-\d\d?(:\d\d?){0,2}")
# What Headway itself says of a job: one node, and what runs there.
_OWN = (
    "array",
    "dependency",
    "job-name",
    "nodes",
    "ntasks",
    "ntasks-per-node",
    "output",
    "error",
    "parsable",
    "signal",
    "wait",
    "wrap",
)
# "--gres=gpu:a100:4", "--gpus-per-node=4", "--cpus-per-task=8".
_GPUS = re.compile(r"--(?:gres=gpu|gpus-per-node)(?:[:=](?!\d)\w+)?(?:[:=](\d+))?")
_CPUS = re.compile(r"(?:--cpus-per-task=|-c)(\d+)")
_OWN_SHORT = {"-N", "-n", "-J", "-o", "-e", "-W", "-a", "-d"}


def check_slurm(address: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Checked and completed options: those of each pool by its name (``""``: the only one), with
    what a node gets as ``cpus`` and ``gpus``; beside them ``node``: what
    a node is where the driver runs within a job.

    Args:
        address: ``"slurm"``.
        options: By the names above; what is missing has its default.
    """
    del address
    return {
        "pools": check_pools(options, POOL_NAMES, _pool, ""),
        "node": _pool("", {name: options[name] for name in POOL_NAMES if name in options}),
        "python": check_str("python", options.get("python") or sys.executable, "None or the path of a Python"),
        "notice_s": _notice_s(options.get("notice_s", 60)),
        "new_jobs": check_bool("new_jobs", options.get("new_jobs", False)),
        "directory": os.getcwd(),
    }


def _pool(where: str, given: Mapping[str, Any]) -> dict[str, Any]:
    sbatch_args = _sbatch_args(f"{where}sbatch_args", given.get("sbatch_args") or [])
    cpus = _count(f"{where}cpus_per_node", given.get("cpus_per_node"), 1)
    gpus = _count(f"{where}gpus_per_node", given.get("gpus_per_node"), 0)
    resources = check_resources(f"{where}resources_per_node", given.get("resources_per_node") or {})
    kind = given.get("accelerator_type")
    if kind is not None:
        kind = check_str(f"{where}accelerator_type", kind, 'None or a type of GPUs, such as "A100"')
        if not kind or kind != kind.strip() or not kind.isprintable():
            raise ValueError(f'{where}accelerator_type is {kind!r}; allowed: None or a type of GPUs, such as "A100"')
        resources[f"accelerator_type:{kind}"] = 1.0
    setup = check_str(f"{where}setup", given.get("setup") or "", "lines of a shell script, such as 'module load cuda'")
    return {
        **{name: _word(f"{where}{name}", given.get(name)) for name in ("partition", "account", "qos")},
        "time": _time(f"{where}time", given.get("time")),
        "nodes": check_nodes(given.get("nodes", (0, 16)), f"{where}nodes"),
        "cpus_per_node": cpus,
        "gpus_per_node": gpus,
        "cpus": _asked(_CPUS, sbatch_args) if cpus is None else cpus,
        "gpus": _asked(_GPUS, sbatch_args) if gpus is None else gpus,
        "resources_per_node": resources,
        "node_labels": check_labels(f"{where}node_labels", given.get("node_labels") or {}),
        "sbatch_args": sbatch_args,
        "setup": setup,
    }


def _word(argument: str, value: object) -> str | None:
    if value is None:
        return None
    text = check_str(argument, value, "None or a name that Slurm knows")
    if not text or text != text.strip() or not text.isprintable():
        raise ValueError(f"{argument} is {text!r}; allowed: None or a name that Slurm knows")
    return text


def _time(argument: str, value: object) -> str | None:
    """As sbatch has it."""
    allowed = 'None (the partition\'s), minutes, "hours:minutes:seconds", "days-hours" or a timedelta'
    if value is None:
        return None
    if isinstance(value, timedelta):
        value = math.ceil(value.total_seconds() / 60)
    if isinstance(value, str):
        if not _TIMES.fullmatch(value):
            raise ValueError(f"{argument} is {value!r}; allowed: {allowed}")
        return value
    minutes = check_int(argument, value, allowed)
    if minutes < 1:
        raise ValueError(f"{argument} is {minutes}; allowed: {allowed}")
    return str(minutes)


def check_nodes(value: object, argument: str = "nodes") -> list[int]:
    """The least and the most."""
    allowed = "a number of nodes, or (least, most), such as (1, 16)"
    if isinstance(value, Sequence) and not isinstance(value, str):
        if len(value) != 2:
            refuse(argument, value, allowed)
        least, most = (check_int(argument, each, allowed) for each in value)
    else:
        least = most = check_int(argument, value, allowed)
    if not (0 <= least <= most and 1 <= most <= _NODES_MAX):
        raise ValueError(
            f"{argument} is {value!r}; allowed: {allowed}, with at least 1 and at most {_NODES_MAX} in all"
        )
    return [least, most]


def _count(argument: str, value: object, least: int) -> int | None:
    if value is None:
        return None
    count = check_int(argument, value, f"None or a whole number from {least} on")
    if count < least:
        raise ValueError(f"{argument} is {count}; allowed: None or a whole number from {least} on")
    return count


def _sbatch_args(where: str, value: object) -> list[str]:
    arguments = check_texts(where, value, 'a list of arguments of sbatch, such as ["--constraint=a100"]')
    if arguments and not arguments[0].startswith("-"):
        raise ValueError(f"{where} has {arguments[0]!r} first; allowed: arguments that begin with a hyphen")
    for argument in arguments:
        name = argument.partition("=")[0]
        if name.removeprefix("--") in _OWN or argument[:2] in _OWN_SHORT:
            raise ValueError(f"{where} has {argument!r}; allowed: others, as Headway sets --{', --'.join(_OWN)}")
    return arguments


def _asked(pattern: re.Pattern[str], arguments: Sequence[str]) -> int | None:
    """How many of something arguments of sbatch ask for on a node; None: nothing is said."""
    found = [int(match[1] or 1) for argument in arguments if (match := pattern.fullmatch(argument))]
    return found[-1] if found else None


def _notice_s(value: object) -> int:
    seconds = check_number("notice_s", value, "seconds from 10 to 3600")
    if not 10 <= seconds <= 3600:
        raise ValueError(f"notice_s is {seconds:g}; allowed: seconds from 10 to 3600")
    return round(seconds)

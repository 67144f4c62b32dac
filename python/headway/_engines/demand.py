"""How many nodes of one kind a demand needs. Nothing here asks anybody anything."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Shape:
    """What each node of an engine has.

    Attributes:
        resources: Amounts, ``{"CPU": 8.0, "GPU": 1.0}``. What is not named, a node has not.
        unknown: Names of resources of which a node has an amount that is not known, so that one
            worker goes to each node.
        labels: What selectors look at.
    """

    resources: Mapping[str, float]
    unknown: frozenset[str] = frozenset()
    labels: Mapping[str, str] = field(default_factory=dict)

    def workers(self, each: Mapping[str, float], beside: Mapping[str, float]) -> int:
        """How many workers fit on one node, beside something else."""
        fits = math.inf
        for name, amount in each.items():
            if amount <= 0 or name == "memory":
                continue
            if name in self.unknown:
                fits = min(fits, 1)
                continue
            free = self.resources.get(name, 0.0) - beside.get(name, 0.0)
            fits = min(fits, math.floor(free / amount + 1e-9))
        return max(0, int(min(fits, 1_000_000)))


@dataclass(frozen=True)
class Need:
    """What a demand needs.

    Attributes:
        nodes: So many, at most.
        cannot: The first of its parts, in words, that no number of nodes could serve.
    """

    nodes: int
    cannot: str | None = None


def needed(parts: Sequence[Mapping[str, Any]], shape: Shape) -> Need:
    """The nodes for all that waits."""
    nodes, cannot = 0, None
    for part in parts:
        count = _nodes_of(part, shape)
        if count is None:
            cannot = cannot or _words(part, shape)
        else:
            nodes += count
    return Need(nodes, cannot)


def _nodes_of(part: Mapping[str, Any], shape: Shape) -> int | None:
    """For all requests of a part, which may share nodes; None: these nodes can't serve them."""
    if not all(matches(shape.labels, selector) for selector in part["selectors"]):
        return None
    workers, times, placement = part["workers_max"], part["times"], part["placement"]
    on_one = shape.workers(part["each"], {})
    if on_one == 0 or shape.workers(part["beside"], {}) == 0:
        return None
    # What is beside a request's workers takes the place of some.
    beside_them = shape.workers(part["each"], part["beside"])
    lost = on_one - beside_them
    if placement == "STRICT_PACK":
        if beside_them < part["workers_min"]:
            return None
        return math.ceil(times / max(1, on_one // (min(workers, beside_them) + lost)))
    nodes = max(1, math.ceil(times * (workers + lost) / on_one))
    return max(nodes, workers) if placement in ("SPREAD", "STRICT_SPREAD") else nodes


def _words(part: Mapping[str, Any], shape: Shape) -> str:
    amounts = ", ".join(f"{name}: {amount:g}" for name, amount in part["each"].items())
    workers = part["workers_min"]
    text = f"{workers} worker{'' if workers == 1 else 's'} with {{{amounts}}} each"
    if part["placement"] == "STRICT_PACK":
        text += " on one node"
    for selector in part["selectors"]:
        if not matches(shape.labels, selector):
            return text + f" on nodes with {dict(selector)}"
    return text


def matches(labels: Mapping[str, str], selector: Mapping[str, str]) -> bool:
    """Whether nodes with these labels are among those that a selector means, whose values are
    ``"x"``, ``"!x"``, ``"in(x, y)"`` and ``"!in(x, y)"``.
    """
    for name, value in selector.items():
        no = value.startswith("!")
        wanted = value.removeprefix("!")
        if wanted.startswith("in(") and wanted.endswith(")"):
            found = labels.get(name) in [each.strip() for each in wanted[3:-1].split(",")]
        else:
            found = labels.get(name) == wanted
        if found == no:
            return False
    return True

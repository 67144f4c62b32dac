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

    def text(self) -> str:
        """``"{CPU: 8, GPU: 1} and labels {'zone': 'a'}"``."""
        text = ", ".join(f"{name}: {amount:g}" for name, amount in self.resources.items() if amount)
        return f"{{{text}}}" + (f" and labels {dict(self.labels)}" if self.labels else "")

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
class Shares:
    """A demand over several kinds of nodes.

    Attributes:
        of: What is asked of each kind, in their order.
        cannot: The first part, in words, that no kind could serve.
    """

    of: list[list[dict[str, Any]]]
    cannot: str | None = None


def shares(parts: Sequence[Mapping[str, Any]], shapes: Sequence[Shape]) -> Shares:
    """Asks each part of the first kind of nodes that can serve it. The workers of a part that have
    a selector each are shared out one by one.
    """
    of: list[list[dict[str, Any]]] = [[] for _ in shapes]
    cannot = None
    for part in parts:
        pieces = _pieces(part)
        kinds = [next((number for number, shape in enumerate(shapes) if _serves(shape, each)), None) for each in pieces]
        for kind, piece in zip(kinds, pieces, strict=True):
            if kind is None:
                cannot = cannot or words_of(piece)
            else:
                of[kind].append(piece)
    return Shares(of, cannot)


def _pieces(part: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What may go to nodes of different kinds: the workers of each selector."""
    selectors = part["selectors"]
    if len(selectors) < 2 or part["placement"] == "STRICT_PACK":
        return [dict(part)]
    pieces = []
    for selector in {repr(each): each for each in selectors}.values():
        workers = selectors.count(selector)
        least, most = min(workers, part["workers_min"]), min(workers, part["workers_max"])
        pieces.append({**part, "selectors": [selector], "workers_min": least, "workers_max": most})
        part = {**part, "beside": {}}
    return pieces


def _serves(shape: Shape, part: Mapping[str, Any]) -> bool:
    return _nodes_of(part, shape) is not None


def needed(parts: Sequence[Mapping[str, Any]], shape: Shape) -> int:
    """The nodes for all that waits; what they can't serve needs none."""
    return sum(_nodes_of(part, shape) or 0 for part in parts)


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


def words_of(part: Mapping[str, Any]) -> str:
    """What a part asks for, with the selectors of its workers."""
    amounts = ", ".join(f"{name}: {amount:g}" for name, amount in part["each"].items())
    workers = part["workers_min"]
    text = f"{workers} worker{'' if workers == 1 else 's'} with {{{amounts}}} each"
    if part["placement"] == "STRICT_PACK":
        text += " on one node"
    selectors = {repr(dict(each)): None for each in part["selectors"]}
    return text + (f" on nodes with {' and '.join(selectors)}" if selectors else "")


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

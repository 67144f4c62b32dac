"""Which bundles a demand needs of a Ray cluster. Pure: it knows Ray's nodes as values, and no
Ray.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

Amounts = dict[str, float]
Labels = dict[str, str]

_SLACK = 1e-6  # Ray counts in ten-thousandths.
#: Headway's labels, and Ray's for the same.
_LABEL_NAMES = {"headway.io/accelerator-type": "ray.io/accelerator-type"}
NODE_LABEL = "ray.io/node-id"


@dataclass(frozen=True)
class Need:
    """A part of a demand: workers that are placed together.

    Attributes:
        workers_min: Fewer are of no use.
        workers_max: More are not taken.
        each: What one worker claims.
        selectors: Which nodes: none, one for all workers, or one for each.
        placement: PACK, SPREAD, STRICT_PACK or STRICT_SPREAD.
        beside: What is held beside the workers, on one node.
    """

    workers_min: int
    workers_max: int
    each: tuple[tuple[str, float], ...]
    selectors: tuple[tuple[tuple[str, str], ...], ...] = ()
    placement: str = "PACK"
    beside: tuple[tuple[str, float], ...] = ()

    @property
    def amounts(self) -> Amounts:
        """What a worker takes of Ray. One that claims nothing takes a CPU, as actors do."""
        return {name: amount for name, amount in self.each if amount > 0} or {"CPU": 1.0}

    def selector(self, worker: int) -> Labels:
        """Ray's selector for a worker's node."""
        if not self.selectors:
            return {}
        return dict(self.selectors[worker if len(self.selectors) > 1 else 0])

    @property
    def is_mixed(self) -> bool:
        """Workers differ in the nodes that they may have."""
        return len(set(self.selectors)) > 1


@dataclass(frozen=True)
class Bundle:
    """What one agent gets: room for workers on one node.

    Attributes:
        amounts: Its resources, by Ray's names.
        selector: Ray's selector for its node.
    """

    amounts: Amounts
    selector: Labels = field(default_factory=dict)


@dataclass(frozen=True)
class Room:
    """A Ray node, or an agent, with what is free there."""

    amounts: Amounts
    labels: Labels = field(default_factory=dict)
    node_id: str = ""

    def without(self, amounts: Mapping[str, float]) -> Room:
        """The same with less."""
        return replace(self, amounts={n: a - amounts.get(n, 0.0) for n, a in self.amounts.items()})


def needs_of(parts: Iterable[Mapping[str, Any]]) -> list[tuple[Need, int]]:
    """The parts of a ``want`` line, with how often each is wanted.

    Single workers that are wanted many times are one need: they share agents.
    """
    needs = []
    for part in parts:
        each = dict(part["each"])
        if part.get("advised_cpus"):
            each["CPU"] = each.get("CPU", 0.0) + part["advised_cpus"]
        need = Need(
            part["workers_min"],
            part["workers_max"],
            tuple(sorted(each.items())),
            tuple(_ray_selector(selector) for selector in part.get("selectors", ())),
            part["placement"],
            tuple(sorted((name, amount) for name, amount in part.get("beside", {}).items() if amount > 0)),
        )
        times = part.get("times", 1)
        if times > 1 and need.workers_max == 1 and not need.beside:
            need, times = replace(need, workers_max=times, placement="PACK"), 1
        needs.append((need, times))
    return needs


def _ray_selector(selector: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((_LABEL_NAMES.get(name, name), text) for name, text in selector.items()))


def capacity(room: Mapping[str, float], each: Mapping[str, float], limit: int) -> int:
    """How many workers, up to ``limit``, fit."""
    for name, amount in each.items():
        if amount > 0:
            limit = min(limit, int((room.get(name, 0.0) + _SLACK) / amount))
    return max(limit, 0)


def matches(labels: Mapping[str, str], selector: Mapping[str, str]) -> bool:
    """Whether labels are as a selector (``x``, ``!x``, ``in(x, y)``, ``!in(x, y)``) wants them."""
    for name, wanted in selector.items():
        text = wanted.removeprefix("!")
        values = [each.strip() for each in text[3:-1].split(",")] if text.startswith("in(") else [text]
        if (labels.get(name) in values) == wanted.startswith("!"):
            return False
    return True


def times(amounts: Mapping[str, float], count: int) -> Amounts:
    """The resources of so many workers."""
    return {name: amount * count for name, amount in amounts.items()}


def plus(one: Mapping[str, float], other: Mapping[str, float]) -> Amounts:
    """The sum."""
    return {name: one.get(name, 0.0) + other.get(name, 0.0) for name in {**one, **other}}


def serve(need: Need, rooms: Sequence[Room]) -> tuple[int, list[Room], list[int]]:
    """Places as many workers of a need as fit into rooms.

    Returns:
        How many; the rooms without them; how many in each room. A need that must be on one node
        takes one room.
    """
    each, left = need.amounts, list(rooms)
    counts = [0] * len(left)
    if need.placement == "STRICT_PACK":
        for index, room in enumerate(left):
            fits = capacity(room.amounts, plus(times(each, need.workers_min), dict(need.beside)), 1)
            if fits and all(matches(room.labels, need.selector(worker)) for worker in range(need.workers_min)):
                count = capacity(room.without(dict(need.beside)).amounts, each, need.workers_max)
                counts[index] = count
                left[index] = room.without(plus(times(each, count), dict(need.beside)))
                return count, left, counts
        return 0, left, counts
    beside = dict(need.beside)
    for worker in range(need.workers_max):
        chosen = _room_for(need, worker, left, counts, beside)
        if chosen is None:
            break
        left[chosen] = left[chosen].without(plus(each, beside))
        counts[chosen] += 1
        beside = {}
    return sum(counts), left, counts


def _room_for(need: Need, worker: int, rooms: list[Room], counts: list[int], beside: Amounts) -> int | None:
    wanted, selector = plus(need.amounts, beside), need.selector(worker)
    able = [
        index
        for index, room in enumerate(rooms)
        if capacity(room.amounts, wanted, 1) and matches(room.labels, selector)
    ]
    if need.placement == "STRICT_SPREAD":
        able = [index for index in able if not counts[index]]
    if not able:
        return None
    if need.placement in ("SPREAD", "STRICT_SPREAD"):
        return min(able, key=lambda index: counts[index])
    # As few nodes as it takes: those that have workers, then the largest.
    return max(able, key=lambda index: (counts[index] > 0, capacity(rooms[index].amounts, need.amounts, 1 << 20)))


def bundles_that_fit(need: Need, rooms: Sequence[Room]) -> list[Bundle]:
    """The bundles that hold as many workers as there is room for now, one for each node; none when
    that is fewer than the least.
    """
    placed, _, counts = serve(need, rooms)
    if placed < need.workers_min:
        return []
    if need.is_mixed or need.placement != "PACK":
        return bundles(need, placed)
    shares = sorted((count for count in counts if count), reverse=True)
    made = [Bundle(times(need.amounts, count), need.selector(0)) for count in shares]
    return [_beside(need, made[0]), *made[1:]]


def bundles(need: Need, workers: int) -> list[Bundle]:
    """The bundles for so many workers, whatever nodes there are: one for each, except on one
    node.
    """
    if need.placement == "STRICT_PACK":
        selector = {name: text for worker in range(workers) for name, text in need.selector(worker).items()}
        return [_beside(need, Bundle(times(need.amounts, workers), selector))]
    made = [Bundle(dict(need.amounts), need.selector(worker)) for worker in range(workers)]
    return [_beside(need, made[0]), *made[1:]] if made else []


def _beside(need: Need, bundle: Bundle) -> Bundle:
    return replace(bundle, amounts=plus(bundle.amounts, dict(need.beside)))


def elsewhere(bundle: Bundle, node_ids: Iterable[str]) -> Bundle:
    """The same bundle, not on these nodes."""
    ids = sorted(set(node_ids))
    return replace(bundle, selector={**bundle.selector, NODE_LABEL: f"!in({','.join(ids)})"}) if ids else bundle


def missing(need: Need, present: int) -> Need | None:
    """What of a need is to be placed beside ``present`` workers; None: nothing."""
    if present >= need.workers_min:
        return None
    if not present:
        return need
    selectors = need.selectors[present:] if len(need.selectors) > 1 else need.selectors
    return replace(
        need, workers_min=need.workers_min - present, workers_max=need.workers_max - present, selectors=selectors
    )


def text_of(amounts: Mapping[str, float]) -> str:
    """Resources as in ``{CPU: 2, GPU: 1}``."""
    return "{" + ", ".join(f"{name}: {amount:g}" for name, amount in sorted(amounts.items())) + "}"

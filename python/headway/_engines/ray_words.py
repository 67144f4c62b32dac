"""Why Ray has no room, in words."""

from __future__ import annotations

from collections.abc import Sequence

from headway._engines.ray_plan import Bundle, Need, Room, bundles_that_fit, capacity, matches, text_of


def why_it_waits(need: Need, bundles: Sequence[Bundle], nodes: Sequence[Room]) -> str:
    """What a group waits for.

    Args:
        need: What it is for.
        bundles: What it asks for.
        nodes: Ray's nodes with all that they have.
    """
    count = need.workers_min
    waits = f"{count} worker{'' if count == 1 else 's'} with {text_of(need.amounts)}"
    if need.placement != "PACK":
        waits += f" ({need.placement})"
    waits += f" wait{'s' if count == 1 else ''} for Ray"
    there = ", ".join(sorted({text_of(shown) for room in nodes if (shown := _shown(room))})) or "nothing"
    for bundle in bundles:
        able = [room for room in nodes if matches(room.labels, bundle.selector)]
        if not able:
            return f"{waits}: it has no node with labels as {bundle.selector}, until one is added"
        if not any(capacity(room.amounts, bundle.amounts, 1) for room in able):
            return (
                f"{waits}: it has no node that is large enough for {text_of(bundle.amounts)}, until one is added (its "
                f"nodes have {there})"
            )
    if bundles_that_fit(need, nodes):
        return f"{waits}: others use its nodes (which have {there})"
    return f"{waits}: its nodes do not suffice, until more are added ({len(nodes)} nodes, which have {there})"


def _shown(room: Room) -> dict[str, float]:
    hidden = ("node:", "object_store_memory", "memory")
    return {name: amount for name, amount in room.amounts.items() if not name.startswith(hidden)}

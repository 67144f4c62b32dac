"""A placement group of Ray, and the agents in its bundles."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from headway._engines.ray_plan import Amounts, Bundle, Need, Room, plus


@dataclass(eq=False)
class Seat:
    """An agent, and the actor above it.

    Attributes:
        allocation: What its label says to the driver.
        indices: The bundles that it has; the actor is in the first.
        actor: Its Launcher.
        end: Ray's reference to how it ends.
        room: What it offers, with Ray's id of its node.
        is_up: It has joined the driver.
        is_told: It has heard that its node will be taken away.
        is_over: The driver has given it back, or lost it: it is to be ended.
    """

    allocation: str
    indices: list[int]
    actor: Any
    end: Any
    room: Room
    is_up: bool = False
    is_told: bool = False
    is_over: bool = False


@dataclass(eq=False)
class Group:
    """Bundles that Ray places together.

    Attributes:
        need: What it was made for.
        bundles: In Ray's order.
        handle: Ray's.
        seats: The agents in it. A group whose last agent ends is removed.
        returned: Bundles whose agents the driver has given back: Ray keeps them for the group.
        is_created: Ray has found places for it, once.
        said: What the user was last told about its waiting.
    """

    need: Need
    bundles: list[Bundle]
    handle: Any
    seats: list[Seat] = field(default_factory=list)
    returned: set[int] = field(default_factory=set)
    is_created: bool = False
    said: str = ""

    def without_agent(self) -> list[int]:
        """Bundles that Ray keeps for the group, and that have no agent now."""
        taken = {index for seat in self.seats for index in seat.indices}
        return [index for index in range(len(self.bundles)) if index not in taken]

    def vacant(self) -> list[int]:
        """Those of them that should have one."""
        return [index for index in self.without_agent() if index not in self.returned]

    def room_of(self, index: int) -> Room:
        """What an agent of that bundle will offer, as far as is known."""
        bundle = self.bundles[index]
        return Room(bundle.amounts, {name: text for name, text in bundle.selector.items() if text[0] != "!"})

    def amounts_of(self, indices: list[int]) -> Amounts:
        """What some bundles have."""
        amounts: Amounts = {}
        for index in indices:
            amounts = plus(amounts, self.bundles[index].amounts)
        return amounts

"""What is known of nodes that are about to be taken away, such as spot instances."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from headway import _core


@dataclass(frozen=True)
class PreemptionInfo:
    """What is known of the nodes of this group that are being taken away.

    Attributes:
        deadline_ms: When the first of them goes, in milliseconds since 1970; None when that is not
            known.
        preempted_node_to_ranks: By the node's id, the ranks that are there, ascending.

    Example:
        >>> PreemptionInfo(deadline_ms=None, preempted_node_to_ranks={"node-2": [1, 3]}).preempted_ranks
        [1, 3]
    """

    deadline_ms: int | None
    preempted_node_to_ranks: Mapping[str, list[int]]

    @property
    def preempted_node_ids(self) -> list[str]:
        """The nodes, in the order of their ids."""
        return sorted(self.preempted_node_to_ranks)

    @property
    def preempted_ranks(self) -> list[int]:
        """The ranks of all of them, ascending."""
        return sorted({rank for ranks in self.preempted_node_to_ranks.values() for rank in ranks})

    @classmethod
    def _of(cls, told: _core.PreemptionInfo) -> PreemptionInfo:
        return cls(told.deadline_ms, told.preempted_node_to_ranks)

    @classmethod
    def _load(cls, told: dict[str, Any]) -> PreemptionInfo:
        """As the core tells it."""
        return cls(told["deadline_ms"], told["preempted_node_to_ranks"])

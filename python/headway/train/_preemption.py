"""Nodes that are about to be taken away, such as spot instances."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from headway._worker import session as worker_session


@dataclass(frozen=True)
class PreemptionInfo:
    """What is known of the nodes of this group that are being taken away.

    Attributes:
        deadline_ms: When the first of them goes, in milliseconds since 1970; None when that is not known.
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
    def _load(cls, told: dict[str, Any]) -> PreemptionInfo:
        """As the core tells it."""
        return cls(told["deadline_ms"], told["preempted_node_to_ranks"])


def get_preemption_info() -> PreemptionInfo | None:
    """What is known of nodes that are being taken away from this run; None while none is.

    A node is when its ``headway-agent`` has got a SIGTERM. Then save a checkpoint and go on: when the deadline is over,
    the group goes on elsewhere, from the newest checkpoint, as ``FailureConfig(max_preemption_failures)`` allows. A
    training function that returns before that has finished.

    Every rank must call it equally often: it is a barrier of all ranks, and gives the same to each. It costs as much as
    :func:`headway.train.collective.barrier`.

    Raises:
        RuntimeError: called outside of a training function.

    Example:
        >>> from headway import train
        >>> def loop(config):
        ...     saved = False
        ...     for step in range(config["steps"]):
        ...         if not saved and train.get_preemption_info():
        ...             train.report({"step": step}, checkpoint=config["save"]())
        ...             saved = True
    """
    told = worker_session.current("get_preemption_info()").core.preemption_info()
    return PreemptionInfo._load(json.loads(told)) if told is not None else None

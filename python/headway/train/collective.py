"""What all ranks do together, through the driver: for coordination, not for gradients.

Every rank must make the same calls in the same order. A rank that has returned, or that calls something else, fails the
run with the ranks' names instead of leaving the others to wait.
"""

from __future__ import annotations

from typing import Any

import cloudpickle

from headway._worker import session as worker_session

__all__ = ["barrier", "broadcast_from_rank_zero"]


def barrier() -> None:
    """Returns when every rank has called it.

    Raises:
        RuntimeError: called outside of a training function.

    Example:
        >>> from headway.train import collective
        >>> def loop():
        ...     collective.barrier()
    """
    worker_session.current("barrier()").core.collective("barrier", None)


def broadcast_from_rank_zero(data: Any) -> Any:
    """Returns what rank 0 gave, in every rank.

    Args:
        data: Whatever can be pickled, up to 16 GiB, though it is meant for kilobytes. Only rank 0's is looked at.

    Returns:
        Rank 0's object itself in rank 0, and a copy of it in the others.

    Raises:
        RuntimeError: called outside of a training function.
        TypeError, pickle.PicklingError: rank 0's data cannot be pickled.

    Example:
        >>> from headway import train
        >>> from headway.train import collective
        >>> def loop():
        ...     seed = 7 if train.get_context().get_world_rank() == 0 else None
        ...     assert collective.broadcast_from_rank_zero(seed) == 7
    """
    session = worker_session.current("broadcast_from_rank_zero()")
    if session.context["plan"]["rank"] == 0:
        session.core.collective("broadcast", cloudpickle.dumps(data))
        return data
    pickled = session.core.collective("broadcast", None)
    return cloudpickle.loads(pickled)

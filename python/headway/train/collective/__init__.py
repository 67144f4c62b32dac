"""What all ranks do together, through the driver: for coordination, not for gradients.

Every rank must make the same calls in the same order. A rank that has returned, or that calls
something else, fails the run with the ranks' names instead of leaving the others to wait.
"""

from __future__ import annotations

from typing import Any

import cloudpickle

from headway import _session as worker_session
from headway._values import named_arguments
from headway.train.collective import _shared_memory

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
        data: Whatever can be pickled, up to 16 GiB. Only rank 0's is looked at. From 1 MiB on it
            goes by shared memory when all ranks are on one machine; else it goes through the
            driver, which is meant for less.

    Returns:
        Rank 0's object itself in rank 0, and a copy of it in the others.

    Raises:
        RuntimeError: called outside of a training function.
        TypeError: rank 0's data cannot be pickled.

    Example:
        >>> from headway import train
        >>> from headway.train import collective
        >>> def loop():
        ...     seed = 7 if train.get_context().get_world_rank() == 0 else None
        ...     assert collective.broadcast_from_rank_zero(seed) == 7
    """
    session = worker_session.current("broadcast_from_rank_zero()")
    plan = session.context["plan"]
    if plan["rank"] == 0:
        try:
            pickled = cloudpickle.dumps(data)
        except Exception as error:
            raise TypeError(
                f"data is {data!r:.100}, which cannot be pickled ({error}); allowed: an object that can be pickled"
            ) from error
        if len(pickled) < _shared_memory.LARGE or plan["local_world_size"] < session.context["world_size"]:
            session.core.collective("broadcast", pickled)
            return data
        with _shared_memory.offered(pickled) as offer:
            del pickled
            session.core.collective("broadcast", offer)
            session.core.collective("barrier", None)  # Until everyone has read it.
        return data
    message = session.core.collective("broadcast", None)
    assert message is not None
    if not _shared_memory.is_offer(message):
        return cloudpickle.loads(message)
    with _shared_memory.taken(message) as content:
        received = cloudpickle.loads(content)
    session.core.collective("barrier", None)
    return received


named_arguments.offer(globals(), __all__)

"""Who a worker is, and what it goes on from."""

from __future__ import annotations

from typing import Any

from headway._worker import session as worker_session
from headway.train._checkpoint import Checkpoint


class TrainContext:
    """A worker's place in its group. Got by :func:`get_context` in a training function."""

    def __init__(self, context: dict[str, Any]):
        self._context = context

    def get_world_size(self) -> int:
        """Workers in the group."""
        return self._context["world_size"]

    def get_world_rank(self) -> int:
        """This worker's rank: 0 to world size - 1."""
        return self._context["plan"]["rank"]

    def get_local_rank(self) -> int:
        """This worker's rank among those of its node."""
        return self._context["plan"]["local_rank"]

    def get_local_world_size(self) -> int:
        """Workers of the group on this node."""
        return self._context["plan"]["local_world_size"]

    def get_node_rank(self) -> int:
        """The rank of this node among the group's nodes."""
        return self._context["plan"]["node_rank"]

    def get_experiment_name(self) -> str:
        """The run's name: ``RunConfig.name``."""
        return self._context["run_name"]

    def get_trial_name(self) -> str:
        """The trial's name; a run that no tuner started is its own one trial."""
        return self._context["run_name"]

    def get_trial_id(self) -> str:
        """The trial's id; it stays the same over restarts."""
        return self._context["trial_id"]

    def get_trial_dir(self) -> str:
        """The run's folder."""
        return self._context["run_directory"]


def get_context() -> TrainContext:
    """The worker's context.

    Raises:
        RuntimeError: called outside of a training function.

    Example:
        >>> from headway import train
        >>> def loop():
        ...     if train.get_context().get_world_rank() == 0:
        ...         print("I am the first of", train.get_context().get_world_size())
    """
    return TrainContext(worker_session.current("get_context()").context)


def get_checkpoint() -> Checkpoint | None:
    """The checkpoint to go on from: the newest committed one, the trainer's ``resume_from_checkpoint``, or None.

    Raises:
        RuntimeError: called outside of a training function.
    """
    location = worker_session.current("get_checkpoint()").core.checkpoint
    return Checkpoint._at(location) if location is not None else None

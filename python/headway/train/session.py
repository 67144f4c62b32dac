"""The training function's functions as older code calls them: ``session.report(...)``, ``session.get_world_rank()``.

They work in a training function only; elsewhere they raise RuntimeError.

Example:
    >>> from headway.train import session
    >>> def loop():
    ...     session.report({"rank": session.get_world_rank(), "of": session.get_world_size()})
"""

from headway.train._context import TrialResources, get_checkpoint, get_context
from headway.train._datasets import get_dataset_shard
from headway.train._report import report

__all__ = [
    "get_checkpoint",
    "get_dataset_shard",
    "get_experiment_name",
    "get_local_rank",
    "get_local_world_size",
    "get_node_rank",
    "get_trial_dir",
    "get_trial_id",
    "get_trial_name",
    "get_trial_resources",
    "get_world_rank",
    "get_world_size",
    "report",
]


def get_world_size() -> int:
    """Workers in the group."""
    return get_context().get_world_size()


def get_world_rank() -> int:
    """This worker's rank: 0 to world size - 1."""
    return get_context().get_world_rank()


def get_local_rank() -> int:
    """This worker's rank among those of its node."""
    return get_context().get_local_rank()


def get_local_world_size() -> int:
    """Workers of the group on this node."""
    return get_context().get_local_world_size()


def get_node_rank() -> int:
    """The rank of this node among the group's nodes."""
    return get_context().get_node_rank()


def get_experiment_name() -> str:
    """The run's name: ``RunConfig.name``."""
    return get_context().get_experiment_name()


def get_trial_name() -> str:
    """The trial's name; a run that no tuner started is its own one trial."""
    return get_context().get_trial_name()


def get_trial_id() -> str:
    """The trial's id; it stays the same over restarts."""
    return get_context().get_trial_id()


def get_trial_dir() -> str:
    """The directory that the ranks of this node share."""
    return get_context().get_trial_dir()


def get_trial_resources() -> TrialResources:
    """What the run's workers may use."""
    return get_context().get_trial_resources()

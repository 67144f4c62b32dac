"""The training function's functions as older code calls them: ``session.report(...)``,
``session.get_world_rank()``.

They work in a training function only; elsewhere they raise RuntimeError.

Example:
    >>> from headway.train import session
    >>> def loop():
    ...     session.report({"rank": session.get_world_rank(), "of": session.get_world_size()})
"""

from typing import Any

from headway.train import get_checkpoint, get_context, get_dataset_shard, report
from headway.train._training_function.context import StorageContext, TrialResources

__all__ = [
    "get_checkpoint",
    "get_dataset_shard",
    "get_experiment_name",
    "get_local_rank",
    "get_local_world_size",
    "get_metadata",
    "get_node_rank",
    "get_storage",
    "get_trial_dir",
    "get_trial_id",
    "get_trial_name",
    "get_trial_resources",
    "get_world_rank",
    "get_world_size",
    "report",
]


def get_world_size() -> int:
    """Workers in the group.

    Example:
        >>> from headway.train import session
        >>> def loop():
        ...     print("one of", session.get_world_size())
    """
    return get_context().get_world_size()


def get_world_rank() -> int:
    """This worker's rank: 0 to world size - 1.

    Example:
        >>> from headway.train import session
        >>> def loop():
        ...     if session.get_world_rank() == 0:
        ...         print("I am the first")
    """
    return get_context().get_world_rank()


def get_local_rank() -> int:
    """This worker's rank among those of its node.

    Example:
        >>> from headway.train import session
        >>> def loop():
        ...     print("number", session.get_local_rank(), "on this machine")
    """
    return get_context().get_local_rank()


def get_local_world_size() -> int:
    """Workers of the group on this node.

    Example:
        >>> from headway.train import session
        >>> def loop():
        ...     print(session.get_local_world_size(), "on this machine")
    """
    return get_context().get_local_world_size()


def get_node_rank() -> int:
    """The rank of this node among the group's nodes.

    Example:
        >>> from headway.train import session
        >>> def loop():
        ...     print("on machine", session.get_node_rank())
    """
    return get_context().get_node_rank()


def get_experiment_name() -> str:
    """The run's name: ``RunConfig.name``.

    Example:
        >>> from headway.train import session
        >>> def loop():
        ...     print("in the run", session.get_experiment_name())
    """
    return get_context().get_experiment_name()


def get_trial_name() -> str:
    """The trial's name; a run that no tuner started is its own one trial.

    Example:
        >>> from headway.train import session
        >>> def loop():
        ...     print("in", session.get_trial_name())
    """
    return get_context().get_trial_name()


def get_trial_id() -> str:
    """The trial's id; it stays the same over restarts.

    Example:
        >>> from headway.train import session
        >>> def loop():
        ...     print("my id stays", session.get_trial_id())
    """
    return get_context().get_trial_id()


def get_trial_dir() -> str:
    """The directory that the ranks of this node share.

    Example:
        >>> from headway.train import session
        >>> def loop():
        ...     print("files go to", session.get_trial_dir())
    """
    return get_context().get_trial_dir()


def get_trial_resources() -> TrialResources:
    """What the run's workers may use.

    Example:
        >>> from headway.train import session
        >>> def loop():
        ...     print(session.get_trial_resources().required_resources["CPU"], "CPUs in all")
    """
    return get_context().get_trial_resources()


def get_metadata() -> dict[str, Any]:
    """The trainer's ``metadata``.

    Example:
        >>> from headway.train import session
        >>> def loop():
        ...     print(session.get_metadata())
    """
    return get_context().get_metadata()


def get_storage() -> StorageContext:
    """Where the run's results are.

    Example:
        >>> from headway.train import session
        >>> def loop():
        ...     print(session.get_storage().experiment_fs_path)
    """
    return get_context().get_storage()

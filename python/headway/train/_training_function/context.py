"""Who a worker is, and what it resumes from."""

from __future__ import annotations

import copy
import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headway import _session as worker_session
from headway._checkpoint.checkpoint import Checkpoint
from headway._storage import locations
from headway._values.arguments import check_str
from headway.train._training_function.datasets import get_dataset_shard

if TYPE_CHECKING:
    import pyarrow.fs

    from headway.data import DataIterator


class TrainContext:
    """A worker's place in its group. Got by :func:`get_context` in a training function.

    Example:
        >>> from headway import train
        >>> def loop():
        ...     context = train.get_context()
        ...     print(f"rank {context.get_world_rank()} of {context.get_world_size()}")
    """

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
        name: str = self._context.get("trial_name") or self._context["run_name"]
        return name

    def get_trial_id(self) -> str:
        """The trial's id; it stays the same over restarts."""
        return self._context["trial_id"]

    def get_trial_dir(self) -> str:
        """The directory that the ranks of this node share.

        It is the current directory when the training function begins, unless
        ``HEADWAY_CHDIR_TO_TRIAL_DIR=0``. What is written there are the run's artifacts.
        """
        return self._context["working_directory"]

    def get_trial_resources(self) -> TrialResources:
        """What the run's workers may use."""
        strategy = json.loads(self._context["setup"]["json"])["placement_strategy"]
        return TrialResources([dict(self._context["resources"]) for _ in range(self.get_world_size())], strategy)

    def get_metadata(self) -> dict[str, Any]:
        """The trainer's ``metadata``: a copy, as JSON gives it back (tuples are lists)."""
        return copy.deepcopy(self._context["metadata"])

    def get_storage(self) -> StorageContext:
        """Where the run's results are."""
        return StorageContext(self._context["run_directory"])

    def get_dataset_shard(self, dataset_name: str | None = None) -> DataIterator:
        """As :func:`headway.train.get_dataset_shard`.

        Args:
            dataset_name: The data set's name; default ``"train"``.
        """
        return get_dataset_shard(dataset_name)


@dataclass(frozen=True)
class TrialResources:
    """What a run's workers may use.

    Attributes:
        bundles: By rank, amounts by name, such as ``{"CPU": 1.0, "GPU": 1.0}``. A CPU that was not
            asked for counts as one.
        strategy: ``ScalingConfig.placement_strategy``.
    """

    bundles: list[dict[str, float]]
    strategy: str = "PACK"

    @property
    def required_resources(self) -> dict[str, float]:
        """The sums over all workers."""
        names = dict.fromkeys(name for bundle in self.bundles for name in bundle)
        return {name: sum(bundle.get(name, 0.0) for bundle in self.bundles) for name in names}

    @property
    def head_cpus(self) -> float:
        """CPUs of the first bundle: rank 0, or a trial's own process."""
        return self.bundles[0].get("CPU", 0.0)


class StorageContext:
    """Where a run's results are. Got by :meth:`TrainContext.get_storage`.

    Attributes:
        experiment_fs_path: The run's folder.
        trial_fs_path: The same: a run that no tuner started is its own one trial.
        storage_fs_path: The folder above: ``RunConfig.storage_path``.

    Example:
        >>> from headway import train
        >>> def loop():
        ...     path = train.get_context().get_storage().build_checkpoint_path_from_name("best")
    """

    def __init__(self, run_directory: str):
        self._location = run_directory
        self.experiment_fs_path = self.trial_fs_path = locations.path_of(run_directory)
        self.storage_fs_path = locations.path_of(locations.parent(run_directory))

    @property
    def storage_filesystem(self) -> pyarrow.fs.FileSystem:
        """The file system that the paths are on."""
        return locations.split(self._location)[1]

    def build_checkpoint_path_from_name(self, name: str) -> str:
        """Where a checkpoint of this name lies, or would lie.

        Raises:
            TypeError, ValueError: ``name`` is no name of one folder.
        """
        check_str("name", name, "a folder name")
        if not name or "/" in name or name in (".", ".."):
            raise ValueError(f"name is {name!r}; allowed: a folder name without '/'")
        return os.path.join(self.trial_fs_path, name)


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
    """The checkpoint to resume from: the newest committed one, the trainer's
    ``resume_from_checkpoint``, or None.

    Raises:
        RuntimeError: called outside of a training function.

    Example:
        >>> from headway import train
        >>> def loop():
        ...     checkpoint = train.get_checkpoint()
        ...     first = checkpoint.to_dict()["epoch"] + 1 if checkpoint else 0
    """
    location = worker_session.current("get_checkpoint()").core.checkpoint
    return Checkpoint._at(location) if location is not None else None

"""What all trainers have in common."""

from __future__ import annotations

import abc
import os
from typing import TYPE_CHECKING, Any

from headway._checkpoint.checkpoint import Checkpoint
from headway._storage import locations
from headway.train._config.config import RunConfig, ScalingConfig
from headway.train._errors.exceptions import TrainingFailedError
from headway.train._run import saved_trainer
from headway.train._run.result import Result

if TYPE_CHECKING:
    import pyarrow.fs
    from typing_extensions import Self

__all__ = ["BaseTrainer", "TrainingFailedError"]


class BaseTrainer(abc.ABC):
    """A trainer: it has a configuration, and ``fit()`` runs it. To be used as one of its
    subclasses.

    Attributes:
        scaling_config: How many workers with what.
        run_config: Where results go, failures, checkpoints.
        resume_from_checkpoint: Where training resumes from, or None.

    Example:
        >>> from headway import train
        >>> from headway.train.trainer import BaseTrainer
        >>> isinstance(train.DataParallelTrainer(lambda: None), BaseTrainer)
        True
    """

    scaling_config: ScalingConfig
    run_config: RunConfig
    resume_from_checkpoint: Checkpoint | None

    @classmethod
    def can_restore(cls, path: str | os.PathLike[str], storage_filesystem: pyarrow.fs.FileSystem | None = None) -> bool:
        """Whether ``path`` is the folder of a run that ``restore`` can resume. False when there is
        nothing.

        Args:
            path: The run's folder: ``RunConfig.storage_path`` and ``name`` joined; a path or a URL.
            storage_filesystem: A ``pyarrow.fs`` filesystem that ``path`` is on.

        Example:
            >>> from headway.train.trainer import BaseTrainer
            >>> BaseTrainer.can_restore("/nowhere")
            False
        """
        return saved_trainer.is_restorable(
            locations.location_of(path, storage_filesystem, filesystem_argument="storage_filesystem")
        )

    @classmethod
    def restore(cls, path: str | os.PathLike[str]) -> Self:
        """The trainer of the run in a folder; to be called on the class of the trainer that the run
        had.

        Args:
            path: The run's folder.

        Raises:
            NotImplementedError: on a class that trains nothing itself, as this one.
        """
        raise NotImplementedError(
            f"{cls.__name__}.restore() has no training function; call restore() of the trainer that the run had, "
            "such as headway.train.torch.TorchTrainer"
        )

    @abc.abstractmethod
    def fit(self) -> Result:
        """Runs the training to its end."""

    def as_trainable(self) -> Any:
        """The trainer as something that a tuner runs, and ``tune.run``: itself. Keys of the search
        space are its arguments.

        Example:
            >>> from headway import train, tune
            >>> trainer = train.DataParallelTrainer(lambda config: train.report({"loss": config["x"]}))
            >>> space = {"train_loop_config": {"x": tune.grid_search([1, 2])}}
            >>> tuner = tune.Tuner(trainer.as_trainable(), param_space=space)
        """
        return self

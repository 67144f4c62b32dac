"""What all trainers have in common."""

from __future__ import annotations

import abc
from typing import Any

from headway.train._checkpoint import Checkpoint
from headway.train._config import RunConfig, ScalingConfig
from headway.train._errors import TrainingFailedError
from headway.train._result import Result

__all__ = ["BaseTrainer", "TrainingFailedError"]


class BaseTrainer(abc.ABC):
    """A trainer: it has a configuration, and ``fit()`` runs it. To be used as one of its subclasses.

    Attributes:
        scaling_config: How many workers with what.
        run_config: Where results go, failures, checkpoints.
        resume_from_checkpoint: Where training goes on from, or None.

    Example:
        >>> from headway import train
        >>> from headway.train.trainer import BaseTrainer
        >>> isinstance(train.DataParallelTrainer(lambda: None), BaseTrainer)
        True
    """

    scaling_config: ScalingConfig
    run_config: RunConfig
    resume_from_checkpoint: Checkpoint | None

    @abc.abstractmethod
    def fit(self) -> Result:
        """Runs the training to its end."""

    def as_trainable(self) -> Any:
        """The trainer as something that a tuner runs.

        Raises:
            NotImplementedError: always: this version has no tuning.
        """
        raise NotImplementedError(
            "as_trainable() needs Headway's tuning, which this version does not have; call fit() for each configuration"
        )

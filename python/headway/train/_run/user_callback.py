"""Callbacks of a run: what a user's class may hear of it in the driver."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from typing import Any

from headway._callbacks.train_callback import TrainCallback
from headway._checkpoint.checkpoint import Checkpoint
from headway.train._config.config import RunConfig, ScalingConfig
from headway.train.backend import BackendConfig


@dataclass(frozen=True)
class TrainRunContext:
    """What callbacks hear of the run.

    Attributes:
        run_config: The trainer's.
        train_loop_config: The training function's configuration.
        scaling_config: The trainer's.
        backend_config: The framework's.
        dataset_config: None; the trainer has it.
        run_id: The run's own; another one in each ``fit()``.
    """

    run_config: RunConfig
    train_loop_config: dict[str, Any]
    scaling_config: ScalingConfig
    backend_config: BackendConfig
    dataset_config: Any = None
    run_id: str = field(default_factory=lambda: uuid.uuid4().hex)

    def get_run_config(self) -> RunConfig:
        """``run_config``."""
        return self.run_config


class UserCallback(TrainCallback):
    """Hears of a run's reports and failures. Subclass it and override what is wanted.

    Its methods are called in the driver's process, one after the other and in the order of what
    happened, on the thread that called ``fit()``. Ranks train on meanwhile, but never more than 16
    reports ahead. One that raises fails the
    run: the ranks are ended, no further attempt is made, and ``fit()`` raises
    :class:`headway.train.ControllerError` that names it.

    Example:
        >>> from headway import train
        >>> class Printer(train.UserCallback):
        ...     def after_report(self, run_context, metrics, checkpoint):
        ...         print([each["loss"] for each in metrics], checkpoint)
        >>> config = train.RunConfig(callbacks=[Printer()])
    """

    def after_report(
        self, run_context: TrainRunContext, metrics: list[dict[str, Any]], checkpoint: Checkpoint | None
    ) -> None:
        """Every rank has made a report, and its checkpoint, if there is one, is committed.

        Args:
            run_context: The run.
            metrics: By rank, what it reported.
            checkpoint: The report's checkpoint in the run's folder, or None.
        """

    def after_exception(self, run_context: TrainRunContext, worker_exceptions: dict[int, Exception]) -> None:
        """An attempt has failed; another may follow.

        Args:
            run_context: The run.
            worker_exceptions: By rank, what its training function raised, or a
                :class:`headway.train.WorkerFailure` that says how it failed. Empty when no rank is
                to blame.
        """

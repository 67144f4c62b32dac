"""The reports of a trainer's ``fit()`` within a trial, as the trial's."""

from __future__ import annotations

from typing import Any, ClassVar

from headway import _session as worker_session
from headway._values.named_arguments import offer
from headway.train import Checkpoint, UserCallback
from headway.tune._experiment.context import report

__all__ = ["TuneReportCallback"]


class TuneReportCallback(UserCallback):
    """Reports to the trial what a trainer's run within it reports: rank 0's metrics and, as
    ``"checkpoint_path"``, where the report's checkpoint is. To be made in a trial.

    The scheduler's verdict on the trial's report ends the trainer's run with it.

    Raises:
        RuntimeError: this process is no trial.

    Example:
        >>> from headway import train, tune
        >>> from headway.tune.integration.ray_train import TuneReportCallback
        >>> def loop(config):
        ...     train.report({"loss": config["x"]})
        >>> def trial(config):
        ...     train.DataParallelTrainer(
        ...         loop, train_loop_config=config, run_config=train.RunConfig(callbacks=[TuneReportCallback()])
        ...     ).fit()
        >>> tuner = tune.Tuner(trial, param_space={"x": tune.grid_search([1, 2])})
    """

    CHECKPOINT_PATH_KEY: ClassVar[str] = "checkpoint_path"

    def __init__(self) -> None:
        if not worker_session.in_trial():
            raise RuntimeError("TuneReportCallback() was called outside of a trial; make it in a Tuner's function")

    def after_report(self, run_context: Any, metrics: list[dict[str, Any]], checkpoint: Checkpoint | None) -> None:
        """Passes a report on."""
        reported = dict(metrics[0])
        if checkpoint is not None:
            reported[self.CHECKPOINT_PATH_KEY] = checkpoint.path
        report(reported)


offer(globals(), __all__)

"""The older callbacks, which hear of trials. A run that no tuner started is its own one trial."""

from __future__ import annotations

from typing import Any

from headway._callbacks.trial import Trial
from headway._checkpoint.checkpoint import Checkpoint


class Callback:
    """Hears of a run's start, reports and end. Subclass it, override what is wanted, and give it to
    ``RunConfig``.

    The methods are called in the driver, on the thread that called ``fit()``. One that raises fails
    the run, and ``fit()`` raises :class:`headway.train.ControllerError` that names it.
    ``iteration`` counts the run's reports.

    Example:
        >>> from headway import train, tune
        >>> class Printer(tune.Callback):
        ...     def on_trial_result(self, iteration, trials, trial, result, **info):
        ...         print(trial, result["training_iteration"])
        >>> config = train.RunConfig(callbacks=[Printer()])
    """

    def setup(
        self, stop: Any = None, num_samples: int | None = None, total_num_samples: int | None = None, **info: Any
    ) -> None:
        """Before anything else. Called with ``RunConfig.stop``, and 1 and 1."""

    def on_step_begin(self, iteration: int, trials: list[Trial], **info: Any) -> None:
        """Before a report is passed on."""

    def on_step_end(self, iteration: int, trials: list[Trial], **info: Any) -> None:
        """After a report was passed on."""

    def on_trial_start(self, iteration: int, trials: list[Trial], trial: Trial, **info: Any) -> None:
        """The run starts."""

    def on_trial_restore(self, iteration: int, trials: list[Trial], trial: Trial, **info: Any) -> None:
        """A new attempt resumes from a checkpoint."""

    def on_trial_save(self, iteration: int, trials: list[Trial], trial: Trial, **info: Any) -> None:
        """A checkpoint is committed."""

    def on_trial_result(
        self, iteration: int, trials: list[Trial], trial: Trial, result: dict[str, Any], **info: Any
    ) -> None:
        """A report is accepted; ``result`` has rank 0's metrics, the automatic ones, and
        ``config``.
        """

    def on_checkpoint(
        self, iteration: int, trials: list[Trial], trial: Trial, checkpoint: Checkpoint, **info: Any
    ) -> None:
        """A checkpoint is committed: this one."""

    def on_trial_recover(self, iteration: int, trials: list[Trial], trial: Trial, **info: Any) -> None:
        """An attempt has failed and another follows."""

    def on_trial_complete(self, iteration: int, trials: list[Trial], trial: Trial, **info: Any) -> None:
        """The run has finished; its result is stored."""

    def on_trial_error(self, iteration: int, trials: list[Trial], trial: Trial, **info: Any) -> None:
        """The run has failed, or was left by Ctrl-C."""

    def on_experiment_end(self, trials: list[Trial], **info: Any) -> None:
        """After everything else."""

    # What Headway's own loggers hear beside that.

    def _check(self) -> None:
        """Before anything starts: raises where the run could not be logged as it was asked for."""

    def _on_ready(self, trial: Trial, location: str) -> None:
        """The first group of workers is ready: the run's folder is there, and it is this
        driver's.
        """

    def _on_left(self, trial: Trial, *, failed: bool) -> None:
        """A trial pauses, or its experiment is left: what is open of it is closed."""

    def _take_warnings(self) -> list[str]:
        """What the user is to be warned of, each text once."""
        return []

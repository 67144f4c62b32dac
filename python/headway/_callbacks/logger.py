"""Logger callbacks: their base, and those of the files that every run writes by itself."""

from __future__ import annotations

from typing import Any

from headway._callbacks.callback import Callback
from headway._callbacks.trial import Trial


class LoggerCallback(Callback):
    """Writes what a run reports to somewhere. Subclass it and override what is wanted.

    Example:
        >>> from headway import train
        >>> from headway.tune.logger import LoggerCallback
        >>> class Lines(LoggerCallback):
        ...     def log_trial_start(self, trial):
        ...         self.file = open("losses.txt", "w")
        ...     def log_trial_result(self, iteration, trial, result):
        ...         print(result["loss"], file=self.file)
        ...     def log_trial_end(self, trial, failed=False):
        ...         self.file.close()
        >>> config = train.RunConfig(callbacks=[Lines()])
    """

    def log_trial_start(self, trial: Trial) -> None:
        """The run starts."""

    def log_trial_restore(self, trial: Trial) -> None:
        """A new attempt resumes from a checkpoint."""

    def log_trial_save(self, trial: Trial) -> None:
        """A checkpoint is committed."""

    def log_trial_result(self, iteration: int, trial: Trial, result: dict[str, Any]) -> None:
        """A report is accepted.

        Args:
            iteration: The report's number, from 1.
            trial: The run.
            result: Rank 0's metrics, the automatic ones, and ``config``.
        """

    def log_trial_end(self, trial: Trial, failed: bool = False) -> None:
        """The run has ended; ``failed``: by a failure, or by Ctrl-C."""

    def on_trial_start(self, iteration: int, trials: list[Trial], trial: Trial, **info: Any) -> None:
        """Calls ``log_trial_start``."""
        self.log_trial_start(trial)

    def on_trial_restore(self, iteration: int, trials: list[Trial], trial: Trial, **info: Any) -> None:
        """Calls ``log_trial_restore``."""
        self.log_trial_restore(trial)

    def on_trial_save(self, iteration: int, trials: list[Trial], trial: Trial, **info: Any) -> None:
        """Calls ``log_trial_save``."""
        self.log_trial_save(trial)

    def on_trial_result(
        self, iteration: int, trials: list[Trial], trial: Trial, result: dict[str, Any], **info: Any
    ) -> None:
        """Calls ``log_trial_result``."""
        self.log_trial_result(iteration, trial, result)

    def on_trial_complete(self, iteration: int, trials: list[Trial], trial: Trial, **info: Any) -> None:
        """Calls ``log_trial_end``."""
        self.log_trial_end(trial, failed=False)

    def on_trial_error(self, iteration: int, trials: list[Trial], trial: Trial, **info: Any) -> None:
        """Calls ``log_trial_end``."""
        self.log_trial_end(trial, failed=True)


class CSVLoggerCallback(LoggerCallback):
    """Asks for progress.csv, which every run writes into its folder: giving it changes nothing.

    Example:
        >>> from headway import train
        >>> from headway.tune.logger import CSVLoggerCallback
        >>> config = train.RunConfig(callbacks=[CSVLoggerCallback()])
    """


class JsonLoggerCallback(LoggerCallback):
    """Asks for result.json and params.json, which every run writes into its folder: giving it
    changes nothing.

    Example:
        >>> from headway import train
        >>> from headway.tune.logger import JsonLoggerCallback
        >>> config = train.RunConfig(callbacks=[JsonLoggerCallback()])
    """


class TBXLoggerCallback(LoggerCallback):
    """Asks for TensorBoard's events.out.tfevents.*, which every run writes into its folder: giving
    it changes nothing.

    Example:
        >>> from headway import train
        >>> from headway.tune.logger import TBXLoggerCallback
        >>> config = train.RunConfig(callbacks=[TBXLoggerCallback()])
    """

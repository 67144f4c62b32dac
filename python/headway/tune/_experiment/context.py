"""Which trial a process is, asked in the trial."""

from __future__ import annotations

from typing import Any

from headway import _session as worker_session
from headway import train
from headway._checkpoint.checkpoint import Checkpoint
from headway._storage import locations
from headway.train._training_function.context import TrainContext


class TuneContext(TrainContext):
    """A trial's place in its experiment. Got by :func:`get_context` in a trial.

    Example:
        >>> from headway import tune
        >>> def trial(config):
        ...     print("in", tune.get_context().get_experiment_name())
    """

    def get_experiment_name(self) -> str:
        """The experiment's name: ``RunConfig.name``."""
        return locations.name_of(locations.parent(self._context["run_directory"].rstrip("/")))


def get_context() -> TuneContext:
    """The trial that this process is.

    Example:
        >>> from headway import tune
        >>> def trial(config):
        ...     print("I am", tune.get_context().get_trial_id())
    """
    return TuneContext(worker_session.current("get_context()").context)


def report(metrics: dict[str, Any], *, checkpoint: Checkpoint | None = None) -> None:
    """Reports metrics and, if given, a checkpoint. It returns when the scheduler has decided that
    the trial continues; else the trial ends here.

    Args:
        metrics: Numbers, strings, booleans, None, and lists and dicts of them, by name.
        checkpoint: A checkpoint of local files, which are copied to the trial's folder.

    Example:
        >>> from headway import tune
        >>> def trial(config):
        ...     for step in range(10):
        ...         tune.report({"loss": config["x"] / (step + 1)})
    """
    train.report(metrics, checkpoint)


def get_checkpoint() -> Checkpoint | None:
    """The checkpoint that the trial resumes from; None for one that begins.

    Example:
        >>> from headway import tune
        >>> def trial(config):
        ...     checkpoint = tune.get_checkpoint()
        ...     begin = 0 if checkpoint is None else checkpoint.to_dict()["step"] + 1
    """
    return train.get_checkpoint()

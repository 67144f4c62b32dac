"""Aim: the callback that logs a run."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, ClassVar

from headway._storage.run_files import flat
from headway._trackers.callback import TrackerCallback
from headway._trackers.tracker import TrackedRun, Tracker
from headway._trackers.values import numbers_of
from headway._values.arguments import check_instance, check_texts, refuse
from headway._values.named_arguments import offer

# The names that Ray gives: charts of runs before and after a move to Headway are the same.
_PREFIX = "ray/tune/"
# What Aim would do to the whole process of the driver: measure it, capture its output.
_QUIET = {"system_tracking_interval": None, "capture_terminal_logs": False}


class AimLoggerCallback(TrackerCallback):
    """Logs a run to Aim: its reports, its configuration, and where its checkpoints are.

    The driver does it, on a separate thread. The Aim run goes on when ranks are restarted, and when
    ``fit()`` is called again with the run's name. A failure of Aim is a warning.

    Args:
        repo: Aim's repository: a directory, or ``"aim://host:port"``. Default: the directory that
            the run's folder lies in, so that one ``aim up`` shows all runs; with remote storage the
            current directory.
        experiment_name: Aim's experiment. Default: the run's name.
        metrics: The metrics to log. Default: all numbers.
        aim_run_kwargs: For ``aim.Run``.

    Example:
        >>> from headway import train
        >>> from headway.tune.logger.aim import AimLoggerCallback
        >>> config = train.RunConfig(callbacks=[AimLoggerCallback(metrics=["loss", "eval/accuracy"])])
    """

    label: ClassVar[str] = "Aim"
    module: ClassVar[str] = "aim"
    package: ClassVar[str] = "aim"

    def __init__(
        self,
        repo: str | os.PathLike[str] | None = None,
        experiment_name: str | None = None,
        metrics: Sequence[str] | None = None,
        **aim_run_kwargs: Any,
    ):
        if repo is not None and not isinstance(repo, (str, os.PathLike)):
            refuse("repo", repo, "None, a directory, or aim://host:port")
        self.repo = os.fspath(repo) if repo is not None else None
        name = check_instance("experiment_name", experiment_name, str, "None or the name of an experiment")
        self.experiment_name = name
        self.metrics = check_texts("metrics", metrics, "None or a list of names") if metrics is not None else None
        self.aim_run_kwargs = aim_run_kwargs

    def _tracker(self) -> tuple[str, Tracker]:
        return f"aim:{self.repo or ''}", _AimTracker(self)


class _AimTracker(Tracker):
    def __init__(self, callback: AimLoggerCallback):
        self._callback = callback
        self._run: Any = None

    def open(self, run: TrackedRun, earlier: str | None) -> str:
        import aim

        callback = self._callback
        repo = callback.repo or (os.path.dirname(run.path) if run.is_local else None)
        experiment = callback.experiment_name or run.group or run.name
        arguments = {"repo": repo, "experiment": experiment, **_QUIET, **callback.aim_run_kwargs}
        if earlier is not None:
            # A driver that was killed has left Aim's lock; this one is the only driver of the run.
            arguments |= {"run_hash": earlier, "force_resume": True}
        self._run = aim.Run(**arguments)
        self._run.name = run.name
        self._run["hparams"] = flat(run.config)
        return str(self._run.hash)

    def log(self, step: int, metrics: dict[str, Any]) -> None:
        wanted = self._callback.metrics
        for name, value in numbers_of(metrics).items():
            if wanted is None or name in wanted:
                self._run.track(value, name=_PREFIX + name, step=step)

    def checkpoint(self, step: int, location: str, shown: str) -> None:
        self._run["checkpoint"] = shown

    def close(self, *, failed: bool) -> None:
        self._run["status"] = "failed" if failed else "finished"
        self._run.close()


offer(globals(), ("AimLoggerCallback",), place="headway.tune.logger.aim")

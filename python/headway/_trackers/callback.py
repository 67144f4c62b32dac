"""The base of the callbacks that send a run's reports to a tracker."""

from __future__ import annotations

import abc
import math
import os
from typing import Any, ClassVar

from headway._callbacks.logger import LoggerCallback
from headway._callbacks.trial import Trial
from headway._storage import locations
from headway._trackers.sender import Sender
from headway._trackers.tracker import TrackedRun, Tracker
from headway._trackers.values import metrics_of, plain
from headway._values.packages import check_installed

#: How many seconds the end of a run waits for its tracker.
END_VARIABLE = "HEADWAY_TRACKER_END_S"
_END_S = 30.0


class TrackerCallback(LoggerCallback, abc.ABC):
    """Sends what runs report to a tracker, on one thread a run. What goes wrong there is a warning.

    A subclass names its tracker and makes the :class:`Tracker` of a run. One object may serve
    several runs at a time.
    """

    #: The tracker's name for people.
    label: ClassVar[str]
    #: The module that its library is imported as, and the package that has it.
    module: ClassVar[str]
    package: ClassVar[str]

    @abc.abstractmethod
    def _tracker(self) -> tuple[str, Tracker]:
        """A new run's key (see :class:`Sender`) and tracker."""

    def _upload_limit_s(self) -> float:
        """Seconds that the end of a run waits for uploads at least."""
        return 0.0

    def _senders(self) -> dict[str, Sender]:
        """By trial id. Made when it is first asked for: subclasses need not call a constructor."""
        found: dict[str, Sender] = self.__dict__.setdefault("_open_senders", {})
        return found

    def _warnings(self) -> list[str]:
        """What is still to be reported of runs that have ended."""
        found: list[str] = self.__dict__.setdefault("_last_warnings", [])
        return found

    def __getstate__(self) -> dict[str, Any]:
        """Without the runs that are open: `trainer.pkl` has the callback, too."""
        return {name: value for name, value in self.__dict__.items() if name not in ("_open_senders", "_last_warnings")}

    def _check(self) -> None:
        check_installed(type(self).__name__, self.module, self.package)
        end_limit_s()

    def _on_ready(self, trial: Trial, location: str) -> None:
        key, tracker = self._tracker()
        config = plain(trial.config) if isinstance(trial.config, dict) else {}
        is_local = not locations.is_remote(location)
        run = TrackedRun(trial.trial_name, location, trial.path, is_local, config, group=trial.experiment_dir_name)
        self._senders()[trial.trial_id] = Sender(self.label, key, tracker, run)

    def log_trial_result(self, iteration: int, trial: Trial, result: dict[str, Any]) -> None:
        """Passes the metrics on."""
        sender = self._senders().get(trial.trial_id)
        if sender is not None:
            metrics, step = metrics_of(result), int(result.get("training_iteration", iteration))
            sender.put(lambda tracker: tracker.log(step, metrics))

    def log_trial_save(self, trial: Trial) -> None:
        """Passes on where the checkpoint is."""
        sender = self._senders().get(trial.trial_id)
        if sender is not None and trial.checkpoint is not None:
            step = int(trial.last_result.get("training_iteration", 0))
            location = trial.checkpoint._location
            sender.put(lambda tracker: tracker.checkpoint(step, location, locations.shown(location)))

    def log_trial_end(self, trial: Trial, failed: bool = False) -> None:
        """Closes the run at the tracker, and waits for it, but not for ever."""
        sender = self._senders().get(trial.trial_id)
        if sender is None:
            return
        try:
            sender.end(failed=failed, limit_s=max(end_limit_s(), self._upload_limit_s()))
        finally:
            del self._senders()[trial.trial_id]
            if (problem := sender.take_problem()) is not None:
                self._warnings().append(problem)

    def _on_left(self, trial: Trial, *, failed: bool) -> None:
        self.log_trial_end(trial, failed)

    def _take_warnings(self) -> list[str]:
        problems = [problem for sender in self._senders().values() if (problem := sender.take_problem()) is not None]
        problems += self._warnings()
        self._warnings().clear()
        return problems


def end_limit_s() -> float:
    """``HEADWAY_TRACKER_END_S``.

    Raises:
        ValueError: it is no number of seconds.
    """
    text = os.environ.get(END_VARIABLE, "")
    try:
        seconds = float(text) if text else _END_S
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds < 1e6:
        raise ValueError(f"{END_VARIABLE} is {text!r}; allowed: seconds, at least 0")
    return seconds

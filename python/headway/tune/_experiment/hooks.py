"""Hooks of a trainer's backend in an experiment: they reach into the ranks of one trial."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import cloudpickle

from headway._worker.exceptions import describe
from headway.train import DataParallelTrainer
from headway.train._run.clean_up import clean_up
from headway.train._run.loop import DriverWorkerGroup


class TrialHooks:
    """Calls the hooks of trials' backends.

    Args:
        experiment: The core's.
        wait: Waits for events, and hands them to :meth:`take` first.
        say: Shows a warning.
    """

    def __init__(self, experiment: Any, wait: Callable[[], None], say: Callable[[str, str], None]):
        self._experiment = experiment
        self._wait = wait
        self._say = say
        self._trials: dict[str, _Trial] = {}
        self._calls = 0
        self._waits_for: tuple[str, set[tuple[int, int]]] | None = None
        self._answers: dict[tuple[int, int], Any] = {}
        self._is_lost = False

    @property
    def waits(self) -> bool:
        """Whether a hook waits for ranks."""
        return self._waits_for is not None

    def add(self, trial_id: str, trainer: DataParallelTrainer) -> None:
        """A trial starts whose backend has hooks."""
        self._trials[trial_id] = _Trial(trainer)

    def remove(self, trial_id: str) -> None:
        """A trial has ended."""
        trial = self._trials.pop(trial_id, None)
        if trial is not None:
            trial.clean_up(self._say)

    def take(self, event: Any) -> bool:
        """Whether an event is an answer. What ends the trial ends the waiting, too."""
        kind = type(event).__name__
        if kind == "TrialCall":
            self._answers[event.call.call_id, event.call.rank] = event.call
            return True
        if self._waits_for is not None:
            ends = kind in ("TrialEnded", "TrialHook") and event.trial_id == self._waits_for[0]
            self._is_lost = self._is_lost or ends or kind == "ExperimentEnded"
        return False

    def call(self, event: Any) -> None:
        """A hook is to be called."""
        trial = self._trials.get(event.trial_id)
        run = self._run_of(event)
        if run is None:
            return
        if trial is None:
            run.setup_finished(event.attempt)
        elif event.kind == "setup":
            self._set_up(event, trial, run)
        else:
            self._tear_down(event, trial, run)

    def leave_out(self, event: Any) -> None:
        """A hook that is not called any more: the experiment ends."""
        run = self._run_of(event)
        if run is not None and event.kind == "teardown":
            run.teardown_finished(event.attempt)

    def _run_of(self, event: Any) -> Any:
        """The run of an event's trial; None where it has ended since."""
        try:
            return self._experiment.run_of(event.trial_id)
        except ValueError:
            return None

    def _set_up(self, event: Any, trial: _Trial, run: Any) -> None:
        trial.clean_up(self._say)
        trial.is_set_up = True
        caller: Any = _Caller(self, event.trial_id, run)
        trial.group = DriverWorkerGroup(caller, event.workers)
        try:
            trial.backend.on_start(trial.group, trial.config)
            trial.backend.on_training_start(trial.group, trial.config)
        except Exception as error:
            run.setup_finished(event.attempt, json.dumps(describe(error)))
        else:
            run.setup_finished(event.attempt)

    def _tear_down(self, event: Any, trial: _Trial, run: Any) -> None:
        trial.is_set_up = False
        try:
            if trial.group is not None:
                trial.backend.on_shutdown(trial.group, trial.config)
        except Exception as error:
            self._say("warning", f"the backend's on_shutdown failed; the trial's result stands: {error}")
        finally:
            run.teardown_finished(event.attempt)

    def answers(self, trial_id: str, run: Any, calls: dict[int, bytes]) -> list[Any]:
        """Has ranks call functions; their values, in the order of ranks."""
        keys = []
        for rank, function in calls.items():
            self._calls += 1
            keys.append((self._calls, rank))
            run.execute(self._calls, [rank], function)
        self._waits_for, self._is_lost = (trial_id, set(keys)), False
        try:
            while not all(key in self._answers for key in keys):
                if self._is_lost:
                    raise RuntimeError("the trial ended while a backend's hook waited for its workers")
                self._wait()
        finally:
            self._waits_for = None
        return [_value(self._answers.pop(key)) for key in keys]


class _Trial:
    def __init__(self, trainer: DataParallelTrainer):
        self.config = trainer.backend_config
        self.backend = self.config.backend_cls()
        self.group: DriverWorkerGroup | None = None
        self.is_set_up = False

    def clean_up(self, say: Callable[[str, str], None]) -> None:
        """After a group that has ended without a tear-down."""
        if self.is_set_up:
            self.is_set_up = False
            clean_up(self.backend, self.config, say)


class _Caller:
    """What :class:`DriverWorkerGroup` calls."""

    def __init__(self, hooks: TrialHooks, trial_id: str, run: Any):
        self._hooks, self._trial_id, self._run = hooks, trial_id, run

    def call(self, calls: dict[int, bytes]) -> list[Any]:
        return self._hooks.answers(self._trial_id, self._run, calls)


def _value(answer: Any) -> Any:
    error, value = answer.error, answer.value
    if error is None:
        return cloudpickle.loads(value) if value is not None else None
    raise RuntimeError(f"rank {answer.rank}: {error.type}: {error.message}\n{error.traceback}")

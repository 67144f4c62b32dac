"""Schedulers that users write: they decide in the thread that called ``fit()``."""

from __future__ import annotations

import contextlib
import os
from typing import Any, NamedTuple

import cloudpickle

from headway._callbacks.trial import Trial
from headway._runtime.runtime import cluster_resources
from headway._storage import locations, run_files
from headway._values.arguments import refuse
from headway.tune._experiment.records import Records, TrialRecord
from headway.tune._experiment.resources import PlacementGroupFactory
from headway.tune.schedulers.trial_scheduler import FIFOScheduler, TrialScheduler

_METHODS = ("on_trial_add", "on_trial_result", "on_trial_complete", "on_trial_error", "on_trial_remove")
_STATUS = {"waiting": "PENDING", "running": "RUNNING", "paused": "PAUSED", "errored": "ERROR", "unfinished": "PENDING"}
_VERDICTS = {"continue": TrialScheduler.CONTINUE, "stop": TrialScheduler.STOP, "pause": TrialScheduler.PAUSE}
_ANSWERS = {verdict: answer for answer, verdict in _VERDICTS.items()}
_RESOURCES = "resources.pkl"
_STATE = "scheduler-state.pkl"


def decides(scheduler: TrialScheduler) -> bool:
    """Whether a scheduler's own methods are called."""
    return any(getattr(type(scheduler), name) is not getattr(FIFOScheduler, name) for name in _METHODS) or chooses(
        scheduler
    )


def chooses(scheduler: TrialScheduler) -> bool:
    """Whether it says which trial starts."""
    while hasattr(scheduler, "_base_scheduler"):
        scheduler = scheduler._base_scheduler
    return type(scheduler).choose_trial_to_run is not FIFOScheduler.choose_trial_to_run


class _Total(NamedTuple):
    """CPUs and GPUs that there are."""

    cpus: float
    gpus: float

    def get_num_cpus(self) -> float:
        return self.cpus

    def get_num_gpus(self) -> float:
        return self.gpus


class FrontScheduler:
    """Calls a user's scheduler. It is what the scheduler's methods have as their first argument.

    Args:
        scheduler: The scheduler.
        experiment: The core's.
        records: The trials so far.
        trainable: The name of what they run.
        search: What suggests configurations.
    """

    def __init__(self, scheduler: TrialScheduler, experiment: Any, records: Records, trainable: str, search: Any):
        self._scheduler = scheduler
        self._experiment = experiment
        self._records = records
        self._trainable = trainable
        self._trials: dict[str, Trial] = {}
        self._verdicts: dict[str, str] = {}
        self._base: dict[str, PlacementGroupFactory] = {}
        self._asking: str | None = None
        #: What suggests configurations.
        self.search_alg = search
        self._state = os.path.join(records.path, _STATE)
        if len(records) and os.path.exists(self._state):
            scheduler.restore(self._state)

    # What schedulers call:

    def get_trials(self) -> list[Trial]:
        """All trials, in the order of their suggestion."""
        return list(self._trials.values())

    def get_live_trials(self) -> set[Trial]:
        """Those that have not ended."""
        return {trial for trial in self._trials.values() if not trial.is_finished()}

    def get_trial(self, tid: str) -> Trial | None:
        """A trial by its id."""
        return self._trials.get(tid)

    def pause_trial(self, trial: Trial, should_checkpoint: bool = True) -> None:
        """The trial that reports pauses; it has the checkpoints that it reported."""
        if trial.trial_id != self._asking:
            raise ValueError(f"trial {trial.trial_id} does not report now; allowed: to pause the one that does")
        trial.status = Trial.PAUSED
        self._verdicts[trial.trial_id] = TrialScheduler.PAUSE

    def stop_trial(self, trial: Trial) -> None:
        """A trial ends."""
        if trial.trial_id == self._asking:
            self._verdicts[trial.trial_id] = TrialScheduler.STOP
        else:
            self._experiment.stop_trial(trial.trial_id, f"{type(self._scheduler).__name__} stops it")

    request_stop_trial = stop_trial

    def total_resources(self) -> tuple[float, float]:
        """CPUs and GPUs that there are."""
        there = cluster_resources()
        return there.get("CPU", 0.0), there.get("GPU", 0.0)

    @property
    def _resource_updater(self) -> _Total:
        """The name by which Ray's guides ask for them in a ``resources_allocation_function``."""
        return _Total(*self.total_resources())

    def change_resources(self, trial: Trial, resources: PlacementGroupFactory) -> None:
        """A trial has them from its next start on."""
        trial.placement_group_factory = resources
        with open(self._resources_file(self._records[trial.trial_id]), "wb") as file:
            cloudpickle.dump(resources, file)

    def has_changed(self, trial: Trial) -> bool:
        """Whether a trial's resources are not those that it began with."""
        return trial.placement_group_factory != self._base.get(trial.trial_id)

    # What the loop calls:

    def add(self, record: TrialRecord, config: dict[str, Any], name: str, resources: Any) -> None:
        """There is a trial.

        Args:
            record: The trial.
            config: Its configuration.
            name: Its name.
            resources: What it begins with; None for a trainer's.
        """
        trial = Trial(record.trial_id, name, self._trainable, config, self._records.folder(record))
        trial.experiment_name = locations.name_of(self._records.path)
        trial.status = _STATUS.get(record.state, Trial.TERMINATED)
        trial.last_result = dict(record.last)
        self._base[record.trial_id] = resources
        trial.placement_group_factory = self.resources_of(record) or resources
        self._trials[record.trial_id] = trial
        if not trial.is_finished():
            self._scheduler.on_trial_add(self, trial)

    def resources_of(self, record: TrialRecord) -> PlacementGroupFactory | None:
        """What the scheduler has given to a trial."""
        path = self._resources_file(record)
        if not os.path.exists(path):
            return None
        with open(path, "rb") as file:
            found: PlacementGroupFactory = cloudpickle.load(file)
            return found

    def _resources_file(self, record: TrialRecord) -> str:
        return os.path.join(self._records.path, record.folder, _RESOURCES)

    def starting(self, record: TrialRecord, config: dict[str, Any]) -> PlacementGroupFactory | None:
        """A trial starts; with these resources, where they have changed."""
        trial = self._trials[record.trial_id]
        trial.status, trial.config = Trial.RUNNING, config
        return self.resources_of(record)

    def decide(self, event: Any) -> tuple[str, str]:
        """The answer to VerdictAsked."""
        trial = self._trials[event.trial_id]
        result = {**event.line, **run_files.flat(event.line), "config": trial.config}
        self._scheduler.take_verdict(_VERDICTS[event.decision])
        self._asking = event.trial_id
        try:
            said = self._scheduler.on_trial_result(self, trial, result)
        finally:
            self._asking = None
        done = self._verdicts.pop(event.trial_id, None)
        trial.last_result = result
        if said == TrialScheduler.NOOP:
            said = done or TrialScheduler.CONTINUE
        if said not in _ANSWERS:
            what = f"what on_trial_result() of {type(self._scheduler).__name__} returns"
            refuse(what, said, '"CONTINUE", "PAUSE", "STOP" or "NOOP"')
        answer = _ANSWERS[done or said]
        reason = f"{type(self._scheduler).__name__} says so after report {event.number}"
        return answer, "" if answer == "continue" else reason

    def choose(self) -> str:
        """The answer to TrialChoiceAsked."""
        chosen = self._scheduler.choose_trial_to_run(self)
        if chosen is None:
            return ""
        trial_id = getattr(chosen, "trial_id", None)
        if trial_id not in self._trials or self._trials[trial_id].status not in (Trial.PENDING, Trial.PAUSED):
            what = f"what choose_trial_to_run() of {type(self._scheduler).__name__} returns"
            refuse(what, chosen, "a trial that is pending or paused, or None")
        return str(trial_id)

    def ended(self, record: TrialRecord) -> None:
        """A trial has ended, or pauses."""
        trial = self._trials[record.trial_id]
        ran = trial.status == Trial.RUNNING
        trial.status = _STATUS.get(record.state, Trial.TERMINATED)
        if record.state == "errored":
            self._scheduler.on_trial_error(self, trial)
        elif record.state == "terminated" and ran:
            self._scheduler.on_trial_complete(self, trial, trial.last_result)
        elif record.state == "terminated":
            self._scheduler.on_trial_remove(self, trial)

    def save(self) -> None:
        """For the next driver. What cannot be pickled starts anew with it."""
        fresh = f"{self._state}.tmp"
        try:
            self._scheduler.save(fresh)
        except Exception:
            with contextlib.suppress(FileNotFoundError):
                os.remove(fresh)
        else:
            os.replace(fresh, self._state)

"""Calls an experiment's callbacks, in the order of what happened."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from headway._callbacks.callback import Callback
from headway._callbacks.progress_reporter import CLIReporter, ProgressReporter
from headway._callbacks.trial import Trial
from headway._checkpoint.checkpoint import Checkpoint
from headway._storage import locations
from headway._values.arguments import refuse
from headway.train import RunConfig
from headway.tune._experiment.records import Records, TrialRecord


class ExperimentCallbacks:
    """An experiment's callbacks.

    Args:
        config: The experiment's.
        records: Its trials.
        trainable: The name of what they run.
    """

    def __init__(self, config: RunConfig, records: Records, trainable: str):
        self._callbacks = check_callbacks(config.callbacks or [])
        reporter = config.progress_reporter
        self._reporter: ProgressReporter | None = None if isinstance(reporter, CLIReporter) else reporter
        self._stop = config.stop
        self._records = records
        self._trainable = trainable
        self._trials: dict[str, Trial] = {}
        self._iteration = 0
        for each in self._callbacks:
            each._check()

    def __bool__(self) -> bool:
        return bool(self._callbacks) or self._reporter is not None

    @property
    def _all(self) -> list[Trial]:
        return list(self._trials.values())

    def setup(self, samples: int, total: int | None) -> None:
        """The experiment starts."""
        for each in self._callbacks:
            each.setup(stop=self._stop, num_samples=samples, total_num_samples=total)
        if self._reporter is not None:
            self._reporter.setup()

    def started(self, record: TrialRecord, name: str, config: dict[str, Any], *, resumes: bool) -> None:
        """A trial's ranks are ready."""
        if not self:
            return
        path = self._records.folder(record)
        trial = self._trials.get(record.trial_id)
        if trial is None:
            trial = Trial(record.trial_id, name, self._trainable, config, path)
            self._trials[record.trial_id] = trial
        trial.status = "RUNNING"
        for each in self._callbacks:
            each.on_trial_start(self._iteration, self._all, trial)
            each._on_ready(trial, path)
            if resumes:
                each.on_trial_restore(self._iteration, self._all, trial)

    def reported(self, record: TrialRecord, line: dict[str, Any]) -> None:
        """A trial's report."""
        trial = self._trials.get(record.trial_id)
        if trial is None:
            return
        self._iteration += 1
        line = {**line, "config": trial.config}
        trial.last_result = line
        name = line.get("checkpoint_dir_name")
        for each in self._callbacks:
            each.on_step_begin(self._iteration, self._all)
            each.on_trial_result(self._iteration, self._all, trial, line)
        if name:
            trial.checkpoint = Checkpoint._at(locations.join(trial.path, name))
            for each in self._callbacks:
                each.on_checkpoint(self._iteration, self._all, trial, trial.checkpoint)
                each.on_trial_save(self._iteration, self._all, trial)
        for each in self._callbacks:
            each.on_step_end(self._iteration, self._all)
        self._show(done=False)

    def ended(self, record: TrialRecord) -> None:
        """A trial's end."""
        trial = self._trials.get(record.trial_id)
        if trial is None:
            return
        failed = record.state == "errored"
        trial.status = {"errored": "ERROR", "terminated": "TERMINATED"}.get(record.state, "PAUSED")
        if record.state not in ("errored", "terminated"):
            return
        for each in self._callbacks:
            over = each.on_trial_error if failed else each.on_trial_complete
            over(self._iteration, self._all, trial)

    def finish(self) -> None:
        """The experiment's end."""
        for each in self._callbacks:
            each.on_experiment_end(self._all)
        self._show(done=True)

    def take_warnings(self) -> list[str]:
        """What callbacks warn the user of."""
        return [text for each in self._callbacks for text in each._take_warnings()]

    def _show(self, *, done: bool) -> None:
        if self._reporter is not None and self._reporter.should_report(self._all, done=done):
            self._reporter.report(self._all, done)


def check_callbacks(callbacks: Sequence[Any]) -> list[Callback]:
    """``RunConfig.callbacks`` of an experiment."""
    for index, each in enumerate(callbacks):
        if not isinstance(each, Callback):
            refuse(f"RunConfig.callbacks[{index}] of a Tuner", each, "a headway.tune.Callback")
    return list(callbacks)

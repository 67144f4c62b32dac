"""Calls an experiment's callbacks, in the order of what happened."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from headway._callbacks.callback import Callback
from headway._callbacks.progress_reporter import ProgressReporter
from headway._callbacks.trial import Trial
from headway._checkpoint.checkpoint import Checkpoint
from headway._storage import locations
from headway._values.log import warn
from headway.train import DataParallelTrainer, RunConfig, UserCallback
from headway.train._run.user_callback import TrainRunContext
from headway.tune._experiment.records import Records, TrialRecord


class ExperimentCallbacks:
    """An experiment's callbacks.

    Args:
        config: The experiment's.
        records: Its trials.
        trainable: The name of what they run.
    """

    def __init__(self, config: RunConfig, records: Records, trainable: str):
        given = config.callbacks or []
        self._callbacks = [each for each in given if isinstance(each, Callback)]
        self._user = [each for each in given if isinstance(each, UserCallback)]
        self._contexts: dict[str, TrainRunContext] = {}
        self._reporter: ProgressReporter | None = config.progress_reporter
        self._stop = config.stop
        self._records = records
        self._trainable = trainable
        self._trials: dict[str, Trial] = {}
        # The same trials, in one list for all calls.
        self._all: list[Trial] = []
        self._iteration = 0
        for each in self._callbacks:
            each._check()

    def __bool__(self) -> bool:
        return bool(self._callbacks or self._user) or self._reporter is not None

    def setup(self, samples: int, total: int | None, metric: str | None, mode: str | None) -> None:
        """The experiment starts."""
        for each in self._callbacks:
            each.setup(stop=self._stop, num_samples=samples, total_num_samples=total)
        if self._reporter is not None:
            self._reporter.setup(start_time=time.time(), total_samples=total, metric=metric, mode=mode)

    def prepared(self, record: TrialRecord, made: Callable[[], DataParallelTrainer]) -> None:
        """A trial's run is about to start.

        Args:
            record: The trial.
            made: Makes the trainer of its run.
        """
        if self._user:
            trainer = made()
            self._contexts[record.trial_id] = TrainRunContext(
                trainer.run_config, trainer.train_loop_config, trainer.scaling_config, trainer.backend_config
            )

    def started(self, record: TrialRecord, name: str, config: dict[str, Any], *, resumes: bool) -> None:
        """A trial's ranks are ready."""
        if not self:
            return
        path = self._records.folder(record)
        trial = self._trials.get(record.trial_id)
        if trial is None:
            trial = self._placed(Trial(record.trial_id, name, self._trainable, config, ""))
            self._trials[record.trial_id] = trial
            self._all.append(trial)
        trial.status = "RUNNING"
        trial.config = config  # PBT changes it.
        for each in self._callbacks:
            each.on_trial_start(self._iteration, self._all, trial)
            each._on_ready(trial, path)
            if resumes:
                each.on_trial_restore(self._iteration, self._all, trial)

    def _placed(self, trial: Trial) -> Trial:
        trial.path = self._records.folder(self._records[trial.trial_id])
        trial.experiment_name = locations.name_of(self._records.location)
        return trial

    def reported(self, record: TrialRecord, line: dict[str, Any], metrics: list[dict[str, Any]]) -> None:
        """A trial's report.

        Args:
            record: The trial.
            line: As in result.json.
            metrics: By rank; empty where an earlier driver has recorded the report.
        """
        trial = self._trials.get(record.trial_id)
        if trial is None:
            return
        self._iteration += 1
        line = {**line, "config": trial.config}
        trial.last_result = line
        name = line.get("checkpoint_dir_name")
        self._tell_user(trial, metrics, name)
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

    def _tell_user(self, trial: Trial, metrics: list[dict[str, Any]], name: str | None) -> None:
        context = self._contexts.get(trial.trial_id)
        if context is None or not metrics:
            return
        checkpoint = Checkpoint._at(locations.join(trial.path, name)) if name else None
        for each in self._user:
            each.after_report(run_context=context, metrics=metrics, checkpoint=checkpoint)

    def failed(self, record: TrialRecord, exceptions: dict[int, Exception]) -> None:
        """An attempt of a trial has failed."""
        context = self._contexts.get(record.trial_id)
        if context is None:
            return
        for each in self._user:
            each.after_exception(run_context=context, worker_exceptions=exceptions)

    def leave(self) -> None:
        """The experiment stops early, by an error that is raised after this: what callbacks have
        open is closed. What they raise themselves is a warning.
        """
        running = [trial for trial in self._all if trial.status == "RUNNING"]
        for each in self._callbacks:
            try:
                for trial in running:
                    each._on_left(trial, failed=True)
                each.on_experiment_end(self._all)
            except Exception as error:
                warn(f"{type(each).__name__} fails as the experiment stops: {type(error).__name__}: {error}")

    def ended(self, record: TrialRecord, unstarted: Trial) -> None:
        """A trial's end.

        Args:
            record: The trial.
            unstarted: What callbacks see of one whose ranks were never ready.
        """
        self._contexts.pop(record.trial_id, None)
        failed = record.state == "errored"
        trial = self._trials.get(record.trial_id)
        if trial is None:
            if not (failed and self):
                return
            trial = self._trials[record.trial_id] = self._placed(unstarted)
            self._all.append(trial)
        trial.status = {"errored": "ERROR", "terminated": "TERMINATED"}.get(record.state, "PAUSED")
        if record.state not in ("errored", "terminated"):
            for each in self._callbacks:
                each._on_left(trial, failed=record.state != "paused")
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

"""The trials of an experiment, from its folder: what ``tune.run`` returns."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Any

from headway import _core
from headway._callbacks.trial import Trial
from headway._checkpoint.checkpoint import Checkpoint
from headway._storage import locations, run_files
from headway._values.arguments import refuse
from headway._values.log import warn
from headway.train import Result
from headway.tune._experiment.folder import ExperimentFolder
from headway.tune._experiment.records import Records, TrialRecord
from headway.tune._experiment.result_grid import ResultGrid

if TYPE_CHECKING:
    import pandas

_STATUS = {"running": "RUNNING", "paused": "PAUSED", "errored": "ERROR", "terminated": "TERMINATED"}


class ExperimentAnalysis:
    """An experiment's trials, from its folder: during the experiment or later.

    Args:
        experiment_checkpoint_path: The experiment's folder, or a file in it.
        storage_filesystem: None: the folder is local.
        trials: Without effect: the folder has them.
        default_metric: What trials are compared by, where a method is given none.
        default_mode: ``"min"`` or ``"max"``.

    Raises:
        ValueError: there is no experiment.

    Example:
        >>> from headway import tune
        >>> analysis = tune.ExperimentAnalysis("~/headway_results/sweep", default_metric="loss")  # doctest: +SKIP
        >>> analysis.get_best_config(mode="min")  # doctest: +SKIP
        {'x': 1}
    """

    def __init__(
        self,
        experiment_checkpoint_path: str | os.PathLike[str],
        *,
        storage_filesystem: Any = None,
        trials: list[Trial] | None = None,
        default_metric: str | None = None,
        default_mode: str | None = None,
    ):
        path = locations.location_of(
            experiment_checkpoint_path,
            storage_filesystem,
            argument="experiment_checkpoint_path",
            filesystem_argument="storage_filesystem",
        )
        path = path if locations.is_remote(path) else locations.local_path(path)
        if os.path.isfile(path):
            path = os.path.dirname(path)
        folder = ExperimentFolder(path)
        folder.fetch()
        try:
            self._records = Records.read(folder.local, folder.location)
        except FileNotFoundError:
            shown = locations.shown(path)
            raise ValueError(f"experiment_checkpoint_path is {shown!r}, which holds no experiment") from None
        if default_mode not in (None, "min", "max"):
            raise ValueError(f'default_mode is {default_mode!r}; allowed: "min" or "max"')
        self.default_metric, self.default_mode = default_metric, default_mode
        self._grid = ResultGrid(self._records, default_metric, default_mode)
        self._trials: list[Trial] | None = None

    def __repr__(self) -> str:
        return f"ExperimentAnalysis({len(self._records)} trials, {self.experiment_path})"

    @property
    def experiment_path(self) -> str:
        """The experiment's folder."""
        return locations.path_of(self._records.location)

    @property
    def trials(self) -> list[Trial]:
        """All trials, in the order in which they were suggested."""
        if self._trials is None:
            self._trials = [self._trial(each) for each in self._records]
        return self._trials

    @property
    def results(self) -> dict[str, dict[str, Any]]:
        """By trial id, its last report."""
        return {each.trial_id: each.last_result for each in self.trials}

    @property
    def results_df(self) -> pandas.DataFrame:
        """A row for each trial's last report, by trial id."""
        frame = self.dataframe()
        return frame.set_index("trial_id") if "trial_id" in frame else frame

    @property
    def trial_dataframes(self) -> dict[str, pandas.DataFrame]:
        """By trial id, all of its reports."""
        import pandas

        return {
            each.trial_id: pandas.DataFrame([run_files.flat(line) for line in run_files.read_reports(each.path)])
            for each in self.trials
        }

    @property
    def best_trial(self) -> Trial:
        """The best trial by its last report."""
        return self._needed(self.get_best_trial())

    @property
    def best_config(self) -> dict[str, Any]:
        """The best trial's configuration."""
        return self.best_trial.config

    @property
    def best_result(self) -> dict[str, Any]:
        """The best trial's last report."""
        return self.best_trial.last_result

    @property
    def best_result_df(self) -> pandas.DataFrame:
        """The best trial's last report, as a table of one row."""
        import pandas

        trial = self.best_trial
        flat = {**run_files.flat(trial.last_result), **run_files.flat({"config": trial.config})}
        return pandas.DataFrame([flat]).set_index("trial_id")

    @property
    def best_checkpoint(self) -> Checkpoint | None:
        """Of the best trial's checkpoints the best."""
        return self.get_best_checkpoint(self.best_trial)

    @property
    def best_dataframe(self) -> pandas.DataFrame:
        """All reports of the best trial."""
        return self.trial_dataframes[self.best_trial.trial_id]

    def dataframe(self, metric: str | None = None, mode: str | None = None) -> pandas.DataFrame:
        """A row for each trial: its last report or, with a metric, its best; its configuration as
        ``config/...``.

        Args:
            metric: Which report is the best.
            mode: ``"min"`` or ``"max"``.
        """
        if metric is not None:
            mode = mode or self.default_mode
        return self._grid.get_dataframe(metric, mode)

    def get_best_trial(
        self,
        metric: str | None = None,
        mode: str | None = None,
        scope: str = "last",
        filter_nan_and_inf: bool = True,
    ) -> Trial | None:
        """The best trial; None, with a warning, where none has the metric.

        Args:
            metric: What is compared. Default: ``default_metric``.
            mode: ``"min"`` or ``"max"``. Default: ``default_mode``.
            scope: As that of :meth:`ResultGrid.get_best_result`.
            filter_nan_and_inf: Whether values that are not finite do not count.

        Raises:
            ValueError: no metric or mode is given, or a bad scope.
        """
        metric, mode = self._objective(metric, mode)
        record = self._grid.best_record(metric, mode, scope, filter_nan_and_inf=filter_nan_and_inf)
        if record is None:
            warn(f"no trial has reported {metric!r} as a number")
            return None
        return next(each for each in self.trials if each.trial_id == record.trial_id)

    def get_best_config(
        self, metric: str | None = None, mode: str | None = None, scope: str = "last"
    ) -> dict[str, Any] | None:
        """The configuration of the best trial.

        Args:
            metric: As for :meth:`get_best_trial`.
            mode: The same.
            scope: The same.
        """
        trial = self.get_best_trial(metric, mode, scope)
        return None if trial is None else trial.config

    def get_all_configs(self, prefix: bool = False) -> dict[str, dict[str, Any]]:
        """By trial id, its configuration.

        Args:
            prefix: Whether its keys begin with ``config/``.
        """
        return {
            each.trial_id: {f"config/{key}": value for key, value in each.config.items()} if prefix else each.config
            for each in self.trials
        }

    def get_best_checkpoint(
        self, trial: Trial, metric: str | None = None, mode: str | None = None
    ) -> Checkpoint | None:
        """Of a trial's checkpoints the one whose report is the best; None if there is none.

        Args:
            trial: A trial of this experiment.
            metric: As for :meth:`get_best_trial`.
            mode: The same.
        """
        metric, mode = self._objective(metric, mode)
        sign = 1.0 if mode == "max" else -1.0
        kept = []
        for checkpoint, metrics in self._result(trial).best_checkpoints:
            value = run_files.flat(metrics).get(metric)
            if isinstance(value, (int, float)) and not math.isnan(value):
                kept.append((sign * value, checkpoint))
        return max(kept, key=lambda pair: pair[0])[1] if kept else None

    def get_last_checkpoint(
        self, trial: Trial | None = None, metric: str | None = None, mode: str | None = None
    ) -> Checkpoint | None:
        """A trial's newest checkpoint.

        Args:
            trial: A trial of this experiment. Default: the best.
            metric: As for :meth:`get_best_trial`.
            mode: The same.
        """
        trial = trial or self.get_best_trial(metric, mode)
        return None if trial is None else self._result(trial).checkpoint

    def _objective(self, metric: str | None, mode: str | None) -> tuple[str, str]:
        metric, mode = metric or self.default_metric, mode or self.default_mode
        if metric is None or mode is None:
            missing = "metric" if metric is None else "mode"
            raise ValueError(f"{missing} is None, and default_{missing} too; allowed: give one of them")
        return metric, mode

    def _needed(self, trial: Trial | None) -> Trial:
        if trial is None:
            raise ValueError("there is no best trial: none has reported the metric as a number")
        return trial

    def _result(self, trial: Trial) -> Result:
        if not isinstance(trial, Trial):
            refuse("trial", trial, "a trial of this experiment")
        for index, record in enumerate(self._records):
            if record.trial_id == trial.trial_id:
                return self._grid[index]
        raise ValueError(f"trial is {trial}, which is not of this experiment; its folder is {self.experiment_path}")

    def _trial(self, record: TrialRecord) -> Trial:
        folder = self._records.folder(record)
        config = self._records.config(record)
        trainable = record.folder.partition(f"_{record.trial_id}")[0]
        trial = Trial(record.trial_id, f"{trainable}_{record.trial_id}", trainable, config, folder)
        trial.status = _STATUS.get(record.state, "PENDING")
        try:
            last = run_files.last_report(folder)
            trial.last_result = {**last, "config": config} if last else {}
            trial.checkpoint = Result.from_path(folder).checkpoint
        except (RuntimeError, FileNotFoundError, _core.CorruptedError):
            pass  # It has not begun, or is damaged.
        return trial

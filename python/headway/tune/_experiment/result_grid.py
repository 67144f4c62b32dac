"""What ``Tuner.fit()`` returns."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from headway import _core
from headway._plots import inline, panels
from headway._plots.canvas import canvas_for
from headway._storage import locations, run_files
from headway._values.arguments import check_str
from headway.train import Result
from headway.train._run import result_text
from headway.tune._experiment.records import Records, TrialRecord, numbers_of
from headway.tune.search.errors import TuneError
from headway.tune.search.searcher import refuse_mode

if TYPE_CHECKING:
    import pandas
    import pyarrow.fs

_SCOPES = ("last", "all", "avg", "last-5-avg", "last-10-avg")


class ResultGrid:
    """The results of an experiment, one for each trial, in the order in which they were suggested.
    A notebook shows the best trial above the charts of the dashboard.

    Example:
        >>> from headway import train, tune
        >>> def trial(config):
        ...     tune.report({"loss": (config["x"] - 1) ** 2})
        >>> tuner = tune.Tuner(
        ...     trial, param_space={"x": tune.grid_search([0, 1, 2])}, run_config=train.RunConfig(verbose=0)
        ... )
        >>> grid = tuner.fit()  # doctest: +SKIP
        >>> grid.get_best_result("loss", "min").config  # doctest: +SKIP
        {'x': 1}
    """

    def __init__(self, records: Records, metric: str | None = None, mode: str | None = None):
        self._records = records
        self._list = list(records)
        self._metric = metric
        self._mode = mode

    def __len__(self) -> int:
        return len(self._list)

    def __getitem__(self, index: int) -> Result:
        """The result of a trial, from its folder."""
        return self._result(self._list[index])

    def __iter__(self) -> Iterator[Result]:
        return map(self._result, self._list)

    def __repr__(self) -> str:
        failed = f", {self.num_errors} failed" if self.num_errors else ""
        return f"ResultGrid({len(self)} trials{failed}, {self.experiment_path})"

    def _repr_html_(self) -> str:
        failed = f", {self.num_errors} failed" if self.num_errors else ""
        rows = [("trials", f"{len(self)}{failed}")]
        best = self.best_record(self._metric, self._mode) if self._metric and self._mode else None
        if best is not None and self._metric:
            value = self._last_value(best, self._metric)
            rows.append(("best trial", f"{best.trial_id}: {result_text.in_words({self._metric: value})}"))
            # A saved notebook is given to others.
            config = {
                name: "***" if _core.is_secret_name(name) else value
                for name, value in run_files.flat(self._records.config(best)).items()
            }
            rows.append(("its configuration", result_text.in_words(config)))
        rows.append(("folder", locations.shown(self._records.location)))
        return result_text.table(rows) + inline.html(self._records.path)

    @property
    def experiment_path(self) -> str:
        """The experiment's folder, on ``filesystem``."""
        return locations.path_of(self._records.location)

    @property
    def filesystem(self) -> pyarrow.fs.FileSystem:
        """The filesystem that ``experiment_path`` is on."""
        return locations.split(self._records.location)[1]

    @property
    def errors(self) -> list[Exception]:
        """Why trials failed."""
        found = (self._error(each) for each in self._list if each.state == "errored")
        return [error for error in found if error is not None]

    @property
    def num_errors(self) -> int:
        """How many trials failed."""
        return sum(each.state == "errored" for each in self._list)

    @property
    def num_terminated(self) -> int:
        """How many trials have ended, by themselves or because they were stopped."""
        return sum(each.state == "terminated" for each in self._list)

    def get_best_result(
        self,
        metric: str | None = None,
        mode: str | None = None,
        scope: str = "last",
        filter_nan_and_inf: bool = True,
    ) -> Result:
        """The best trial's result.

        Args:
            metric: What is compared, ``/`` between nested keys. Default: that of ``TuneConfig``.
            mode: ``"min"`` or ``"max"``. Default: that of ``TuneConfig``.
            scope: Of a trial's reports count the ``"last"``, the best of ``"all"``, their mean
                (``"avg"``), or that of the newest (``"last-5-avg"``, ``"last-10-avg"``).
            filter_nan_and_inf: Whether values that are not finite do not count.

        Raises:
            ValueError: no metric or mode is given, or a bad scope.
            RuntimeError: no trial has the metric.
        """
        if len(self) == 1 and metric is None and self._metric is None:
            return self[0]
        metric, mode = metric or self._metric, mode or self._mode
        if metric is None or mode is None:
            missing = "metric" if metric is None else "mode"
            raise ValueError(f"{missing} is None, and TuneConfig has none; allowed: give it here or there")
        best = self.best_record(metric, mode, scope, filter_nan_and_inf=filter_nan_and_inf)
        if best is None:
            there = sorted({name for each in self._list for name in each.last})
            raise RuntimeError(f"No best trial found: no trial has reported {metric!r} as a number; there are: {there}")
        return self._result(best)

    def best_record(
        self, metric: str, mode: str, scope: str = "last", *, filter_nan_and_inf: bool = True
    ) -> TrialRecord | None:
        """The best trial; the first of equals."""
        check_str("metric", metric, "the name of a metric")
        if mode not in ("min", "max"):
            refuse_mode(mode)
        if scope not in _SCOPES:
            raise ValueError(f"scope is {scope!r}; allowed: {', '.join(_SCOPES)}")
        sign = 1.0 if mode == "max" else -1.0
        best: tuple[float, TrialRecord] | None = None
        for record in self._list:
            value = self._value(record, metric, mode, scope, finite=filter_nan_and_inf)
            if value is None or (filter_nan_and_inf and not math.isfinite(value)):
                continue
            if best is None or sign * value > best[0] or math.isnan(best[0]):
                best = (sign * value, record)
        return None if best is None else best[1]

    def get_dataframe(self, filter_metric: str | None = None, filter_mode: str | None = None) -> pandas.DataFrame:
        """A row for each trial: its last report, and its configuration as ``config/...``.

        Args:
            filter_metric: Takes each trial's best report by this metric instead.
            filter_mode: ``"min"`` or ``"max"``; with ``filter_metric``.

        Raises:
            ImportError: pandas is not installed.
        """
        import pandas

        if (filter_metric is None) != (filter_mode is None):
            raise ValueError(
                f"filter_metric, filter_mode are {filter_metric!r}, {filter_mode!r}; allowed: both, or neither"
            )
        if filter_mode is not None and filter_mode not in ("min", "max"):
            refuse_mode(filter_mode)
        rows = []
        for record in self._list:
            reports = run_files.read_reports(self._records.folder(record))
            row = _best_report(reports, filter_metric, filter_mode) if filter_metric else reports[-1:]
            values = run_files.flat(row[0]) if row else {"trial_id": record.trial_id}
            config = {f"config/{name}": each for name, each in run_files.flat(self._records.config(record)).items()}
            rows.append({**values, **config, "logdir": self._records.folder(record)})
        return pandas.DataFrame(rows)

    def plot(
        self, path: str | os.PathLike[str] | None = None, metric: str | None = None, mode: str | None = None
    ) -> str | panels.Picture:
        """Draws the experiment, into a file or below a notebook's cell: each trial's last value and
        the best so far, the configurations as parallel coordinates, the reports of the (up to 100)
        best trials, whose lines end where a scheduler ended them, and how many trials came to each
        iteration.

        Args:
            path: The file, which ends with ``.svg`` or ``.png``; PNG needs Pillow. None: no file.
            metric: What is drawn. Default: that of ``TuneConfig``.
            mode: ``"min"`` or ``"max"``. Default: that of ``TuneConfig``.

        Returns:
            The file's path; without one the picture, which a notebook shows; its text is ``svg``.

        Raises:
            ValueError: no metric or mode is given, or another kind of file.
            RuntimeError: no trial has the metric.
            ImportError: Pillow is not installed.
        """
        if path is not None:
            canvas_for(path, 1, 1)
        metric, mode = metric or self._metric, mode or self._mode
        best = self.get_best_result(metric, mode)
        assert metric is not None
        assert mode is not None
        values = [_finite(each.last.get(metric)) for each in self._list]
        configs = [run_files.flat(self._records.config(each)) for each in self._list]
        order = sorted((value, index) for index, value in enumerate(values) if value is not None)
        shown = [index for _, index in (order if mode == "min" else reversed(order))][: panels.CURVES_MAX]
        reports = [self._points(self._list[index], metric) for index in shown]
        found = next((row for row, index in enumerate(shown) if self._list[index].folder in best.path), None)
        drawn = [
            panels.history(values, metric, mode),
            panels.coordinates(configs, values, metric, mode),
            panels.curves(reports, found, metric),
            panels.rungs([each.reports for each in self._list]),
        ]
        return panels.write(path, drawn)

    def _points(self, record: TrialRecord, metric: str) -> list[tuple[float, float]]:
        lines = map(numbers_of, run_files.read_reports(self._records.folder(record)))
        points = [(line.get("training_iteration"), _finite(line.get(metric))) for line in lines]
        return [(x, y) for x, y in points if x is not None and y is not None]

    def _value(self, record: TrialRecord, metric: str, mode: str, scope: str, *, finite: bool) -> float | None:
        if scope == "last":
            return self._last_value(record, metric)
        values = []
        for report in run_files.read_reports(self._records.folder(record)):
            value = numbers_of(report).get(metric)
            if value is not None and (math.isfinite(value) or not finite):
                values.append(value)
        if not values:
            return None
        if scope == "all":
            return min(values) if mode == "min" else max(values)
        newest = values if scope == "avg" else values[-int(scope.split("-")[1]) :]
        return sum(newest) / len(newest)

    def _last_value(self, record: TrialRecord, metric: str) -> float | None:
        """Of the last report. The journal has only what the experiment itself needs of it."""
        if metric in record.last or not record.reports:
            return record.last.get(metric)
        line = run_files.last_report(self._records.folder(record))
        return None if line is None else numbers_of(line).get(metric)

    def _error(self, record: TrialRecord) -> Exception | None:
        return record.error or self._result(record).error

    def _result(self, record: TrialRecord) -> Result:
        folder = self._records.folder(record)
        try:
            result = Result.from_path(folder)
        except RuntimeError:  # It has not begun.
            result = Result(metrics=None, checkpoint=None, error=None, path=folder)
        result.config = self._records.config(record)
        if result.metrics is not None and hasattr(result.metrics, "automatic"):
            result.metrics.automatic.update(config=result.config, done=record.state in ("terminated", "errored"))
        if record.state == "errored":
            result.error = record.error or result.error or TuneError(record.reason)
        else:
            result.error = None
        return result


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _best_report(reports: list[dict[str, Any]], metric: str, mode: str | None) -> list[dict[str, Any]]:
    known = [(numbers_of(each).get(metric), each) for each in reports]
    values = [(value, index) for index, (value, _) in enumerate(known) if value is not None and math.isfinite(value)]
    if not values:
        return reports[-1:]
    return [reports[(min if mode == "min" else max)(values)[1]]]

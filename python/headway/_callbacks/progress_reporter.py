"""What ``RunConfig(progress_reporter=...)`` takes: how a run's reports are shown while it goes."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from typing import Any

from headway._callbacks.trial import Trial
from headway._callbacks.trial_table import TableStyle, TrialTable, table_of
from headway._values.arguments import check_bool, check_int, check_number, refuse
from headway._values.moving_line import in_notebook


class ProgressReporter:
    """Shows a run's progress in its own way, in place of the table. Subclass it.

    Example:
        >>> from headway import train, tune
        >>> class Dots(tune.ProgressReporter):
        ...     def report(self, trials, done, *sys_info):
        ...         print("done" if done else ".", end="", flush=True)
        >>> config = train.RunConfig(progress_reporter=Dots())
    """

    def setup(self, **info: Any) -> None:
        """Before the run or the experiment starts.

        Args:
            info: Of an experiment ``start_time``, ``total_samples``, ``metric`` and ``mode``.
        """

    def should_report(self, trials: list[Trial], done: bool = False) -> bool:
        """Whether ``report`` is called now; asked after each report of the run and, with ``done``,
        at its end.
        """
        return True

    def report(self, trials: list[Trial], done: bool, *sys_info: str) -> None:
        """Shows the progress.

        Args:
            trials: The run, or the experiment's trials, with ``last_result`` and ``status``.
            done: Whether the run has ended.
            sys_info: Nothing now.
        """
        raise NotImplementedError(f"{type(self).__name__} has no report(trials, done, *sys_info)")


class CLIReporter(ProgressReporter):
    """Says what a run's table of reports shows, and prints a table of an experiment's trials.

    A run's table has a row for each report. An experiment's table, which is printed every
    ``max_report_frequency`` seconds and at the end, has a row for each trial, and not more than
    ``max_progress_rows``.

    Args:
        metric_columns: Metrics to show: names, or a dict from names to titles. Default: those of
            the first report.
        parameter_columns: Entries of the configuration: names, or a dict from names to titles. A
            run shows them once above its table. Default, of an experiment: those in which trials
            differ.
        total_samples: How many trials there will be. Default: what the tuner knows.
        max_progress_rows: The most rows of an experiment's table.
        max_error_rows: The most failed trials that are listed.
        max_column_length: The longest text in an experiment's table.
        max_report_frequency: Seconds between two rows of a run or two tables of an experiment at
            least, from 0 on; the last one is shown always. Default: 0.5 for a run, 5 for an
            experiment.
        infer_limit: How many metrics an experiment's table has if none are named.
        print_intermediate_tables: Whether an experiment's table is printed before its end, too, and
            not only its status line.
        metric: What the best trial is found by. Default: that of ``TuneConfig``.
        mode: ``"min"`` or ``"max"``.
        sort_by_metric: Whether the best trials come first.

    Example:
        >>> from headway import train, tune
        >>> reporter = tune.CLIReporter(metric_columns={"loss": "training loss"}, max_report_frequency=10)
        >>> config = train.RunConfig(progress_reporter=reporter)
    """

    def __init__(
        self,
        metric_columns: Sequence[str] | Mapping[str, str] | None = None,
        parameter_columns: Sequence[str] | Mapping[str, str] | None = None,
        total_samples: int | None = None,
        max_progress_rows: int = 20,
        max_error_rows: int = 20,
        max_column_length: int = 20,
        max_report_frequency: float | None = None,
        infer_limit: int = 3,
        print_intermediate_tables: bool | None = None,
        metric: str | None = None,
        mode: str | None = None,
        sort_by_metric: bool = False,
    ):
        self.metric_columns = _columns("metric_columns", metric_columns)
        self.parameter_columns = _columns("parameter_columns", parameter_columns)
        allowed = "None or seconds, at least 0 and finite"
        if max_report_frequency is not None:
            check_number("max_report_frequency", max_report_frequency, allowed)
            if not 0 <= max_report_frequency < math.inf:
                raise ValueError(f"max_report_frequency is {max_report_frequency!r}; allowed: {allowed}")
        self._given_frequency = max_report_frequency
        counts = {
            "max_progress_rows": max_progress_rows,
            "max_error_rows": max_error_rows,
            "max_column_length": max_column_length,
            "infer_limit": infer_limit,
        }
        for name, value in counts.items():
            if check_int(name, value, "an integer of at least 0") < 0:
                raise ValueError(f"{name} is {value}; allowed: an integer of at least 0")
        if mode not in (None, "min", "max"):
            raise ValueError(f'mode is {mode!r}; allowed: None, "min" or "max"')
        self._total = total_samples
        self._metric, self._mode = metric, mode
        self._rows = counts
        self._sorts = check_bool("sort_by_metric", sort_by_metric)
        if print_intermediate_tables is not None:
            check_bool("print_intermediate_tables", print_intermediate_tables)
        self._intermediate = print_intermediate_tables is not False
        self._shown_s = -math.inf

    @property
    def max_report_frequency(self) -> float:
        """Seconds between two rows of a run."""
        return 0.5 if self._given_frequency is None else self._given_frequency

    def add_metric_column(self, metric: str, representation: str | None = None) -> None:
        """One more metric.

        Args:
            metric: Its name.
            representation: Its title. Default: the name.
        """
        self.metric_columns = {**(self.metric_columns or {}), metric: representation or metric}

    def add_parameter_column(self, parameter: str, representation: str | None = None) -> None:
        """One more entry of the configuration.

        Args:
            parameter: Its name.
            representation: Its title. Default: the name.
        """
        self.parameter_columns = {**(self.parameter_columns or {}), parameter: representation or parameter}

    def setup(self, **info: Any) -> None:
        """Hears of the experiment.

        Args:
            info: ``total_samples``, ``metric`` and ``mode``, which count unless they were given.
        """
        self._total = self._total if self._total is not None else info.get("total_samples")
        self._metric = self._metric if self._metric is not None else info.get("metric")
        self._mode = self._mode if self._mode is not None else info.get("mode")

    def should_report(self, trials: list[Trial], done: bool = False) -> bool:
        """Whether it is time.

        Args:
            trials: The trials.
            done: Whether the experiment has ended.
        """
        now = time.monotonic()
        if not done and now - self._shown_s < (5 if self._given_frequency is None else self._given_frequency):
            return False
        self._shown_s = now
        return True

    def report(self, trials: list[Trial], done: bool, *sys_info: str) -> None:
        """Prints the table.

        Args:
            trials: The trials.
            done: Whether the experiment has ended.
            sys_info: Lines above the table.
        """
        table = self._table(trials)
        text = table.as_text() if done or self._intermediate else table.status
        print("\n".join([*sys_info, text]), flush=True)

    def _table(self, trials: list[Trial]) -> TrialTable:
        style = TableStyle(
            self.metric_columns,
            self.parameter_columns,
            self._rows["max_progress_rows"],
            self._rows["max_error_rows"],
            self._rows["max_column_length"],
            self._rows["infer_limit"],
            self._metric,
            self._mode or "max",
            self._sorts,
        )
        return table_of(trials, style, self._total)


class JupyterNotebookReporter(CLIReporter):
    """The same for notebooks, where the table of an experiment is drawn in place. Elsewhere it is
    printed.

    Args:
        overwrite: Whether a table takes the place of the one before.
        settings: The arguments of :class:`CLIReporter`.

    Example:
        >>> from headway import train, tune
        >>> reporter = tune.JupyterNotebookReporter(metric_columns=["loss"], max_report_frequency=10)
        >>> run = train.RunConfig(progress_reporter=reporter)
    """

    def __init__(self, overwrite: bool = True, **settings: Any):
        super().__init__(**settings)
        self._overwrite = check_bool("overwrite", overwrite)
        self._handle: Any = None

    def __getstate__(self) -> dict[str, Any]:
        """Without the place of the table, which is this process's."""
        return {**self.__dict__, "_handle": None}

    def report(self, trials: list[Trial], done: bool, *sys_info: str) -> None:
        """Draws the table.

        Args:
            trials: The trials.
            done: Whether the experiment has ended.
            sys_info: Lines above the table.
        """
        if not in_notebook():
            super().report(trials, done, *sys_info)
            return
        from IPython.display import HTML, display

        page = HTML(self._table(trials).as_html())
        if self._handle is None or not self._overwrite:
            self._handle = display(page, display_id=True)
        else:
            self._handle.update(page)


def _columns(argument: str, columns: object) -> dict[str, str] | None:
    if columns is None:
        return None
    names = columns
    if isinstance(columns, Sequence) and not isinstance(columns, str):
        names = dict(zip(columns, columns, strict=True))
    if not isinstance(names, Mapping) or not all(isinstance(text, str) for pair in names.items() for text in pair):
        refuse(argument, columns, "a list of names, or a dict from names to titles")
    return dict(names)

"""What ``RunConfig(progress_reporter=...)`` takes: how a run's reports are shown while it goes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from headway._callbacks.trial import Trial
from headway._values.arguments import check_number, refuse


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
        """Before the run starts."""

    def should_report(self, trials: list[Trial], done: bool = False) -> bool:
        """Whether ``report`` is called now; asked after each report of the run and, with ``done``,
        at its end.
        """
        return True

    def report(self, trials: list[Trial], done: bool, *sys_info: str) -> None:
        """Shows the progress.

        Args:
            trials: The run, with its ``last_result`` and ``status``.
            done: Whether the run has ended.
            sys_info: Nothing now.
        """
        raise NotImplementedError(f"{type(self).__name__} has no report(trials, done, *sys_info)")


class CLIReporter(ProgressReporter):
    """Says what the table of reports shows.

    Args:
        metric_columns: Metrics to show: names, or a dict from names to titles. Default: those of
            the first report.
        parameter_columns: Entries of the training function's configuration, shown once above the
            table: names, or a dict from names to titles.
        max_report_frequency: Seconds between two rows at least, from 0 on; the last report is shown
            always.
        settings: What is about several trials (``max_progress_rows``, ``sort_by_metric``, ...):
            without effect, since a run is one.

    Example:
        >>> from headway import train, tune
        >>> reporter = tune.CLIReporter(metric_columns={"loss": "training loss"}, max_report_frequency=10)
        >>> config = train.RunConfig(progress_reporter=reporter)
    """

    _settings = frozenset(
        (
            *("max_progress_rows", "max_error_rows", "max_column_length", "infer_limit", "print_intermediate_tables"),
            *("metric", "mode", "sort_by_metric", "total_samples", "overwrite"),
        )
    )

    def __init__(
        self,
        metric_columns: Sequence[str] | Mapping[str, str] | None = None,
        parameter_columns: Sequence[str] | Mapping[str, str] | None = None,
        max_report_frequency: float = 0.5,
        **settings: Any,
    ):
        for name in settings:
            if name not in self._settings:
                raise TypeError(f"{type(self).__name__} got {name!r}; allowed beside its own: {sorted(self._settings)}")
        self.metric_columns = _columns("metric_columns", metric_columns)
        self.parameter_columns = _columns("parameter_columns", parameter_columns)
        allowed = "seconds, at least 0 and finite"
        self.max_report_frequency = check_number("max_report_frequency", max_report_frequency, allowed)
        if not 0 <= self.max_report_frequency < math.inf:
            raise ValueError(f"max_report_frequency is {max_report_frequency!r}; allowed: {allowed}")


class JupyterNotebookReporter(CLIReporter):
    """The same for notebooks, where the table is drawn in place anyway; ``overwrite`` changes
    nothing.

    Example:
        >>> from headway import train, tune
        >>> reporter = tune.JupyterNotebookReporter(metric_columns=["loss"], max_report_frequency=10)
        >>> run = train.RunConfig(progress_reporter=reporter)
    """


def _columns(argument: str, columns: object) -> dict[str, str] | None:
    if columns is None:
        return None
    names = columns
    if isinstance(columns, Sequence) and not isinstance(columns, str):
        names = dict(zip(columns, columns, strict=True))
    if not isinstance(names, Mapping) or not all(isinstance(text, str) for pair in names.items() for text in pair):
        refuse(argument, columns, "a list of names, or a dict from names to titles")
    return dict(names)

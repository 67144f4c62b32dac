"""A table of an experiment's trials that stays short, as text and as HTML."""

from __future__ import annotations

import collections
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from headway._callbacks.trial import Trial
from headway._values.metrics import AUTOMATIC
from headway._values.nested import flat
from headway._values.terminal_text import width

_PARAMETERS_MAX = 8
#: In this order; each state has its share of the rows.
_STATES = ("RUNNING", "PAUSED", "PENDING", "ERROR", "TERMINATED")


@dataclass(frozen=True)
class TableStyle:
    """What is in a table of trials.

    Attributes:
        metric_columns: Titles by metric; None: the first that trials report.
        parameter_columns: Titles by parameter; None: those in which trials differ.
        rows_max: The most rows.
        error_rows_max: The most rows about errors.
        column_length_max: The longest text in a row; of a longer one the end is shown.
        inferred_max: How many metrics are shown if none are named.
        metric: What the trials are compared by.
        mode: ``"min"`` or ``"max"``.
        sorts: Whether the best trials come first.
    """

    metric_columns: Mapping[str, str] | None = None
    parameter_columns: Mapping[str, str] | None = None
    rows_max: int = 20
    error_rows_max: int = 20
    column_length_max: int = 20
    inferred_max: int = 3
    metric: str | None = None
    mode: str | None = None
    sorts: bool = False


@dataclass(frozen=True)
class TrialTable:
    """The cells of a table.

    Attributes:
        status: How many trials are in which state, and the best, in a line.
        titles: Of the columns.
        rows: The cells by row.
        more: What is said of trials without a row; empty if there are none.
        errors: Names and files of failed trials.
        more_errors: How many failed trials are not among ``errors``.
    """

    status: str
    titles: list[str]
    rows: list[list[str]]
    more: str = ""
    errors: list[tuple[str, str]] = field(default_factory=list)
    more_errors: int = 0

    def as_text(self) -> str:
        """Lines of text; the first is the status."""
        lines = [self.status, *_aligned([self.titles, *self.rows]), *filter(None, [self.more])]
        if self.errors:
            lines += ["Errors:", *(f"  {name}: {path}" for name, path in self.errors)]
        if self.more_errors:
            lines.append(f"  and {self.more_errors} more")
        return "\n".join(lines)

    def as_html(self) -> str:
        """The same for a notebook."""
        import html  # Here: notebooks alone need it, and all would wait for it.

        def line(cells: Iterable[str], kind: str) -> str:
            return "<tr>" + "".join(f"<{kind}>{html.escape(cell)}</{kind}>" for cell in cells) + "</tr>"

        rows = "".join(line(row, "td") for row in self.rows)
        parts = [f"<p>{html.escape(self.status)}</p>", f"<table>{line(self.titles, 'th')}{rows}</table>"]
        parts += [f"<p>{html.escape(self.more)}</p>"] if self.more else []
        if self.errors:
            shown = "".join(line(each, "td") for each in self.errors)
            parts.append(f"<table>{line(('failed trial', 'error'), 'th')}{shown}</table>")
        if self.more_errors:
            parts.append(f"<p>and {self.more_errors} more</p>")
        return "".join(parts)


def table_of(
    trials: Sequence[Trial],
    style: TableStyle,
    total: int | None = None,
    counts: Mapping[str, int] | None = None,
) -> TrialTable:
    """The table of some trials.

    Args:
        trials: All of them, or those that may have rows.
        style: What is shown.
        total: How many there will be, if that is known.
        counts: How many there are by their state, where ``trials`` are not all.
    """
    shown = _chosen(trials, style)
    counts = collections.Counter(trial.status for trial in trials) if counts is None else counts
    metrics = style.metric_columns
    if metrics is None:
        metrics = {name: name for name in _inferred(shown, style)}
    parameters = style.parameter_columns
    if parameters is None:
        parameters = {name: name for name in _differing(shown)}
    rows = []
    for trial in shown:
        config, last = flat(trial.config), flat(trial.last_result)
        cells = [trial.trial_name, trial.status, *(config.get(name) for name in parameters)]
        cells += [last.get("training_iteration"), *(last.get(name) for name in metrics)]
        rows.append([_cell(each, style.column_length_max) for each in cells])
    left = collections.Counter(counts)
    left.subtract(trial.status for trial in shown)
    hidden = ", ".join(f"{count} {state}" for state, count in sorted(left.items()) if count)
    failed = [trial for trial in trials if trial.status == "ERROR"]
    errors = [(trial.trial_name, f"{trial.path}/error.txt") for trial in failed[: style.error_rows_max]]
    return TrialTable(
        status_line(trials, counts, style, total),
        ["trial", "status", *parameters.values(), "iter", *metrics.values()],
        rows,
        f"... and {sum(left.values())} more trials ({hidden})" if hidden else "",
        errors,
        counts.get("ERROR", 0) - len(errors),
    )


def status_line(trials: Sequence[Trial], counts: Mapping[str, int], style: TableStyle, total: int | None = None) -> str:
    """How many trials are in which state, and which is the best."""
    whole = "" if total is None else f" of {total}"
    states = ", ".join(f"{counts[state]} {state}" for state in _STATES if counts.get(state))
    best = max(trials, key=lambda trial: _score(trial, style), default=None)
    line = f"{sum(counts.values())}{whole} trials: {states or 'none has started'}"
    if best is None or _score(best, style) == -math.inf:
        return line
    return f"{line}; best {style.metric}={_cell(flat(best.last_result)[str(style.metric)], 40)} ({best.trial_name})"


def _score(trial: Trial, style: TableStyle) -> float:
    value = flat(trial.last_result).get(style.metric or "")
    if not isinstance(value, (int, float)) or not math.isfinite(value):
        return -math.inf
    return -value if style.mode == "min" else value


def _chosen(trials: Sequence[Trial], style: TableStyle) -> list[Trial]:
    if style.sorts and style.metric is not None:
        return sorted(trials, key=lambda trial: -_score(trial, style))[: style.rows_max]
    by_state: dict[str, collections.deque[Trial]] = {state: collections.deque() for state in _STATES}
    for trial in trials:
        by_state.setdefault(trial.status, collections.deque()).append(trial)
    taken: dict[str, list[Trial]] = {state: [] for state in by_state}
    places = min(style.rows_max, len(trials))
    while places > 0:
        for state, waiting in by_state.items():
            if waiting and places > 0:
                taken[state].append(waiting.popleft())
                places -= 1
    return [trial for state in by_state for trial in taken[state]]


def _inferred(trials: Sequence[Trial], style: TableStyle) -> list[str]:
    found: dict[str, None] = {} if style.metric is None else {style.metric: None}
    for trial in trials:
        for name, value in flat(trial.last_result).items():
            is_metric = isinstance(value, (int, float)) and name not in AUTOMATIC and not name.startswith("config/")
            if is_metric and len(found) < style.inferred_max:
                found[name] = None
    return list(found)


def _differing(trials: Sequence[Trial]) -> list[str]:
    configs = [flat(trial.config) for trial in trials]
    names = dict.fromkeys(name for config in configs for name in config)
    if len(configs) > 1:
        names = dict.fromkeys(name for name in names if len({repr(each.get(name)) for each in configs}) > 1)
    return list(names)[:_PARAMETERS_MAX]


def _cell(value: Any, length: int) -> str:
    text = "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
    return text if len(text) <= max(length, 4) else f"...{text[3 - max(length, 4) :]}"


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(width(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [cell + " " * (wide - width(cell)) for cell, wide in zip(row, widths, strict=True)]
        lines.append("  ".join(cells).rstrip())
    return lines

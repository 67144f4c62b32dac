"""What an experiment shows while it goes: a line that moves, a line for each trial that ends while
they are few, and a table at the end.
"""

from __future__ import annotations

import collections
import heapq
import math
import time
from typing import Any

from headway._callbacks.trial import Trial
from headway._callbacks.trial_table import TableStyle, TrialTable, table_of
from headway._values import log
from headway._values.moving_line import MovingLine, find_place, in_notebook
from headway.tune._experiment.records import Records, TrialRecord

_LINES_MAX = 100
_INTERVAL_S = 5.0
#: A line or a notebook's table is not drawn more often than this.
_DRAWN_S = 0.5
_ROWS = 20
_STATES = {"terminated": "TERMINATED", "errored": "ERROR", "running": "RUNNING", "paused": "PAUSED"}


class ExperimentDisplay:
    """Prints to ``sys.stdout``.

    Args:
        verbose: 0: warnings only; 2: a line for each report, too.
        metric: What the trials are compared by, if that is known.
        mode: ``"min"`` or ``"max"``.
        records: The trials.
        reports: Whether a progress reporter shows the trials: then this does not.
    """

    def __init__(self, verbose: int, metric: str | None, mode: str | None, records: Records, *, reports: bool):
        self._verbose = verbose
        self._metric, self._mode = metric, mode
        self._records = records
        self._shows = verbose > 0 and not reports
        self._ended = self._failed = self._running = self._changed = 0
        self._total: int | None = None
        self._best: tuple[float, str] | None = None
        #: Of trials that were in a table.
        self._configs: dict[str, dict[str, Any]] = {}
        self._begun_s = self._shown_s = self._drawn_s = time.monotonic()
        self._moving = MovingLine(find_place(self._write) if self._shows and not in_notebook() else None)
        self._page = _Page() if self._shows and in_notebook() else None

    @property
    def hears_reports(self) -> bool:
        """Whether something moves with each report."""
        return self._verbose > 1 or self._page is not None or self._moving.is_shown

    def begin(self, path: str, total: int | None) -> None:
        """The experiment starts."""
        self._total = total
        number = "trials without end" if total is None else f"{total} trial{'s' if total != 1 else ''}"
        self._print(f"experiment of {number} in {path}")

    def started(self) -> None:
        """A trial runs."""
        self._running += 1
        self._draw()

    def reported(self, record: TrialRecord, line: dict[str, Any]) -> None:
        """A trial has reported."""
        if self._verbose > 1:
            shown = {name: value for name, value in line.items() if isinstance(value, (int, float, str))}
            self._print(f"trial {record.trial_id} report {record.reports}: {shown}")
        self._draw()

    def left(self) -> None:
        """A trial runs no more."""
        self._running = max(0, self._running - 1)

    def ended(self, record: TrialRecord) -> None:
        """A trial has ended."""
        self._ended += 1
        self._failed += record.state == "errored"
        value = record.last.get(self._metric) if self._metric else None
        if value is not None and (self._best is None or (value < self._best[0]) == (self._mode == "min")):
            self._best = (value, record.trial_id)
        if self._page is not None:
            self._draw()
        elif self._ended <= _LINES_MAX:
            shown = "" if value is None else f", {self._metric}={value:.6g}"
            why = f": {record.reason}" if record.reason else ""
            plural = "" if record.reports == 1 else "s"
            self._print(f"trial {record.trial_id} {record.state} after {record.reports} report{plural}{shown}{why}")
        elif time.monotonic() - self._shown_s > _INTERVAL_S:
            self._shown_s = time.monotonic()
            self._print(self._totals())

    def changed(self, trial_id: str, donor_id: str, words: str) -> None:
        """A trial goes on as a copy of another one."""
        self._changed += 1
        if self._changed <= _LINES_MAX:
            self._print(f"trial {trial_id} goes on as a copy of {donor_id}: {words}")

    def finish(self, state: str, reason: str, all_ended: int | None) -> None:
        """The experiment has ended.

        Args:
            state: ``"finished"``, ``"stopped"`` or ``"failed"``.
            reason: Why, in words.
            all_ended: How many trials there are, if the reason is that all have ended.
        """
        self._moving.end()
        self._moving = MovingLine(None)
        # What the reason says already is not said again.
        totals = self._failed_and_best() if all_ended == self._ended else f"; {self._totals()}"
        words = f": {reason}" if reason else ""
        if self._page is not None:
            self._page.show(self._table())
        elif self._shows and len(self._records) > 1:
            table = self._table()
            self._print("\n".join(table.as_text().splitlines()[1:]))
        self._print(f"experiment {state}{words}{totals}")

    def say(self, kind: str, text: str) -> None:
        """A warning or a notice."""
        self._moving.hide()
        if kind == "warning":
            log.warn(text)
        elif self._verbose:
            log.notice(text)

    def _draw(self) -> None:
        """The moving line, or the table of a notebook."""
        now = time.monotonic()
        if not self._shows or now - self._drawn_s < _DRAWN_S:
            return
        self._drawn_s = now
        if self._page is not None:
            self._page.show(self._table())
            return
        whole = "" if self._total is None else f" of {self._total}"
        failed = f", {self._failed} failed" if self._failed else ""
        best = "" if self._best is None else f" | best {self._metric}={self._best[0]:.6g} ({self._best[1]})"
        self._moving.status(
            f"{self._running} running, {self._ended}{whole} ended{failed}{best} | {now - self._begun_s:.0f} s"
        )
        self._moving.draw()

    def _table(self) -> TrialTable:
        """The best trials, or the first where no metric is known."""
        counts = collections.Counter(_state(record) for record in self._records)
        metric = self._metric or ""
        worst = math.inf if self._mode == "min" else -math.inf
        sign = 1 if self._mode == "min" else -1
        chosen = heapq.nsmallest(_ROWS, self._records, key=lambda record: sign * record.last.get(metric, worst))
        columns = {metric: metric} if metric else {}
        style = TableStyle(columns, rows_max=_ROWS, metric=self._metric, mode=self._mode, sorts=bool(metric))
        return table_of([self._trial(record) for record in chosen], style, self._total, counts)

    def _trial(self, record: TrialRecord) -> Trial:
        config = self._configs.get(record.trial_id)
        if config is None:
            config = self._configs[record.trial_id] = self._records.config(record)
        folder = self._records.folder(record)
        last = {"training_iteration": record.reports, **record.last}
        return Trial(record.trial_id, record.trial_id, "", config, folder, status=_state(record), last_result=last)

    def _totals(self) -> str:
        have = "trial has" if self._ended == 1 else "trials have"
        return f"{self._ended} {have} ended{self._failed_and_best()}"

    def _failed_and_best(self) -> str:
        failed = "" if not self._failed else " and failed" if self._ended == 1 else f", {self._failed} of them failed"
        best = "" if self._best is None else f"; best: {self._metric}={self._best[0]:.6g} ({self._best[1]})"
        return f"{failed}{best}"

    def _print(self, text: str) -> None:
        if self._shows:
            self._moving.hide()
            print(text, flush=True)

    def _write(self, text: str) -> None:
        print(text, end="", flush=True)


class _Page:
    """A table in a notebook's cell that is drawn in place."""

    def __init__(self) -> None:
        self._handle: Any = None

    def show(self, table: TrialTable) -> None:
        from IPython.display import HTML, display

        page = HTML(table.as_html())
        if self._handle is None:
            self._handle = display(page, display_id=True)
        else:
            self._handle.update(page)


def _state(record: TrialRecord) -> str:
    return _STATES.get(record.state, "PENDING")

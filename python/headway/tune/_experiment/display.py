"""What an experiment shows while it goes: a line for each trial that ends, while they are few."""

from __future__ import annotations

import time

from headway._values import log
from headway.tune._experiment.records import TrialRecord

_LINES_MAX = 100
_INTERVAL_S = 5.0


class ExperimentDisplay:
    """Prints to ``sys.stdout``.

    Args:
        verbose: 0: warnings only.
        metric: What the trials are compared by, if that is known.
        mode: ``"min"`` or ``"max"``.
    """

    def __init__(self, verbose: int, metric: str | None, mode: str | None):
        self._verbose = verbose
        self._metric, self._mode = metric, mode
        self._ended = self._failed = 0
        self._best: tuple[float, str] | None = None
        self._shown_s = 0.0

    def begin(self, path: str, total: int | None) -> None:
        """The experiment starts."""
        number = "trials without end" if total is None else f"{total} trial{'s' if total != 1 else ''}"
        self._print(f"experiment of {number} in {path}")

    def ended(self, record: TrialRecord) -> None:
        """A trial has ended."""
        self._ended += 1
        self._failed += record.state == "errored"
        value = record.last.get(self._metric) if self._metric else None
        if value is not None and (self._best is None or (value < self._best[0]) == (self._mode == "min")):
            self._best = (value, record.trial_id)
        if self._ended <= _LINES_MAX:
            shown = "" if value is None else f", {self._metric}={value:.6g}"
            why = f": {record.reason}" if record.reason else ""
            plural = "" if record.reports == 1 else "s"
            self._print(f"trial {record.trial_id} {record.state} after {record.reports} report{plural}{shown}{why}")
        elif time.monotonic() - self._shown_s > _INTERVAL_S:
            self._shown_s = time.monotonic()
            self._print(self._totals())

    def finish(self, state: str, reason: str) -> None:
        """The experiment has ended."""
        words = f": {reason}" if reason else ""
        self._print(f"experiment {state}{words}; {self._totals()}")

    def say(self, kind: str, text: str) -> None:
        """A warning or a notice."""
        if kind == "warning":
            log.warn(text)
        elif self._verbose:
            log.notice(text)

    def _totals(self) -> str:
        failed = "" if not self._failed else " and failed" if self._ended == 1 else f", {self._failed} of them failed"
        best = "" if self._best is None else f"; best: {self._metric}={self._best[0]:.6g} ({self._best[1]})"
        have = "trial has" if self._ended == 1 else "trials have"
        return f"{self._ended} {have} ended{failed}{best}"

    def _print(self, text: str) -> None:
        if self._verbose:
            print(text, flush=True)

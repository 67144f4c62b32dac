"""What a run shows while it goes: a table of its reports, each rank's output, warnings."""

from __future__ import annotations

import logging
import math
import sys
import time
from collections.abc import Iterator
from typing import Any

from headway import _core
from headway._callbacks.progress_reporter import CLIReporter
from headway._values import log
from headway._values.metrics import ReportedMetrics
from headway._values.moving_line import MovingLine, find_place
from headway._values.styles import takes_colours
from headway.train._config.config import RunConfig
from headway.train._config.run_options import LoggingConfig
from headway.train._run.table import Table, make_table, terminal_columns

# A text that is longer makes no column, and is cut short in one.
_TEXT_MAX = 24


class Display:
    """Prints to ``sys.stdout``, so that notebooks and pytest see it where they look.

    Reports are rows of a table: its columns are the metrics of the first report, and those that
    later ones bring, while there is space; the title says how many more there are. The first 20
    reports are shown all; after that a row comes at most every half second, and the last one
    always. On a terminal a row is dim unless its score is the best so far. A notebook's table is
    drawn in place. On a terminal and in a notebook a line below shows what the run is doing.

    Args:
        config: The run's: ``verbose``, ``logging_config`` and ``progress_reporter`` count.
        parameters: The training function's configuration.
    """

    rows_shown_all = 20
    row_interval_s = 0.5

    def __init__(self, config: RunConfig | None = None, parameters: dict[str, Any] | None = None) -> None:
        self._verbose = config.verbose or 0 if config is not None else 1
        self._logging = config.logging_config if config is not None else LoggingConfig()
        reporter = config.progress_reporter if config is not None else None
        self._shows_table = reporter is None or isinstance(reporter, CLIReporter)
        self._reporter = reporter if isinstance(reporter, CLIReporter) else CLIReporter()
        self._shown_all = self.rows_shown_all if self._reporter.max_report_frequency <= self.row_interval_s else 1
        self._parameters = parameters or {}
        self._table: Table | None = None
        self._columns: dict[str, str] = {}
        self._names: list[str] = []
        self._more = ""
        checkpoints = config.checkpoint_config if config is not None else None
        self._score = checkpoints.checkpoint_score_attribute if checkpoints is not None else None
        self._score_order = checkpoints.checkpoint_score_order if checkpoints is not None else "max"
        self._best: float | None = None
        self._moving = MovingLine(None)
        self._moves = False
        self._rows = 0
        self._last_row_s = 0.0
        self._held: dict[str, Any] | None = None
        self._muted = False
        self._output_failed = False

    def mute(self) -> None:
        """From now on nothing is shown."""
        self._muted = True

    def move(self) -> bool:
        """Has a line show what the run is doing; False where nothing moves, or nobody wants it
        to.
        """
        if self._verbose == 0 or not self._shows_table:
            return False
        place = find_place(lambda text: self._print(text, flush=True))
        self._moving = MovingLine(place)
        self._moves = place is not None
        return place is not None

    def status(self, text: str) -> None:
        """What the run is doing now."""
        self._moving.status(text)

    def redraw(self, rank: int, line: bytes) -> None:
        """A line of a rank's that is drawn anew, and not whole yet."""
        seen, _ = _core.output_line(line)
        self._moving.bar(f"(rank {rank}) {seen.decode(errors='replace')}")

    def line(self, rank: int, line: bytes) -> None:
        """A line of a rank's output."""
        if rank == 0:
            self._moving.end_bar()
        if self._verbose > 0:
            self._write_line(f"rank {rank}", line)

    def helper_line(self, helper: str, line: bytes) -> None:
        """A line of the output of a process that is no rank, such as a validation; ``helper`` is
        its name.
        """
        if self._verbose > 0:
            self._write_line(helper, line)

    def say(self, kind: str, text: str) -> None:
        """A warning or a notice of the run itself: a record of the logger ``headway``. It comes
        after the reports before it.
        """
        self._show_held()
        self._moving.hide()
        self._print("", flush=True)
        wanted = (self._verbose > 0 or kind == "warning") and self._logging.shows(kind)
        if not self._muted and wanted:
            log.say(logging.WARNING if kind == "warning" else logging.INFO, text.rstrip())

    def report(self, line: dict[str, Any]) -> None:
        """An accepted report."""
        if self._verbose != 1:
            if self._verbose > 1:
                self._show_whole(line)
            return
        if not self._shows_table:
            return
        now = time.monotonic()
        if self._rows < self._shown_all or now - self._last_row_s >= self._reporter.max_report_frequency:
            self._show(line)
            self._last_row_s = now
            self._held = None
        else:
            self._held = line

    def flush(self) -> None:
        """What was printed is seen now."""
        if not self._muted:
            self._moving.draw()
        # Not sys.stdout.flush(): it is None where standard output is closed.
        self._print("", flush=True)

    def finish(self) -> None:
        """The end: the last report's row if it was held back."""
        self._show_held()
        if not self._muted:
            self._moving.end()
        self._moving = MovingLine(None)
        self.flush()

    def _show_held(self) -> None:
        held, self._held = self._held, None
        if held is not None:
            self._show(held)

    def _show_whole(self, line: dict[str, Any]) -> None:
        self._write(f"report {line['training_iteration']}:")
        for name, value in line.items():
            self._write(f"  {name}: {value}")

    def _show(self, line: dict[str, Any]) -> None:
        if self._muted:
            return
        columns, more = self._choose_columns(line)
        if self._table is None:
            self._show_parameters()
            self._table = make_table(self._write)
        if (columns, more) != (self._columns, self._more) or self._rows == 0:
            self._columns, self._more = columns, more
            titles = ["report", *(_one_line(title) for title in columns.values()), "time_s", "checkpoint"]
            self._table.begin(titles, more)
        cells = [str(line["training_iteration"])]
        cells += [_cell(_value(line, column)) for column in self._columns]
        cells += [_cell(line["time_total_s"]), _one_line(str(line.get("checkpoint_dir_name") or ""))]
        self._table.row(cells, beaten=self._is_beaten(line))
        self._rows += 1

    def _choose_columns(self, line: dict[str, Any]) -> tuple[dict[str, str], str]:
        """Those that are there, and what this report brings beside them; and the title that says
        how many metrics have none. Nested metrics are named as ``eval/loss``.
        """
        wanted = self._reporter.metric_columns
        if wanted is not None:
            return wanted, ""
        own = ReportedMetrics.of_line(line)
        self._names = list(dict.fromkeys([*self._names, *_shown_names(own)]))
        shown, more = _core.choose_columns(self._names, self._score, terminal_columns())
        return {name: name for name in shown}, more

    def _is_beaten(self, line: dict[str, Any]) -> bool:
        """Whether a report that was shown before has a better score, or as good a one."""
        score = _value(line, self._score) if self._score is not None else None
        if isinstance(score, bool) or not isinstance(score, (int, float)) or math.isnan(score):
            return self._best is not None
        better = self._best is None or (score > self._best if self._score_order == "max" else score < self._best)
        if better:
            self._best = score
        return not better

    def _show_parameters(self) -> None:
        wanted = self._reporter.parameter_columns
        if wanted:
            shown = [f"{title}={_value(self._parameters, name)}" for name, title in wanted.items()]
            self._write("  ".join(shown))

    def _write_line(self, writer: str, line: bytes) -> None:
        """A line of a process's output. A progress bar that has ended is in the log; where lines
        move, that was enough.
        """
        seen, ended_bar = _core.output_line(line)
        if ended_bar and self._moves:
            return
        who = f"({writer})"
        shown = _core.in_dim(who) if takes_colours(sys.stdout) else who
        self._write(f"{shown} {seen.decode(errors='replace')}")

    def _write(self, text: str) -> None:
        if not self._muted:
            self._moving.hide()
        try:
            self._print(f"{text}\n")  # In one piece: under torchrun other ranks write as well.
        except UnicodeEncodeError:
            # A terminal of another encoding: what it does not have is escaped.
            encoding = getattr(sys.stdout, "encoding", None) or "ascii"
            self._print(text.encode(encoding, "backslashreplace").decode(encoding) + "\n")

    def _print(self, text: str, *, flush: bool = False) -> None:
        """Prints, while that is possible: neither a full disk nor a pipe that nobody reads ends a
        training.
        """
        if self._muted or self._output_failed:
            return
        try:
            print(text, end="", flush=flush)
        except UnicodeEncodeError:
            raise
        except (OSError, ValueError) as failure:  # ValueError: the stream was closed.
            self._output_failed = True
            self.say("warning", f"standard output cannot be written ({failure}): nothing more is shown there")


def _value(line: dict[str, Any], name: str) -> Any:
    """A metric, ``/`` between nested keys; empty when it is not there."""
    if name in line:
        return line[name]
    found: Any = line
    for part in name.split("/"):
        found = found.get(part) if isinstance(found, dict) else None
    return "" if found is None else found


def _shown_names(metrics: dict[str, Any], above: str = "") -> Iterator[str]:
    """The metrics that a column can show."""
    for name, value in metrics.items():
        if isinstance(value, dict):
            yield from _shown_names(value, f"{above}{name}/")
        elif isinstance(value, (int, float)) or (isinstance(value, str) and len(value) <= _TEXT_MAX):
            yield above + name


def _one_line(text: str) -> str:
    """Text for a row: what would move a terminal's cursor is escaped."""
    text = " ".join(text.split())
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def _cell(value: object) -> str:
    """Five digits or so; values of a like size get the same decimals, so that a column can be
    compared.
    """
    if not isinstance(value, float):
        text = _one_line(str(value))
        return text if len(text) <= _TEXT_MAX else text[: _TEXT_MAX - 3] + "..."
    size = abs(value)
    if size >= 1e7 or 0 < size < 1e-3:
        return f"{value:.2e}"
    if size >= 1e3:
        return f"{value:.0f}"
    return f"{value:.4f}" if size < 10 else f"{value:.2f}"

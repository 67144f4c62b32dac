"""What a run shows while it goes: a table of its reports, each rank's output, warnings."""

from __future__ import annotations

import sys
import time
from typing import Any

# What Headway adds to each report; the table shows the user's own.
_OWN_KEYS = frozenset(
    (
        *("training_iteration", "iterations_since_restore", "time_this_iter_s", "time_total_s", "time_since_restore"),
        *("timestamp", "date", "pid", "hostname", "node_ip", "trial_id", "done", "attempt", "report_index"),
        "checkpoint_dir_name",
    )
)


class Display:
    """Prints to ``sys.stdout``, so that notebooks and pytest see it where they look.

    Reports are rows of a table: its columns are the metrics of the first report. The first 20 reports are shown all;
    after that a row comes at most every half second, and the last one always. ``verbose`` is that of ``RunConfig``.
    """

    rows_shown_all = 20
    row_interval_s = 0.5
    columns_max = 8

    def __init__(self, verbose: int = 1) -> None:
        self._verbose = verbose
        self._columns: list[str] = []
        self._widths: list[int] = []
        self._rows = 0
        self._last_row_s = 0.0
        self._held: dict[str, Any] | None = None
        self._muted = False

    def mute(self) -> None:
        """From now on nothing is shown."""
        self._muted = True

    def line(self, rank: int, line: bytes) -> None:
        """A line of a rank's output."""
        if self._verbose > 0:
            self._write(f"(rank {rank}) {line.decode(errors='replace')}")

    def say(self, kind: str, text: str) -> None:
        """A warning or a notice of the run itself, on the error stream."""
        self.flush()
        shown = text.rstrip().replace("\n", "\n  ")
        if not self._muted and (self._verbose > 0 or kind == "warning"):
            print(f"headway: {'warning: ' if kind == 'warning' else ''}{shown}", file=sys.stderr, flush=True)

    def report(self, line: dict[str, Any]) -> None:
        """An accepted report."""
        if self._verbose != 1:
            if self._verbose > 1:
                self._show_whole(line)
            return
        now = time.monotonic()
        if self._rows < self.rows_shown_all or now - self._last_row_s >= self.row_interval_s:
            self._show(line)
            self._last_row_s = now
            self._held = None
        else:
            self._held = line

    def flush(self) -> None:
        """What was printed is seen now."""
        if not self._muted:
            print(end="", flush=True)  # Not sys.stdout.flush(): it is None where standard output is closed.

    def finish(self) -> None:
        """The end: the last report's row if it was held back."""
        if self._held is not None:
            self._show(self._held)
        self.flush()

    def _show_whole(self, line: dict[str, Any]) -> None:
        self._write(f"report {line['training_iteration']}:")
        for name, value in line.items():
            self._write(f"  {name}: {value}")

    def _show(self, line: dict[str, Any]) -> None:
        first = not self._rows
        if first:
            self._columns = [key for key in line if key not in _OWN_KEYS and _shown(line[key])][: self.columns_max]
        cells = [str(line["training_iteration"])]
        cells += [_cell(line.get(column, "")) for column in self._columns]
        cells += [_cell(line["time_total_s"]), str(line.get("checkpoint_dir_name") or "")]
        if first:
            titles = ["report", *self._columns, "time_s", "checkpoint"]
            self._widths = [max(8, len(title), len(cell)) for title, cell in zip(titles, cells, strict=True)]
            self._print(titles)
        self._print(cells)
        self._rows += 1

    def _print(self, cells: list[str]) -> None:
        """Columns are flush right, but for the last one."""
        row = [cell.rjust(width) for cell, width in zip(cells, self._widths, strict=True)]
        self._write("  ".join([*row[:-1], cells[-1]]).rstrip())

    def _write(self, text: str) -> None:
        if self._muted:
            return
        try:
            print(text)
        except UnicodeEncodeError:  # A terminal of another encoding: what it does not have is escaped.
            encoding = getattr(sys.stdout, "encoding", None) or "ascii"
            print(text.encode(encoding, "backslashreplace").decode(encoding))


def _shown(value: object) -> bool:
    return isinstance(value, (int, float, str)) and not (isinstance(value, str) and len(value) > 24)


def _cell(value: object) -> str:
    """Five digits or so; values of a like size get the same decimals, so that a column can be compared."""
    if not isinstance(value, float):
        return str(value)
    size = abs(value)
    if size >= 1e7 or 0 < size < 1e-3:
        return f"{value:.3e}"
    if size >= 1e3:
        return f"{value:.0f}"
    return f"{value:.4f}" if size < 10 else f"{value:.2f}"

"""The table of a run's reports: rows of text, or one table that a notebook redraws in place."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from typing import Any, Protocol

from headway import _core
from headway._values.log import is_terminal
from headway._values.moving_line import in_notebook
from headway._values.styles import takes_colours
from headway._values.terminal_text import width

# Of a column: most numbers, and so most columns, take no more.
_WIDTH_MIN = 8
_CHECKPOINT_WIDTH = len("checkpoint_000000")


class Table(Protocol):
    """Where rows are shown."""

    def begin(self, titles: list[str], more: str = "") -> None:
        """The titles, and what is said of metrics without a column. Again when they change."""

    def row(self, cells: list[str], *, beaten: bool = False) -> None:
        """One more row; ``beaten``: one before it has as good a score."""


class TextTable:
    """Rows of text, one after the other: for a terminal as for a file, nothing is written over.

    Columns are flush right, but for the last one. When one gets wider, the titles are written once
    more above it. On a terminal the titles are bold, and rows that are beaten are dim: the last
    row that is not is the best.
    """

    def __init__(self, write: Callable[[str], None]):
        self._write = write
        self._titles: list[str] = []
        self._more = ""
        self._widths: dict[str, int] = {}  # By title.
        self._titles_due = False

    def begin(self, titles: list[str], more: str = "") -> None:
        """Takes the titles."""
        self._titles, self._more = titles, more
        # The first one counts the reports; it needs no more than its title.
        least = dict.fromkeys(titles[1:], _WIDTH_MIN)
        self._widths = {title: max(least.get(title, 0), width(title), self._widths.get(title, 0)) for title in titles}
        self._titles_due = True

    def row(self, cells: list[str], *, beaten: bool = False) -> None:
        """Writes one row, below the titles if need be."""
        for title, cell in zip(self._titles[:-1], cells[:-1], strict=True):
            if width(cell) > self._widths[title]:
                self._widths[title] = width(cell)
                self._titles_due = True
        if self._titles_due:
            last = f"{self._titles[-1]:<{_CHECKPOINT_WIDTH}}  {self._more}" if self._more else self._titles[-1]
            self._write_row([*self._titles[:-1], last], _core.in_bold)
            self._titles_due = False
        self._write_row(cells, _core.in_dim if beaten else None)

    def _write_row(self, cells: list[str], style: Callable[[str], str] | None) -> None:
        places = zip(self._titles[:-1], cells[:-1], strict=True)
        shown = [" " * (self._widths[title] - width(cell)) + cell for title, cell in places]
        row = "  ".join([*shown, cells[-1]]).rstrip()
        self._write(style(row) if style is not None and takes_colours(sys.stdout) else row)


class NotebookTable:
    """An HTML table in a notebook's cell, redrawn with each row. It shows the newest rows; the one
    that is the best, once another is not, is bold.
    """

    rows_max = 50

    def __init__(self, display: Callable[..., Any], make_html: Callable[[str], Any]):
        self._display = display
        self._make_html = make_html
        self._titles: list[str] = []
        self._more = ""
        self._rows: list[tuple[list[str], bool]] = []
        self._left_out = 0
        self._handle: Any = None

    def begin(self, titles: list[str], more: str = "") -> None:
        """Takes the titles."""
        before = {title: place for place, title in enumerate(self._titles)}
        self._rows = [
            ([row[before[title]] if title in before else "" for title in titles], beaten) for row, beaten in self._rows
        ]
        self._titles, self._more = titles, more

    def row(self, cells: list[str], *, beaten: bool = False) -> None:
        """Redraws the table with one more row."""
        self._rows.append((cells, beaten))
        if len(self._rows) > self.rows_max:
            self._rows.pop(0)
            self._left_out += 1
        page = self._make_html(self._page())
        if self._handle is None:
            self._handle = self._display(page, display_id=True)
        else:
            self._handle.update(page)

    def _page(self) -> str:
        import html  # Here: notebooks alone need it, and all would wait for it.

        titles = "".join(f"<th>{html.escape(title)}</th>" for title in [*self._titles, *filter(None, [self._more])])
        rows = [f"<tr>{titles}</tr>"]
        some_beaten = any(beaten for _, beaten in self._rows)
        best = max((place for place, (_, beaten) in enumerate(self._rows) if not beaten and some_beaten), default=None)
        for place, (row, _) in enumerate(self._rows):
            cells = "".join(f"<td>{html.escape(cell)}</td>" for cell in row)
            rows.append(f'<tr style="font-weight: bold">{cells}</tr>' if place == best else f"<tr>{cells}</tr>")
        earlier = f"<caption>{self._left_out} earlier rows</caption>" if self._left_out else ""
        return f"<table>{earlier}{''.join(rows)}</table>"


def make_table(write: Callable[[str], None]) -> Table:
    """The table for where this process's output is seen: ``write`` takes a line of text."""
    if not in_notebook():
        return TextTable(write)
    from IPython.display import HTML, display

    return NotebookTable(display, HTML)


def terminal_columns() -> int | None:
    """How many columns the terminal has; None where the output goes elsewhere."""
    return shutil.get_terminal_size().columns if is_terminal(sys.stdout) else None

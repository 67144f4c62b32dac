"""The table of a run's reports: rows of text, or one table that a notebook redraws in place."""

from __future__ import annotations

import html
import shutil
import sys
from collections.abc import Callable
from typing import Any, Protocol


class Table(Protocol):
    """Where rows are shown."""

    def begin(self, titles: list[str], first: list[str]) -> None:
        """The titles, and the first row as a measure of the columns' widths."""

    def row(self, cells: list[str]) -> None:
        """One more row."""


class TextTable:
    """Rows of text, one after the other: for a terminal as for a file, nothing is written over.

    Columns are flush right, but for the last one.
    """

    def __init__(self, write: Callable[[str], None]):
        self._write = write
        self._widths: list[int] = []

    def begin(self, titles: list[str], first: list[str]) -> None:
        """Writes the titles."""
        self._widths = [max(8, len(title), len(cell)) for title, cell in zip(titles, first, strict=True)]
        self.row(titles)

    def row(self, cells: list[str]) -> None:
        """Writes one row."""
        shown = [cell.rjust(width) for cell, width in zip(cells, self._widths, strict=True)]
        self._write("  ".join([*shown[:-1], cells[-1]]).rstrip())


class NotebookTable:
    """An HTML table in a notebook's cell, redrawn with each row. It shows the newest rows."""

    rows_max = 50

    def __init__(self, display: Callable[..., Any], make_html: Callable[[str], Any]):
        self._display = display
        self._make_html = make_html
        self._titles: list[str] = []
        self._rows: list[list[str]] = []
        self._left_out = 0
        self._handle: Any = None

    def begin(self, titles: list[str], first: list[str]) -> None:
        """Takes the titles."""
        self._titles = titles

    def row(self, cells: list[str]) -> None:
        """Redraws the table with one more row."""
        self._rows.append(cells)
        if len(self._rows) > self.rows_max:
            self._rows.pop(0)
            self._left_out += 1
        page = self._make_html(self._page())
        if self._handle is None:
            self._handle = self._display(page, display_id=True)
        else:
            self._handle.update(page)

    def _page(self) -> str:
        rows = ["".join(f"<th>{html.escape(title)}</th>" for title in self._titles)]
        rows += ["".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in self._rows]
        earlier = f"<caption>{self._left_out} earlier rows</caption>" if self._left_out else ""
        return f"<table>{earlier}" + "".join(f"<tr>{row}</tr>" for row in rows) + "</table>"


def make_table(write: Callable[[str], None]) -> Table:
    """The table for where this process's output is seen: ``write`` takes a line of text."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is None or getattr(shell, "kernel", None) is None:
        return TextTable(write)
    from IPython.display import HTML, display

    return NotebookTable(display, HTML)


def columns_that_fit(titles: list[str], fixed: int) -> int:
    """How many metrics' columns a terminal has room for, beside ``fixed`` characters; all of them elsewhere."""
    if sys.stdout is None or not sys.stdout.isatty():
        return len(titles)
    left = shutil.get_terminal_size().columns - fixed
    for count, title in enumerate(titles):
        left -= max(8, len(title)) + 2
        if left < 0:
            return max(1, count)
    return len(titles)

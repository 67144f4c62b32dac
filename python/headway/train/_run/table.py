"""The table of a run's reports: rows of text, or one table that a notebook redraws in place."""

from __future__ import annotations

import shutil
import sys
import unicodedata
from collections.abc import Callable
from typing import Any, Protocol

from headway._values.log import is_terminal

# Of a column: most numbers, and so most columns, take no more.
_WIDTH_MIN = 8


class Table(Protocol):
    """Where rows are shown."""

    def begin(self, titles: list[str]) -> None:
        """The titles. Again when there are more: those that come new stand before the last two."""

    def row(self, cells: list[str]) -> None:
        """One more row."""


class TextTable:
    """Rows of text, one after the other: for a terminal as for a file, nothing is written over.

    Columns are flush right, but for the last one. When one gets wider, the titles are written once more above it.
    """

    def __init__(self, write: Callable[[str], None]):
        self._write = write
        self._titles: list[str] = []
        self._widths: dict[str, int] = {}  # By title.
        self._titles_due = False

    def begin(self, titles: list[str]) -> None:
        """Takes the titles."""
        self._titles = titles
        # The first one counts the reports; it needs no more than its title.
        least = dict.fromkeys(titles[1:], _WIDTH_MIN)
        self._widths = {
            title: max(least.get(title, 0), text_width(title), self._widths.get(title, 0)) for title in titles
        }
        self._titles_due = True

    def row(self, cells: list[str]) -> None:
        """Writes one row, below the titles if need be."""
        for title, cell in zip(self._titles[:-1], cells[:-1], strict=True):
            if text_width(cell) > self._widths[title]:
                self._widths[title] = text_width(cell)
                self._titles_due = True
        if self._titles_due:
            self._write_row(self._titles)
            self._titles_due = False
        self._write_row(cells)

    def _write_row(self, cells: list[str]) -> None:
        places = zip(self._titles[:-1], cells[:-1], strict=True)
        shown = [" " * (self._widths[title] - text_width(cell)) + cell for title, cell in places]
        self._write("  ".join([*shown, cells[-1]]).rstrip())


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

    def begin(self, titles: list[str]) -> None:
        """Takes the titles."""
        added = [""] * (len(titles) - len(self._titles))
        self._rows = [[*row[:-2], *added, *row[-2:]] for row in self._rows]
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
        import html  # Here: notebooks alone need it, and all would wait for it.

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
    if not is_terminal(sys.stdout):
        return len(titles)
    left = shutil.get_terminal_size().columns - fixed
    for count, title in enumerate(titles):
        left -= max(_WIDTH_MIN, text_width(title)) + 2
        if left < 0:
            return max(1, count)
    return len(titles)


def text_width(text: str) -> int:
    """How many columns of a terminal text takes: letters of East Asia two, marks over other letters none."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return len(text) + wide - sum(unicodedata.combining(letter) != 0 for letter in text)

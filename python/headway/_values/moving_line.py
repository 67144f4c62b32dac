"""The line at the end of a run's output that shows what it is doing: drawn over and over, gone
before anything else is printed.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable
from typing import Any, Protocol

from headway._values.log import is_terminal
from headway._values.terminal_text import cut, cut_parts, without_escapes

#: For how long a progress bar that does not move is shown in place of the status.
BAR_SHOWN_S = 3.0


class Place(Protocol):
    """Where the line is shown."""

    def show(self, text: str, *, whole_parts: bool) -> None:
        """Draws it, over what it was.

        Args:
            text: What is drawn.
            whole_parts: Whether parts that do not fit are left out whole.
        """

    def hide(self) -> None:
        """Clears the line for what is printed next."""

    def end(self) -> None:
        """Removes it for good."""


class MovingLine:
    """A line that is drawn anew when it changes: rank 0's progress bar while it moves, else the
    run's status.

    Args:
        place: Where; None: nowhere, nothing moves.
    """

    def __init__(self, place: Place | None):
        self._place = place
        self._status = ""
        self._bar = ""
        self._bar_at_s = 0.0

    @property
    def is_shown(self) -> bool:
        """Whether there is a place for it."""
        return self._place is not None

    def status(self, text: str) -> None:
        """What the run is doing now."""
        self._status = text

    def bar(self, text: str) -> None:
        """How rank 0's line looks now."""
        self._bar, self._bar_at_s = text, time.monotonic()

    def end_bar(self) -> None:
        """Rank 0's line is whole, and will be printed."""
        self._bar = ""

    def hide(self) -> None:
        """Before anything is printed."""
        if self._place is not None:
            self._place.hide()

    def draw(self) -> None:
        """After what was printed."""
        if self._place is None:
            return
        moves = self._bar and time.monotonic() - self._bar_at_s < BAR_SHOWN_S
        text = self._bar if moves else self._status
        if text:
            self._place.show(without_escapes(text), whole_parts=not moves)

    def end(self) -> None:
        """The run has ended."""
        if self._place is not None:
            self._place.end()


class TerminalLine:
    """The last line of a terminal.

    Args:
        write: Prints text as it is, and flushes.
    """

    def __init__(self, write: Callable[[str], None]):
        self._write = write
        self._drawn = ""

    def show(self, text: str, *, whole_parts: bool) -> None:
        """Draws it; cut, so that it is one line."""
        # The last column stays free: a terminal would go to the next line.
        text = (cut_parts if whole_parts else cut)(text, shutil.get_terminal_size().columns - 1)
        if text != self._drawn:
            self._write(f"\r{text}\x1b[K")
            self._drawn = text

    def hide(self) -> None:
        """Erases it."""
        if self._drawn:
            self._write("\r\x1b[K")
            self._drawn = ""

    end = hide


class NotebookLine:
    """A line of a cell's output."""

    def __init__(self, display: Callable[..., Any]):
        self._display = display
        self._handle: Any = None
        self._drawn = ""

    def show(self, text: str, *, whole_parts: bool) -> None:
        """Draws it in place. A notebook keeps each message, so the same text is sent once."""
        if text == self._drawn:
            return
        self._drawn = text
        content = {"text/plain": text}
        if self._handle is None:
            self._handle = self._display(content, raw=True, display_id=True)
        else:
            self._handle.update(content, raw=True)

    def hide(self) -> None:
        """It has its own place, so nothing has to give way."""

    def end(self) -> None:
        """Empties it."""
        if self._handle is not None:
            self._handle.update({"text/plain": ""}, raw=True)


def in_notebook() -> bool:
    """Whether this process is a notebook's kernel."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return getattr(shell, "kernel", None) is not None


def find_place(write: Callable[[str], None]) -> Place | None:
    """Where this process's output is seen, if a line can move there."""
    if in_notebook():
        from IPython.display import display

        return NotebookLine(display)
    if is_terminal(sys.stdout) and os.environ.get("TERM", "dumb") != "dumb":
        return TerminalLine(write)
    return None

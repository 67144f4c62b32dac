"""The line that shows how far a data set is that runs by itself."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING

from headway import _core
from headway import _session as worker_session
from headway._values.moving_line import Place, find_place

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Self

    from headway.data._context import DataContext


class Progress:
    """A line on a terminal or in a notebook while rows are waited for; elsewhere nothing. It is
    gone at the end of its context.

    Args:
        context: The settings: ``enable_progress_bars`` counts.
        what: What is done with the rows; empty: what the last stage does.
    """

    def __init__(self, context: DataContext, what: str = ""):
        self._what = what
        self._place: Place | None = None
        # A rank's output goes through its driver, which has such a line itself.
        if context.enable_progress_bars and worker_session.active() is None:
            self._place = find_place(_write)

    @property
    def told(self) -> Callable[[str], None] | None:
        """Draws the line for counters as JSON; None where nothing is shown."""
        return None if self._place is None else self._draw

    def hide(self) -> None:
        """Before anything else is printed."""
        if self._place is not None:
            self._place.hide()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._place is not None:
            self._place.end()

    def _draw(self, counters: str) -> None:
        if self._place is not None and threading.current_thread() is threading.main_thread():
            self._place.show(_core.data_progress_text(counters, self._what), whole_parts=True)


def _write(text: str) -> None:
    if sys.stdout is not None:
        print(text, end="", flush=True)

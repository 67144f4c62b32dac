"""What Headway does when the process ends, in order: runs end before the storage that they write
to.
"""

from __future__ import annotations

import atexit
from collections.abc import Callable

RUNS = 0
EARLY_FACTORY = 1
STORAGE = 2

_steps: dict[int, Callable[[], None]] = {}
_at_shutdown: list[Callable[[], None]] = []


def at_shutdown(step: Callable[[], None]) -> None:
    """Has ``step`` called by each ``headway.shutdown()``, once the runs have ended."""
    if step not in _at_shutdown:
        _at_shutdown.append(step)


def shut_down() -> None:
    """Takes the steps of :func:`at_shutdown`."""
    for step in _at_shutdown:
        step()


def at_end(order: int, step: Callable[[], None]) -> None:
    """Has ``step`` called when the process ends: those of a lower ``order`` before it, and one for
    each order.
    """
    _steps[order] = step
    # It comes before what libraries have registered until now, such as Arrow's own end.
    atexit.unregister(_end)
    atexit.register(_end)


def _end() -> None:
    for order in sorted(_steps):
        _steps[order]()

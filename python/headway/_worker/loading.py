"""How a worker and its factory bring modules in: with the garbage collector at rest."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator
from typing import Any

import cloudpickle


@contextlib.contextmanager
def collector_at_rest() -> Iterator[None]:
    """For the time of imports: what they make stays, and the collector would go through all of it
    again and again.

    That is a quarter of torch's import. A module that sets the collector's thresholds, or turns it
    off, is heeded.
    """
    before = gc.get_threshold()
    gc.set_threshold(0)
    try:
        yield
    finally:
        if gc.get_threshold()[0] == 0:
            gc.set_threshold(*before)


def load(pickled: bytes) -> Any:
    """What was pickled; the modules that it names are imported."""
    with collector_at_rest():
        return cloudpickle.loads(pickled)

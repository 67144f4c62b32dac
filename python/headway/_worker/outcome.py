"""How a user's function has ended, whatever else happens just then."""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

Value = TypeVar("Value")


@dataclass(frozen=True)
class Raised:
    """The function has raised ``error``."""

    error: BaseException


def outcome_of(call: Callable[[], Value]) -> Value | Raised:
    """What ``call`` returned or raised, once all that it has printed is on its way."""
    try:
        value = call()
    except BaseException as error:
        # A handler of SIGCHLD may raise on the way into a function: the first try calls none.
        try:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        except Exception:
            _leave_ended_children_alone()
        _flush()
        return Raised(error)
    _flush()
    return value


def _leave_ended_children_alone() -> None:
    """A handler of SIGCHLD, such as that of torch's DataLoader, raises for a child that was killed,
    and again and again: amid the description of what it has raised first.
    """
    for _ in range(10):
        with contextlib.suppress(Exception):
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            return


def _flush() -> None:
    """What was printed without a newline; a stream that the user has closed or replaced may not
    take it.
    """
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()

"""An exception of a user's on its way from a worker to the driver. Whatever it is, its type and its
frames arrive.
"""

from __future__ import annotations

import contextlib
import opcode
import os
import traceback
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any

import cloudpickle

from headway import _session as worker_session
from headway._values import named_arguments

#: How many exceptions are described for one: causes, and members of groups.
_TOLD_MAX = 100
#: Up to how many frames a traceback is complete. Python's limit of recursion is 1000, unless a
#: program raises it.
_FRAMES_MAX = 2000
_ARGUMENTS = f'  File "{named_arguments.__file__}", '
_PACKAGE = os.path.dirname(os.path.dirname(__file__)) + os.sep
_RAISE = opcode.opmap["RAISE_VARARGS"]


def describe(error: BaseException) -> dict[str, Any]:
    """An exception as the driver tells it: its type, its words, the user's frames."""
    return {
        "type": _type_name(type(error)),
        "message": _words(error),
        "traceback": _storable(_user_traceback(error)),
        "echo": worker_session.is_echo(error),
    }


def pickle_exception(error: BaseException) -> bytes | None:
    """The exception without its frames, if it survives a round trip: many with required arguments
    do not.

    What ends a program (KeyboardInterrupt, a cancelled task) is sent as text alone: it must not end
    the driver's.
    """
    if not isinstance(error, Exception):
        return None
    try:
        pickled = cloudpickle.dumps(error.with_traceback(None))
        cloudpickle.loads(pickled)
    except Exception:
        return None
    return pickled


def _words(error: object) -> str:
    return _had(lambda: str(error))


def _had(text: Callable[[], str]) -> str:
    """Text that a user's code makes; a note in its place when that code fails."""
    try:
        return _storable(text())
    except BaseException as failure:
        return f"(its words cannot be had: {_type_name(type(failure))})"


def _storable(text: str) -> str:
    """Text in which half of a surrogate pair is escaped: UTF-8 has none."""
    return text.encode(errors="backslashreplace").decode()


def _type_name(kind: type) -> str:
    return (
        kind.__qualname__ if kind.__module__ in ("builtins", "__main__") else f"{kind.__module__}.{kind.__qualname__}"
    )


def _headline(error: BaseException) -> str:
    words = _words(error)
    return _type_name(type(error)) + (f": {words}" if words else "")


def _user_traceback(error: BaseException) -> str:
    """The frames below Headway's own, the innermost last; then the exceptions that led to this one,
    newest first.
    """
    seen: set[int] = set()
    text = "Traceback (most recent call last):\n" + _frames(error, seen)
    while True:
        explicit = error.__cause__ is not None
        cause = error.__cause__ if explicit else (None if error.__suppress_context__ else error.__context__)
        if cause is None or id(cause) in seen or len(seen) >= _TOLD_MAX:
            return text
        link = "Caused by" if explicit else "Raised while handling"
        told = getattr(type(cause), "headways_words", None)  # It only carries frames.
        text += f"{told}{_words(cause)}\n" if told else f"{link} {_headline(cause)}\n"
        text += _frames(cause, seen)
        error = cause


def _frames(error: BaseException, seen: set[int]) -> str:
    """The user's frames, the notes that were added to the exception, and a group's members."""
    seen.add(id(error))
    text = "".join(_formatted(_without_refusal(error, _skip_own_frames(error.__traceback__))))
    text += "".join(f"Note: {_words(note)}\n" for note in _listed(error, "__notes__"))
    text += _place_of_a_relative_path(error)
    for member in _listed(error, "exceptions"):
        if isinstance(member, BaseException) and id(member) not in seen and len(seen) < _TOLD_MAX:
            text += f"In the group, {_headline(member)}\n" + _frames(member, seen)
    return text


def _place_of_a_relative_path(error: BaseException) -> str:
    """A note where a file that is not here is in the directory of the driver; else nothing."""
    path = getattr(error, "filename", None)
    driver_directory = worker_session.driver_directory()
    if not isinstance(error, FileNotFoundError) or not isinstance(path, str) or driver_directory is None:
        return ""
    here, there = os.path.abspath(path), os.path.join(driver_directory, path)
    if os.path.isabs(path) or here == there or not os.path.exists(there):
        return ""
    return (
        f"Note: {path} is in {driver_directory}, where fit() was called; ranks work in {os.getcwd()}. "
        "Use the absolute path, or set HEADWAY_CHDIR_TO_TRIAL_DIR=0, with which ranks work where fit() was called\n"
    )


def _formatted(tb: TracebackType | None) -> list[str]:
    """The frames; of more than can be looked at in a moment, the outermost and the innermost."""
    depth, each = 0, tb
    while each is not None:
        depth, each = depth + 1, each.tb_next
    if depth <= _FRAMES_MAX:
        # Without the frame that looks at a public function's named arguments: it is in every call
        # of one.
        return [frame for frame in traceback.format_tb(tb) if _ARGUMENTS not in frame]
    shown = _FRAMES_MAX // 10
    left_out = f"  [{depth - 2 * shown} frames are left out]\n"
    inner = tb
    for _ in range(depth - shown):
        assert inner is not None
        inner = inner.tb_next
    return [*traceback.format_tb(tb, shown), left_out, *traceback.format_tb(inner)]


def _listed(error: BaseException, name: str) -> Iterator[Any]:
    """What stands in an attribute that has a list in some exceptions, and may be anything in a
    user's own.
    """
    try:
        value = getattr(error, name, None)
    except Exception:
        return iter(())
    return iter(value if isinstance(value, (list, tuple)) else ())


def _skip_own_frames(tb: TracebackType | None) -> TracebackType | None:
    here = os.path.dirname(__file__)
    rest = tb
    while rest is not None and os.path.dirname(rest.tb_frame.f_code.co_filename) == here:
        rest = rest.tb_next
    return rest or tb


def _without_refusal(error: BaseException, tb: TracebackType | None) -> TracebackType | None:
    """The frames up to the user's call, where a ``raise`` of Headway's has refused it: the message
    says what is wrong. What Headway's code met unexpectedly keeps its frames, as does an assertion.
    """
    if isinstance(error, AssertionError):
        return tb
    kept = []
    each = tb
    while each is not None:
        kept.append(each)
        each = each.tb_next
    users = max((index + 1 for index, each in enumerate(kept) if not _is_own(each)), default=0)
    if not 0 < users < len(kept) or not _is_raise(kept[-1]):
        return tb
    rest: TracebackType | None = None
    for each in reversed(kept[:users]):
        rest = TracebackType(rest, each.tb_frame, each.tb_lasti, each.tb_lineno)
    return rest


def _is_own(tb: TracebackType) -> bool:
    """A frame of ``contextlib`` below those of a user's belongs to what Headway has entered."""
    return tb.tb_frame.f_code.co_filename.startswith((_PACKAGE, contextlib.__file__))


def _is_raise(tb: TracebackType) -> bool:
    """Whether a frame raises the exception itself: none came from what it has called."""
    return tb.tb_frame.f_code.co_code[tb.tb_lasti] == _RAISE

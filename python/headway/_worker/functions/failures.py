"""What a worker says of an exception in a user's function."""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import TracebackType
from typing import Any

import cloudpickle

#: Headway's, and those of the module asyncio.
_OWN = tuple(
    path + os.sep
    for path in (os.path.dirname(os.path.dirname(__file__)), os.path.join(os.path.dirname(os.__file__), "asyncio"))
)


def failure_of(error: BaseException) -> tuple[dict[str, Any], bytes]:
    """Class, words and the user's frames of an exception, and its pickle.

    The pickle is empty when there can be none.
    """
    from headway._worker.exceptions import describe, pickle_exception

    described = describe(error.with_traceback(_users(error.__traceback__)))
    fields = {name: described[name] for name in ("type", "message", "traceback")}
    return fields, pickle_exception(error) or (_pickled_parts(error) if isinstance(error, Exception) else b"")


class _Parts:
    """An exception that is made of its parts where this is unpickled."""

    def __init__(self, error: Exception) -> None:
        self._args = tuple(each if _pickles(each) else repr(each) for each in error.args)
        self._attributes = {name: value for name, value in vars(error).items() if _pickles(value)}
        self._kind = type(error)

    def __reduce__(self) -> Any:
        return made_of_parts, (self._kind, self._args, self._attributes)


def made_of_parts(kind: type[Exception], args: tuple[Any, ...], attributes: Mapping[str, Any]) -> Exception:
    """An exception whose class has a constructor that takes other arguments than it has kept."""
    error = kind.__new__(kind, *args)
    vars(error).update(attributes)
    return error


def _pickled_parts(error: Exception) -> bytes:
    """An exception without what cannot be pickled; empty where its words would be others."""
    try:
        pickled = cloudpickle.dumps(_Parts(error))
        return pickled if str(cloudpickle.loads(pickled)) == str(error) else b""
    except Exception:
        return b""


def _pickles(value: Any) -> bool:
    try:
        cloudpickle.loads(cloudpickle.dumps(value))
    except Exception:
        return False
    return True


def _users(frames: TracebackType | None) -> TracebackType | None:
    """Without the frames that called the user's function; all where it was not reached."""
    rest = frames
    while rest is not None and rest.tb_frame.f_code.co_filename.startswith(_OWN):
        rest = rest.tb_next
    return rest or frames

"""What a worker says of an exception in a user's function."""

from __future__ import annotations

import os
from types import TracebackType
from typing import Any

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
    return fields, pickle_exception(error) or b""


def _users(frames: TracebackType | None) -> TracebackType | None:
    """Without the frames that called the user's function; all where it was not reached."""
    rest = frames
    while rest is not None and rest.tb_frame.f_code.co_filename.startswith(_OWN):
        rest = rest.tb_next
    return rest or frames

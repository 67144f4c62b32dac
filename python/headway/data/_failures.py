"""Exceptions of users' functions that failed in the data engine's workers."""

from __future__ import annotations

import contextlib
import pickle
from collections.abc import Iterator
from typing import Any

from headway import _core


class FunctionFrames(Exception):
    """Where a user's function failed, in the worker that ran it: the cause of the exception that is
    raised.
    """

    #: In place of "Caused by" and the class, where a rank's exception is described.
    headways_words = "In the data set's function:"

    def __str__(self) -> str:
        return "\n" + "\n".join(str(each) for each in self.args if each)


@contextlib.contextmanager
def as_users() -> Iterator[None]:
    """What a user's function raised in the engine is raised here, with its class; its frames come
    first.
    """
    try:
        yield
    except _core.DataFailure as raised:
        failure: Any = raised
        raise _of_user(failure) from FunctionFrames(failure.traceback.rstrip(), failure.where)


def _of_user(failure: Any) -> BaseException:
    if failure.exception:
        with contextlib.suppress(Exception):
            error = pickle.loads(failure.exception)
            if isinstance(error, BaseException):
                return error
    return RuntimeError(str(failure))

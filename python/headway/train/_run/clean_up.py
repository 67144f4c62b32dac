"""A backend's ``clean_up``, which must not hold up the run."""

from __future__ import annotations

import ctypes
import sys
import threading
import traceback
from collections.abc import Callable
from typing import Any

from headway.train._run.hook_watch import HookHungError
from headway.train.backend import Backend

#: How long it may take, in seconds.
LIMIT_S = 30.0


def clean_up(backend: Any, backend_config: Any, say: Callable[[str, str], None]) -> None:
    """Calls it on a separate thread, and returns when it has returned, or after ``LIMIT_S``.

    Args:
        backend: The run's.
        backend_config: Its settings.
        say: Tells the user, as ``Display.say`` does. An error is a warning.
    """
    hook = getattr(backend, "clean_up", None)
    if hook is None or getattr(type(backend), "clean_up", None) is Backend.clean_up:
        return
    raised: list[BaseException] = []

    def call() -> None:
        try:
            hook(backend_config)
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=call, name="headway-clean-up", daemon=True)
    thread.start()
    thread.join(LIMIT_S)
    if thread.is_alive():
        frame = sys._current_frames().get(thread.ident or 0)
        stack = "".join(traceback.format_stack(frame)[-4:]) if frame is not None else ""
        # Its next step in Python raises. Nobody waits for that.
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident or 0), ctypes.py_object(HookHungError))
        say("warning", f"the backend's clean_up has not returned within {LIMIT_S:g} s and is left behind, in:\n{stack}")
    elif raised:
        say("warning", f"the backend's clean_up failed: {type(raised[0]).__name__}: {raised[0]}")

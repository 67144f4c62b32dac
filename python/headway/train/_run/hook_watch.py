"""A backend's hook seen from beside it: while it holds up the thread in ``fit()``, another one
hears the alarms.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType

from headway import _core

_HOOK_CALLERS = ("_set_up", "_tear_down", "_call_back", "tell_end")


class HookHungError(RuntimeError):
    """Raised inside a hook that took longer than ``FailureConfig.hang_fail_s``."""

    def __init__(self) -> None:
        super().__init__("it took longer than FailureConfig.hang_fail_s allows")


class HookWatch:
    """Takes a run's alarms: warnings, and the question what the hook is doing.

    ``take`` is for the thread in ``fit()`` while it waits itself; within ``watch()`` a separate
    thread does the same, for a hook that never comes back to wait.
    """

    def __init__(self, run: _core.Run, say: Callable[[str, str], None]):
        self._run = run
        self._say = say
        self._lock = threading.Lock()
        self._hook_thread: int | None = None
        self._interrupted = False

    @contextlib.contextmanager
    def watch(self) -> Iterator[None]:
        """For the time of a hook, which this thread calls."""
        end_reader, end_writer = os.pipe2(os.O_CLOEXEC)
        thread = threading.Thread(target=self._listen, args=(end_reader,), name="headway-hooks", daemon=True)
        self._hook_thread = threading.get_ident()
        thread.start()
        try:
            yield
        finally:
            try:
                self._end_interruptions()
            finally:
                # Not its end of file: a process that the hook has forked may hold it open.
                os.write(end_writer, b"e")
                thread.join()
                os.close(end_writer)
                os.close(end_reader)

    def _end_interruptions(self) -> None:
        """An interruption that came too late for the hook is raised here, and meets nobody else.

        It is not withdrawn by ``PyThreadState_SetAsyncExc(thread, None)``: from that call on,
        CPython 3.11 looks for an exception at each step, and a traced function never begins.
        """
        with self._lock:
            self._hook_thread = None
            interrupted, self._interrupted = self._interrupted, False
        if interrupted:
            with contextlib.suppress(HookHungError):
                for _ in range(1000):  # Python raises at a jump backwards.
                    pass

    def _listen(self, end_reader: int) -> None:
        # Signals are for the thread in fit(), which they wake.
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        poll = select.poll()
        poll.register(self._run.alarm_fd, select.POLLIN)
        poll.register(end_reader, select.POLLIN | select.POLLHUP)
        while all(descriptor != end_reader for descriptor, _ in poll.poll()):
            self.take()

    def take(self) -> None:
        """Hears what there is."""
        for alarm in self._run.take_alarms():
            match alarm:
                case _core.ExamineHook():
                    self._run.hook_examined(alarm.examination, self._describe_hook())
                case _core.InterruptHook():
                    self._interrupt()
                case _core.RunWarning():
                    self._say("warning", alarm.text)

    def _describe_hook(self) -> str:
        thread = self._hook_thread
        frame = sys._current_frames().get(thread) if thread is not None else None
        lines = [f"  {name} ({file}:{line})\n" for name, file, line in _frames(frame)]
        return "in a hook, innermost frame first:\n" + "".join(lines) if lines else "the hook has just returned\n"

    def _interrupt(self) -> None:
        """The hook's next step in Python raises. One that sits in a call of C raises when that
        returns.
        """
        with self._lock:
            if self._hook_thread is not None:
                self._interrupted = True
                ctypes.pythonapi.PyThreadState_SetAsyncExc(
                    ctypes.c_ulong(self._hook_thread), ctypes.py_object(HookHungError)
                )


def _frames(frame: FrameType | None) -> Iterator[tuple[str, str, int]]:
    """The frames from the innermost to the hook's own, without those that ask."""
    while frame is not None and frame.f_globals.get("__name__") == __name__:
        frame = frame.f_back
    while frame is not None and not (
        frame.f_code.co_name in _HOOK_CALLERS and frame.f_globals.get("__name__") == "headway.train._run.loop"
    ):
        yield frame.f_code.co_name, frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back

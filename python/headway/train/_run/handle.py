"""A run that was started: what ``start()`` returns, and what ``fit()`` waits with."""

from __future__ import annotations

import collections
import os
import threading
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from headway import _core
from headway._values.arguments import check_number, check_str, is_utf8
from headway.train._run.result import Result
from headway.train._run.uncaught import interrupted

#: What :meth:`RunHandle.events` yields.
RunEvent = (
    _core.RankLine
    | _core.HelperLine
    | _core.Notice
    | _core.RunWarning
    | _core.ReportRecorded
    | _core.AttemptFailed
    | _core.Finished
)
# Events that an iterator keeps for somebody who is slow.
_KEPT_MAX = 10_000
_TIMEOUT = "seconds from 0, or None"


class StartedRun(Protocol):
    """A run in one mode: with a worker group, or in this process.

    Attributes:
        path: The run's folder, as users see it; None in torchrun's other ranks.
        listeners: Called with each event, on the thread that serves the run.
    """

    path: str | None
    listeners: list[Callable[[Any], None]]

    def serve(self) -> Result:
        """Serves the run on this thread until it has ended: hooks, callbacks, output. Called
        once.
        """

    def stop(self, reason: str) -> None:
        """Ends it as finished."""

    def abort(self, reason: str) -> bool:
        """Ends it as aborted. False where that is not this process's to do."""


class RunHandle:
    """A started run; :meth:`DataParallelTrainer.start` returns it. Its methods may be called from
    any thread.

    Example:
        >>> from headway import train
        >>> def loop():
        ...     train.report({"loss": 0.5})
        >>> trainer = train.DataParallelTrainer(loop, run_config=train.RunConfig(verbose=0))
        >>> handle = trainer.start()
        >>> handle.wait().metrics["loss"]
        0.5
        >>> handle.done
        True
    """

    def __init__(self, run: StartedRun):
        self._run = run
        self._result: Result | None = None
        self._error: BaseException | None = None
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._subscribers: list[_Subscriber] = []
        self._end: _core.Finished | None = None
        self._pid = os.getpid()
        run.listeners.append(self._pass_on)

    @property
    def path(self) -> str | None:
        """The run's folder: a path or a URL. None in the other ranks of torchrun."""
        return self._run.path

    @property
    def done(self) -> bool:
        """Whether the run has ended, however it did: :meth:`wait` returns, or raises, at once.

        Raises:
            RuntimeError: in a forked child, as for all but :attr:`path`.
        """
        self._check_process()
        return self._ended.is_set()

    def wait(self, timeout: float | None = None) -> Result:
        """Waits until the run has ended.

        Args:
            timeout: Seconds; None: as long as it takes. The run continues when they have passed.

        Returns:
            The result, as ``fit()`` returns it. That of a run that was stopped as well.

        Raises:
            TypeError, ValueError: ``timeout`` is no number of seconds.
            TimeoutError: the run has not ended within ``timeout``.
            KeyboardInterrupt: Ctrl-C. The run is aborted: its workers have ended, and what was
                reported so far is kept.
            RuntimeError: this process was forked from the one that started the run.
            Exception: what ``fit()`` raises.
        """
        self._check_process()
        if timeout is not None and not check_number("timeout", timeout, _TIMEOUT) >= 0:
            raise ValueError(f"timeout is {timeout!r}; allowed: {_TIMEOUT}")
        try:
            if not self._ended.wait(None if timeout is None or timeout > threading.TIMEOUT_MAX else timeout):
                raise TimeoutError(f"the run has not ended within {timeout:g} s; it continues")
        except KeyboardInterrupt as error:
            if self._run.abort("Ctrl-C"):
                self._ended.wait()
            interrupted(error, self.path)
            raise
        if self._error is not None:
            raise self._error
        assert self._result is not None
        return self._result

    def stop(self, reason: str = "its handle was asked to stop it") -> None:
        """Stops the run, which ends as finished: :meth:`wait` returns the result of what it has
        reported so far.

        Returns at once. A report that is under way is recorded first. Ranks get a SIGTERM, and half
        a second later a SIGKILL; with ``num_workers=0`` the training function is left at its next
        ``report``. Does nothing once the run has ended.

        Args:
            reason: For the notice that the run prints, and for ``run.json``.

        Raises:
            TypeError: ``reason`` is no text.
            ValueError: UTF-8 does not have it.
            RuntimeError: this process was forked from the one that started the run.
        """
        self._check_process()
        check_str("reason", reason, "text")
        if not is_utf8(reason):
            raise ValueError(f"reason is {reason!r}; allowed: text that UTF-8 has")
        if not self.done:
            self._run.stop(reason)

    def events(self) -> Iterator[RunEvent]:
        """What happens from now on, in order; ends with the run, with ``Finished`` as the last
        event.

        :mod:`headway.train.events` has the classes. An iterator that is slow misses the oldest
        events, once 10 000 wait; of reports that come faster than they are shown some are left out.
        Hooks and callbacks do not wait for it.

        Example:
            >>> from headway import train
            >>> from headway.train import events
            >>> def loop():
            ...     train.report({"loss": 0.5})
            >>> handle = train.DataParallelTrainer(loop, run_config=train.RunConfig(verbose=0)).start()
            >>> for event in handle.events():
            ...     match event:
            ...         case events.ReportRecorded():
            ...             print(event.line["loss"])
            ...         case events.Finished():
            ...             print(event.outcome.state)
            0.5
            finished
        """
        self._check_process()
        subscriber = _Subscriber()
        with self._lock:
            if self._end is not None:
                subscriber.put(self._end)
            if self.done:
                subscriber.close()
            else:
                self._subscribers.append(subscriber)
        return subscriber

    def _check_process(self) -> None:
        """A forked child has neither the thread that serves the run nor its sockets."""
        if self._pid != os.getpid():
            raise RuntimeError(
                f"the handle of {self.path} belongs to process {self._pid}, from which process {os.getpid()} was "
                "forked; use it in the process that started the run"
            )

    def _pass_on(self, event: Any) -> None:
        if not isinstance(event, RunEvent):
            return
        with self._lock:
            if isinstance(event, _core.Finished):
                self._end = event
            for subscriber in self._subscribers:
                subscriber.put(event)

    def _serve(self) -> None:
        """Serves the run on this thread. What it raises is raised by :meth:`wait`."""
        try:
            self._result = self._run.serve()
        except BaseException as error:
            self._error = error
        # The run and its handle would keep each other, and descriptors, for the cycle collector.
        self._run.listeners.remove(self._pass_on)
        with self._lock:
            self._ended.set()
            for subscriber in self._subscribers:
                subscriber.close()


def serve_beside(run: StartedRun) -> RunHandle:
    """A handle to a run that is served by a separate thread."""
    handle = RunHandle(run)
    threading.Thread(target=handle._serve, name="headway-fit", daemon=True).start()
    return handle


class _Subscriber(Iterator[RunEvent]):
    """The events of one iterator."""

    def __init__(self) -> None:
        self._events: collections.deque[RunEvent] = collections.deque(maxlen=_KEPT_MAX)
        self._changed = threading.Condition()
        self._closed = False

    def put(self, event: RunEvent) -> None:
        with self._changed:
            self._events.append(event)
            self._changed.notify()

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()  # Several threads may share the iterator.

    def __next__(self) -> RunEvent:
        with self._changed:
            self._changed.wait_for(lambda: self._events or self._closed)
            if not self._events:
                raise StopIteration
            return self._events.popleft()

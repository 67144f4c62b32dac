"""What the thread that called ``fit()`` does meanwhile: hooks, output, progress, and Ctrl-C."""

from __future__ import annotations

import collections
import json
import select
import threading
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import cloudpickle

from headway import _core
from headway._values import pickling
from headway._worker.exceptions import describe
from headway.train._errors.exceptions import load_exception
from headway.train._errors.worker_failures import failure_of
from headway.train._run.callback_calls import CallbackCalls, CallbackError
from headway.train._run.clean_up import clean_up
from headway.train._run.display import Display
from headway.train._run.hook_watch import HookWatch
from headway.train._run.wakeup import signals_wake
from headway.train.backend import Backend, BackendConfig

_T = TypeVar("_T")


class RunLoop:
    """Serves one run's events until its end. It waits on a descriptor, so that a signal is handled
    at once.
    """

    def __init__(
        self,
        run: _core.Run,
        backend: Backend,
        backend_config: BackendConfig,
        display: Display,
        callbacks: CallbackCalls | None = None,
    ):
        self._run = run
        self._callbacks = callbacks
        self._backend = backend
        self._backend_config = backend_config
        self._display = display
        self._poll = select.poll()
        self._poll.register(run.event_fd, select.POLLIN)
        self._poll.register(run.alarm_fd, select.POLLIN)
        self._hook_watch = HookWatch(run, display.say)
        self._events: collections.deque[Any] = collections.deque()
        self._calls = 0
        self._answers: dict[tuple[int, int], _core.CallExecuted] = {}
        self._group: DriverWorkerGroup | None = None
        self._hooks: list[Callable[[], None]] = []
        #: Whether a group has been set up and not torn down.
        self._is_set_up = False
        self.return_value: bytes | None = None
        self.exceptions: dict[int, Exception] = {}
        self.callback_error: CallbackError | None = None
        self.end: _core.Finished | None = None
        #: Called with each event, on the thread that serves the run.
        self.listeners: list[Callable[[Any], None]] = []

    def serve(self) -> _core.Finished:
        """Until the end; returns what the run came to."""
        # Beside a program that goes on, or a rank in this process, a line that moves would be in
        # the way.
        if threading.current_thread() is threading.main_thread() and self._display.move():
            self._run.show_moving_line()
        if self._callbacks is not None:
            self._call_back(lambda calls: calls.start(self._run.path))
        while self.end is None:
            self._wait()
            while self._hooks:
                self._hooks.pop(0)()
        self._clean_up()
        self._display.finish()
        # It has this loop: what both hold goes with them now, not when cycles are collected.
        self._group = None
        self.tell_end()
        return self.end

    def tell_end(self) -> None:
        """Calls the callbacks' last hooks: after a callback's error too, so that loggers close what
        they opened.
        """
        if self._callbacks is None:
            return
        failed = not self._has_finished() or self.callback_error is not None
        try:
            with self._hook_watch.watch():
                self._callbacks.end(failed=failed)
            self._pass_warnings_on(self._callbacks)
        except CallbackError as error:
            if self._has_finished() and self.callback_error is None:
                self.callback_error = error
            else:  # The run has failed for another reason, and fit() raises that one.
                self._display.say("warning", str(error))

    def _has_finished(self) -> bool:
        return self.end is not None and self.end.outcome.state == "finished"

    def abort(self, error: BaseException) -> None:
        """Ends the run because ``error`` came up in this thread, and returns when its workers are
        gone.
        """
        interrupted = isinstance(error, KeyboardInterrupt)
        self._run.abort("Ctrl-C" if interrupted else f"fit() was left by {type(error).__name__}: {error}")
        if not interrupted:
            # The display may be what failed, for example because standard output is closed.
            self._display.mute()
        while self.end is None:
            self._wait()
        self._clean_up()
        self._display.finish()
        # It has this loop: what both hold goes with them now, not when cycles are collected.
        self._group = None
        self.tell_end()

    def call(self, calls: dict[int, bytes]) -> list[Any]:
        """Has each rank call its pickled function and returns the values in the order of ranks."""
        call_ids: dict[int, int] = {}
        for rank, function in calls.items():
            self._calls += 1
            call_ids[rank] = self._calls
            self._run.execute(self._calls, [rank], function)
        keys = [(call_ids[rank], rank) for rank in calls]
        while not all(key in self._answers for key in keys):
            if self.end is not None:
                raise RuntimeError("the run ended while a backend's hook waited for the workers")
            self._wait()
        return [self._value_of(self._answers.pop(key)) for key in keys]

    def _value_of(self, answer: _core.CallExecuted) -> Any:
        error, value = answer.error, answer.value
        if error is None:
            return cloudpickle.loads(value) if value is not None else None
        text = f"rank {answer.rank}: {error.type}: {error.message}\n{error.traceback}"
        raise RuntimeError(text) from load_exception(value)

    def _wait(self) -> None:
        if not self._events:
            with signals_wake(self._poll):
                self._poll.poll()
        self._hook_watch.take()
        self._events.extend(self._run.take_events())
        # One by one: what is still there when the display raises, or Ctrl-C comes, is taken by
        # abort().
        while self._events:
            event = self._events.popleft()
            for listener in self.listeners:
                listener(event)
            self._take(event)
        self._display.flush()

    def _take(self, event: Any) -> None:
        match event:
            case _core.RankLine():
                self._display.line(event.rank, event.line or b"")
            case _core.RankRedraws():
                self._display.redraw(event.rank, event.line or b"")
            case _core.MovingLineShown():
                self._display.status(event.text)
            case _core.HelperLine():
                self._display.helper_line(event.helper, event.line or b"")
            case _core.ReportRecorded():
                self._display.report(event.line)
            case _core.CallbackReport():
                self._hooks.append(lambda: self._hear_report(event))
            case _core.AttemptFailed():
                self._hooks.append(self._hearing_failure(event.failure))
            case _core.RunWarning():
                self._display.say("warning", event.text)
            case _core.Notice():
                self._display.say("notice", event.text)
            case _core.CallExecuted():
                self._answers[event.call_id, event.rank] = event
            case _core.SetupAsked():
                self.exceptions.clear()
                self._hooks.append(lambda: self._set_up(event.attempt, event.workers))
            case _core.TeardownAsked():
                self._hooks.append(lambda: self._tear_down(event.attempt))
            case _core.FunctionReturned():
                self.return_value = event.value
            case _core.FunctionRaised():
                exception = load_exception(event.exception)
                if exception is not None:
                    self.exceptions[event.rank] = exception
            case _core.Finished():
                self.end = event

    def load_return_value(self) -> Any:
        """What rank 0 returned; None, with a warning, when it can't be loaded in this process."""
        if not self.return_value:
            return None
        try:
            return cloudpickle.loads(self.return_value)
        except Exception as error:
            self._display.say(
                "warning", f"rank 0's return value cannot be loaded here: {type(error).__name__}: {error}"
            )
            return None

    def _hear_report(self, event: _core.CallbackReport) -> None:
        reason = self._call_back(lambda calls: calls.reported(event.line, event.metrics))
        if reason is not None:
            self._run.stop(reason)
        if self.callback_error is None:
            self._run.report_heard()

    def _hearing_failure(self, failure: _core.RunFailure) -> Callable[[], None]:
        exceptions = {each.rank: failure_of(each, self.exceptions.get(each.rank)) for each in failure.ranks}
        return lambda: self._call_back(lambda calls: calls.failed(exceptions))

    def _call_back(self, call: Callable[[CallbackCalls], _T]) -> _T | None:
        """After the first error no callback is called any more: the run ends by it."""
        if self._callbacks is None or self.callback_error is not None:
            return None
        try:
            with self._hook_watch.watch():
                answer = call(self._callbacks)
            self._pass_warnings_on(self._callbacks)
            return answer
        except CallbackError as error:
            self.callback_error = error
            self._run.callback_failed(str(error))
            return None

    def _pass_warnings_on(self, callbacks: CallbackCalls) -> None:
        for text in callbacks.take_warnings():
            self._display.say("warning", text)

    def _set_up(self, attempt: int, workers: int) -> None:
        self._clean_up()
        self._is_set_up = True
        self._call_back(lambda calls: calls.ready(attempt))
        self._group = DriverWorkerGroup(self, workers)
        try:
            with self._hook_watch.watch():
                self._backend.on_start(self._group, self._backend_config)
                self._backend.on_training_start(self._group, self._backend_config)
        except Exception as error:
            self._run.setup_finished(attempt, json.dumps(describe(error)))
        else:
            self._run.setup_finished(attempt)

    def _clean_up(self) -> None:
        """After a group that has ended without a tear-down."""
        if self._is_set_up:
            self._is_set_up = False
            clean_up(self._backend, self._backend_config, self._display.say)

    def _tear_down(self, attempt: int) -> None:
        self._is_set_up = False
        try:
            if self._group is not None:
                with self._hook_watch.watch():
                    self._backend.on_shutdown(self._group, self._backend_config)
        except Exception as error:
            self._display.say("warning", f"the backend's on_shutdown failed; the run's result stands: {error}")
        finally:
            self._run.teardown_finished(attempt)


class DriverWorkerGroup:
    """The workers of one attempt, as a backend's hooks see them; see
    :class:`headway.train.backend.WorkerGroup`.
    """

    def __init__(self, loop: RunLoop, num_workers: int):
        self._loop = loop
        self.num_workers = num_workers

    def __len__(self) -> int:
        return self.num_workers

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.num_workers))

    def execute(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> list[Any]:
        """Calls ``function`` in every rank at once and returns their values, in the order of
        ranks.
        """
        return self._loop.call(dict.fromkeys(self, pickling.dumps_call(function, args, kwargs)))

    def execute_single(self, rank: int, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Calls ``function`` in one rank and returns its value."""
        if not 0 <= rank < self.num_workers:
            raise ValueError(f"rank is {rank}; allowed: 0 to {self.num_workers - 1}")
        return self._loop.call({rank: pickling.dumps_call(function, args, kwargs)})[0]

    def execute_each(self, calls: list[tuple[Callable[..., Any], tuple[Any, ...]]]) -> list[Any]:
        """Calls one function a rank, each with its own arguments, at once."""
        if len(calls) != self.num_workers:
            raise ValueError(f"calls has {len(calls)} entries; allowed: one a rank, {self.num_workers}")
        return self._loop.call({rank: pickling.dumps_call(*call, {}) for rank, call in enumerate(calls)})

"""A run whose ranks are processes that Headway starts."""

from __future__ import annotations

from collections.abc import Callable

from headway import _core
from headway._storage import locations
from headway._values import spans
from headway.train._errors.exceptions import ControllerError, PreemptionError, TrainingFailedError, to_exception
from headway.train._run.loop import RunLoop
from headway.train._run.result import Result
from headway.train._run.spans import RunSpans
from headway.train._run.uncaught import failed, interrupted, terminated


class GroupRun:
    """A run with a worker group; see :class:`headway.train._run.handle.StartedRun`.

    Args:
        run: The core's.
        loop: What serves it.
        to_result: From its end to what ``fit()`` returns.
        raises_cause: Whether a training function's exception is raised as it is
            (``fail_fast="raise"``).
    """

    def __init__(
        self, run: _core.Run, loop: RunLoop, to_result: Callable[[_core.Finished], Result], *, raises_cause: bool
    ):
        self._run = run
        self._loop = loop
        self._to_result = to_result
        self._raises_cause = raises_cause
        self.path: str | None = locations.shown(run.path)
        self.listeners = loop.listeners
        if (tracer := spans.tracer()) is not None:
            self.listeners.append(RunSpans(tracer, run.path).hear)

    def stop(self, reason: str) -> None:
        """Ends it as finished."""
        self._run.stop(reason)

    def abort(self, reason: str) -> bool:
        """Ends it as aborted."""
        self._run.abort(reason)
        return True

    def serve(self) -> Result:
        """Serves the run on this thread until it has ended."""
        loop = self._loop
        try:
            end = loop.serve()
        except BaseException as error:
            loop.abort(error)
            if isinstance(error, KeyboardInterrupt):
                interrupted(error, self.path)
            raise
        if loop.callback_error is not None:
            cause = loop.callback_error.failure
            raise ControllerError(cause, str(loop.callback_error)) from cause
        outcome = end.outcome
        if outcome.failure is not None:
            failure, raised = to_exception(outcome.failure, outcome.attempts, loop.exceptions, str(self.path))
            if raised is not None and self._raises_cause:
                raise raised from failure
            if isinstance(failure, PreemptionError) and failure.of_driver:
                terminated(failure, self.path)
            elif isinstance(failure, TrainingFailedError):
                failed(failure)
            raise failure from raised
        return self._to_result(end)

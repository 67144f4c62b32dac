"""A run as spans of OpenTelemetry, where the program uses it: the run, the start of its first
group, each recovery, each commit of a checkpoint.
"""

from __future__ import annotations

import time
from typing import Any

from headway import _core
from headway._storage import locations, run_files
from headway._values import spans

_NS_PER_S = 1e9


class RunSpans:
    """Makes the spans of one run from its events; called on the thread that serves the run.

    Args:
        tracer: Of OpenTelemetry.
        path: The run's folder.
    """

    def __init__(self, tracer: Any, path: str):
        from opentelemetry import trace

        self._tracer = tracer
        self._path = path
        self._began_s = time.time()
        shown = locations.shown(path)
        self._run = tracer.start_span(
            "headway.run", attributes=spans.named({"run": shown.rstrip("/").rpartition("/")[2], "path": shown})
        )
        self._context = trace.set_span_in_context(self._run)
        self._starting = self._begin("start", attempt=1)

    def hear(self, event: Any) -> None:
        """One of the run's events."""
        match event:
            case _core.SetupAsked():
                self._end_start(workers=event.workers)
            case _core.AttemptFailed():
                self._end_start(failed=True)
                words = event.failure.message.partition("\n")[0]
                self._run.add_event("headway.failure", spans.named({"attempt": event.attempt, "failure": words}))
                self._starting = self._begin("recovery", attempt=event.attempt + 1, failure=words)
            case _core.Finished():
                self._end_start(failed=event.outcome.failure is not None)
                self._commits()
                self._run.set_attributes(
                    spans.named({"state": event.outcome.state, "attempts": event.outcome.attempts})
                )
                if event.outcome.failure is not None:
                    self._fails(self._run)
                self._run.end()

    def _begin(self, name: str, **attributes: Any) -> Any:
        return self._tracer.start_span(f"headway.{name}", self._context, attributes=spans.named(attributes))

    def _end_start(self, workers: int | None = None, *, failed: bool = False) -> None:
        if self._starting is None:
            return
        self._starting.set_attributes(spans.named({"workers": workers}))
        if failed:
            self._fails(self._starting)
        self._starting.end()
        self._starting = None

    def _commits(self) -> None:
        """The driver notes in the run's history when each checkpoint was durable, and how long that
        took from the moment when all ranks had reported it.
        """
        for at_s, stored in run_files.stored_checkpoints(self._path):
            took_s = stored.get("seconds")
            if took_s is None or at_s < self._began_s:  # The user stores it; an earlier fit() did.
                continue
            commit = self._tracer.start_span(
                "headway.commit",
                self._context,
                attributes=spans.named({name: stored.get(name) for name in ("name", "bytes", "files")}),
                start_time=int((at_s - took_s) * _NS_PER_S),
            )
            commit.end(int(at_s * _NS_PER_S))

    @staticmethod
    def _fails(span: Any) -> None:
        from opentelemetry.trace import StatusCode

        span.set_status(StatusCode.ERROR)

"""How a rank failed, as exceptions with attributes: nobody has to read their texts."""

from __future__ import annotations

import contextlib
import signal as signals
from typing import Any

from headway import _core


class WorkerFailure(RuntimeError):
    """How one rank failed. Its subclasses say in which way.

    What a training function has raised is in :attr:`WorkerGroupError.worker_failures` itself, with
    these attributes beside its own.

    Attributes:
        rank: The rank.
        attempt: In which attempt of the run; None in what an older version has stored.
        pid: The worker's process; None for one that was never ready.
        host: The name of the machine that it was on; None when that is not known.
        node_id: The node's id, as :func:`headway.nodes` has it; None when that is not known.

    Example:
        >>> from headway import train
        >>> def fit(trainer):
        ...     try:
        ...         return trainer.fit()
        ...     except train.WorkerGroupError as error:
        ...         for failure in error.worker_failures.values():
        ...             print(type(failure).__name__, "of rank", failure.rank, "on", failure.host)
    """

    def __init__(
        self,
        message: str,
        *,
        rank: int,
        attempt: int | None = None,
        pid: int | None = None,
        host: str | None = None,
        node_id: str | None = None,
    ):
        super().__init__(message)
        self.rank = rank
        self.attempt = attempt
        self.pid = pid
        self.host = host
        self.node_id = node_id

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), str(self), dict(self.__dict__))


class WorkerRaised(WorkerFailure):
    """Its training function raised something that cannot be loaded in the driver.

    Attributes:
        exception_type: The exception's class, such as ``"mymodule.BadBatch"``.
        exception_message: Its text.
        exception_traceback: The frames of the training function.

    Example:
        >>> from headway import train
        >>> def was_out_of_memory(error: train.WorkerGroupError) -> bool:
        ...     raised = [each for each in error.worker_failures.values() if isinstance(each, train.WorkerRaised)]
        ...     return any(each.exception_type.endswith("OutOfMemoryError") for each in raised)
    """

    def __init__(
        self,
        message: str,
        *,
        exception_type: str = "",
        exception_message: str = "",
        exception_traceback: str = "",
        **who: Any,
    ):
        super().__init__(message, **who)
        self.exception_type = exception_type
        self.exception_message = exception_message
        self.exception_traceback = exception_traceback


class WorkerDied(WorkerFailure):
    """Its process ended before its training function did.

    Attributes:
        signal: What killed it, such as ``signal.SIGSEGV``; None when it exited.
        exit_code: What it exited with; None when a signal killed it.
        last_lines: What it had printed last.
        detail: More on how it ended, when there is more; else empty.

    Example:
        >>> import signal
        >>> from headway import train
        >>> died = train.WorkerDied("was killed by SIGKILL", rank=1, signal=signal.SIGKILL, last_lines=["step 41"])
        >>> died.signal == 9, died.exit_code, died.last_lines
        (True, None, ['step 41'])
    """

    def __init__(
        self,
        message: str,
        *,
        signal: int | None = None,
        exit_code: int | None = None,
        last_lines: list[str] | None = None,
        detail: str = "",
        **who: Any,
    ):
        super().__init__(message, **who)
        self.signal = signal
        self.exit_code = exit_code
        self.last_lines = last_lines or []
        self.detail = detail


class WorkerNotStarted(WorkerDied):
    """Its process ended before it was ready for the training function.

    Example:
        >>> from headway import train
        >>> issubclass(train.WorkerNotStarted, train.WorkerDied)
        True
    """


class WorkerHung(WorkerFailure):
    """Others waited for it longer than ``FailureConfig.hang_fail_s``.

    Example:
        >>> from headway import train
        >>> print(train.WorkerHung("rank 1 did not come to report #3", rank=1, host="node-a"))
        rank 1 did not come to report #3
    """


class NodeLost(WorkerFailure):
    """Its node is out of reach, for good.

    Example:
        >>> from headway import train
        >>> def lost_nodes(error: train.WorkerGroupError) -> set[str]:
        ...     return {each.node_id for each in error.worker_failures.values() if isinstance(each, train.NodeLost)}
    """


class NodePreempted(WorkerFailure):
    """Its node was taken away with notice. Callbacks hear it; ``fit()`` raises ``PreemptionError``.

    Example:
        >>> from headway import train
        >>> class Counter(train.UserCallback):
        ...     preemptions = 0
        ...     def after_exception(self, run_context, worker_exceptions):
        ...         failures = worker_exceptions.values()
        ...         self.preemptions += any(isinstance(each, train.NodePreempted) for each in failures)
    """


class UnmatchedCall(WorkerFailure):
    """It made another call than the other ranks, or returned, where all ranks must make the same
    call.

    Attributes:
        call: ``"report"`` or ``"collective"``.

    Example:
        >>> from headway import train
        >>> train.UnmatchedCall("finished after 2 reports", rank=1, call="report").call
        'report'
    """

    def __init__(self, message: str, *, call: str, **who: Any):
        super().__init__(message, **who)
        self.call = call


def failure_of(described: _core.RankFailure, exception: Exception | None) -> Exception:
    """A rank's failure as users meet it.

    Args:
        described: As the core has it.
        exception: What its training function raised, where that could be loaded here.
    """
    who: dict[str, Any] = {
        "rank": described.rank,
        "attempt": described.attempt,
        "pid": described.pid,
        "host": described.hostname,
        "node_id": described.node_id,
    }
    if exception is not None:
        return _with_attributes(exception, who)
    kind = described.kind
    if kind == "exception" and described.exception is not None:
        error = described.exception
        return WorkerRaised(
            described.text,
            exception_type=error.type,
            exception_message=error.message,
            exception_traceback=error.traceback,
            **who,
        )
    if kind in ("death", "start") and described.exit is not None:
        status = described.exit
        return (WorkerDied if kind == "death" else WorkerNotStarted)(
            described.text,
            signal=_signal(status.code) if status.signaled else None,
            exit_code=None if status.signaled else status.code,
            last_lines=(described.last_lines or "").splitlines(),
            detail=status.detail,
            **who,
        )
    if kind in _CALLS:
        return UnmatchedCall(described.text, call=_CALLS[kind], **who)
    return _SIMPLE.get(kind or "", WorkerFailure)(described.text, **who)


_SIMPLE = {"hang": WorkerHung, "lost_node": NodeLost, "preemption": NodePreempted}
_CALLS = {"unmatched_report": "report", "unmatched_collective": "collective", "different_collective": "collective"}


def _with_attributes(exception: Exception, who: dict[str, Any]) -> Exception:
    """The exception itself; an attribute that it has of that name stays, as does one that it
    refuses.
    """
    for name, value in who.items():
        with contextlib.suppress(Exception):
            if not hasattr(exception, name):
                setattr(exception, name, value)
    return exception


def _signal(number: int) -> int:
    try:
        return signals.Signals(number)
    except ValueError:  # A real-time signal has no name.
        return number


def _restore(kind: type[WorkerFailure], message: str, attributes: dict[str, Any]) -> WorkerFailure:
    """A pickled failure."""
    failure = kind.__new__(kind, message)
    failure.__dict__.update(attributes)
    return failure

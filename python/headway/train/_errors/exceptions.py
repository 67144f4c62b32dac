"""What ``fit()`` raises. The first lines of each message are the user's own failure."""

from __future__ import annotations

import cloudpickle

from headway import _core
from headway.train._errors.preemption import PreemptionInfo
from headway.train._errors.worker_failures import failure_of


class TrainingFailedError(RuntimeError):
    """Training ended without a result.

    Example:
        >>> from headway import train
        >>> def loop():
        ...     raise ValueError("bad batch")
        >>> try:
        ...     train.DataParallelTrainer(loop, run_config=train.RunConfig(verbose=0)).fit()
        ... except train.TrainingFailedError as error:
        ...     print(str(error).splitlines()[0])
        ValueError: bad batch
    """


class WorkerGroupError(TrainingFailedError):
    """Ranks failed, more often than ``FailureConfig.max_failures`` allows.

    Attributes:
        error_message: All of the message.
        worker_failures: By rank, the exception that its training function raised, or a
            :class:`WorkerFailure` that says how it failed.

    Example:
        >>> from headway import train
        >>> def loop():
        ...     raise ValueError("bad batch")
        >>> try:
        ...     train.DataParallelTrainer(loop, run_config=train.RunConfig(verbose=0)).fit()
        ... except train.WorkerGroupError as error:
        ...     print(error.worker_failures)
        {0: ValueError('bad batch')}
    """

    def __init__(self, error_message: str, worker_failures: dict[int, Exception]):
        super().__init__(error_message)
        self.error_message = error_message
        self.worker_failures = worker_failures

    def __reduce__(self) -> tuple[type, tuple[str, dict[int, Exception]]]:
        return type(self), (self.error_message, self.worker_failures)


class NCCLHangError(WorkerGroupError):
    """Ranks were held up in a collective of torch until ``FailureConfig.hang_fail_s`` had passed.

    Whatever the group's backend is, Gloo too. The message names who has not entered which
    collective, with stacks.

    Example:
        >>> from headway import train
        >>> def fit(trainer):
        ...     try:
        ...         return trainer.fit()  # with FailureConfig(hang_fail_s=600)
        ...     except train.NCCLHangError as error:
        ...         print("ranks hung:", str(error).splitlines()[0])
    """


class ControllerError(TrainingFailedError):
    """What Headway does around the ranks failed: its own work, or a callback of ``RunConfig``.

    Attributes:
        controller_failure: What went wrong; what the callback raised.

    Example:
        >>> from headway import train
        >>> def fit(trainer):
        ...     try:
        ...         return trainer.fit()
        ...     except train.ControllerError as error:
        ...         print("not the ranks' fault:", error.controller_failure)
    """

    def __init__(self, controller_failure: Exception, error_message: str | None = None):
        super().__init__(error_message or str(controller_failure))
        self.controller_failure = controller_failure

    def __reduce__(self) -> tuple[type, tuple[Exception, str]]:
        return type(self), (self.controller_failure, str(self))


class PreemptionError(TrainingFailedError):
    """The driver received SIGTERM, or nodes were taken away more often than
    ``FailureConfig.max_preemption_failures`` allows.

    A script that does not catch the driver's own preemption ends with the exit status 143, as
    shells show it for SIGTERM. Starting the script again resumes the run.

    Attributes:
        preemption_info: Which nodes with which ranks, the last time.
        drain_timed_out: Whether workers were still at work at their deadline.
        of_driver: Whether the driver received SIGTERM.

    Example:
        >>> from headway import train
        >>> print(train.PreemptionError(train.PreemptionInfo(None, {"node-2": [1, 3]})))
        preempted: the nodes of the ranks 1, 3 are taken away
    """

    def __init__(
        self,
        preemption_info: PreemptionInfo,
        drain_timed_out: bool = False,
        error_message: str | None = None,
        of_driver: bool = False,
    ):
        ranks = ", ".join(map(str, preemption_info.preempted_ranks))
        super().__init__(error_message or f"preempted: the nodes of the ranks {ranks} are taken away")
        self.preemption_info = preemption_info
        self.drain_timed_out = drain_timed_out
        self.of_driver = of_driver

    def __reduce__(self) -> tuple[type, tuple[PreemptionInfo, bool, str, bool]]:
        return type(self), (self.preemption_info, self.drain_timed_out, str(self), self.of_driver)


def load_exception(pickled: bytes | None) -> Exception | None:
    """A rank's exception; None where its class cannot be imported here: its text is in the failure
    all the same.
    """
    if not pickled:
        return None
    try:
        return cloudpickle.loads(pickled)
    except Exception:
        return None


def to_exception(
    failure: _core.RunFailure, attempts: int, exceptions: dict[int, Exception], path: str
) -> tuple[Exception, Exception | None]:
    """How a run's failure is raised: the exception, and the training function's own one as its
    cause.

    Args:
        failure: The run's.
        attempts: How many the run had.
        exceptions: What ranks had raised, as far as it could be pickled.
        path: The run's folder.
    """
    kind, message = failure.kind, failure.message
    if kind == "invalid_argument":
        return ValueError(message), None
    if kind == "already_exists":
        return FileExistsError(message), None
    if kind in ("unavailable", "refused", "corrupted") and attempts == 0:
        return OSError(message), None
    # A defect, or a callback.
    if kind in ("internal", "superseded") or (kind == "user_code" and not failure.ranks):
        return ControllerError(RuntimeError(message)), None
    if kind == "not_found":
        return ControllerError(FileNotFoundError(message)), None
    if kind == "aborted":
        return RuntimeError(message), None
    if failure.preemption is not None:
        info = PreemptionInfo._of(failure.preemption.info)
        text = f"{message.rstrip()}\nThe run's folder: {path}"
        return PreemptionError(info, failure.preemption.timed_out, text, bool(failure.preemption.of_driver)), None
    failures = {each.rank: failure_of(each, exceptions.get(each.rank)) for each in failure.ranks}
    cause = next((exceptions[rank] for rank in failures if rank in exceptions), None)
    kind_of_error = NCCLHangError if failure.in_collective else WorkerGroupError
    return kind_of_error(f"{message.rstrip()}\nThe run's folder: {path}", failures), cause

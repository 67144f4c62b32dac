"""What ``fit()`` raises. The first lines of each message are the user's own failure."""

from __future__ import annotations


class TrainingFailedError(RuntimeError):
    """Training ended without a result."""


class WorkerGroupError(TrainingFailedError):
    """Ranks failed, more often than ``FailureConfig.max_failures`` allows.

    Attributes:
        error_message: All of the message.
        worker_failures: By rank, the exception that its training function raised, or one that says how its process
            ended.
    """

    def __init__(self, error_message: str, worker_failures: dict[int, Exception]):
        super().__init__(error_message)
        self.error_message = error_message
        self.worker_failures = worker_failures

    def __reduce__(self) -> tuple[type, tuple[str, dict[int, Exception]]]:
        return type(self), (self.error_message, self.worker_failures)


class ControllerError(TrainingFailedError):
    """Headway's own work for the run failed.

    Attributes:
        controller_failure: What went wrong.
    """

    def __init__(self, controller_failure: Exception):
        super().__init__(str(controller_failure))
        self.controller_failure = controller_failure

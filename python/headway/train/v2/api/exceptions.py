"""What fit() raises, where newer code imports it from."""

from headway.train import ControllerError, NCCLHangError, TrainingFailedError, WorkerGroupError

__all__ = ["ControllerError", "NCCLHangError", "TrainingFailedError", "WorkerGroupError"]

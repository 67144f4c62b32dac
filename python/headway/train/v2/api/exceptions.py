"""What fit() raises, where newer code imports it from."""

from headway.train import ControllerError, TrainingFailedError, WorkerGroupError

__all__ = ["ControllerError", "TrainingFailedError", "WorkerGroupError"]

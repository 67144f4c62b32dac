"""What fit() raises, where newer code imports it from."""

from headway.train import ControllerError, NCCLHangError, PreemptionError, TrainingFailedError, WorkerGroupError

__all__ = ["ControllerError", "NCCLHangError", "PreemptionError", "TrainingFailedError", "WorkerGroupError"]

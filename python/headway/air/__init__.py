"""Names of :mod:`headway.train` where older code imports them from."""

from headway.air import session
from headway.train import Checkpoint, CheckpointConfig, FailureConfig, Result, RunConfig, ScalingConfig, SyncConfig

__all__ = [
    "Checkpoint",
    "CheckpointConfig",
    "FailureConfig",
    "Result",
    "RunConfig",
    "ScalingConfig",
    "SyncConfig",
    "session",
]

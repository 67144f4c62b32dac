"""The configuration classes, where older code imports them from."""

from headway.train import CheckpointConfig, FailureConfig, RunConfig, ScalingConfig, SyncConfig

__all__ = ["CheckpointConfig", "FailureConfig", "RunConfig", "ScalingConfig", "SyncConfig"]

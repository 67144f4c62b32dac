"""The configuration classes, where newer code imports them from."""

from headway.train import CheckpointConfig, FailureConfig, LoggingConfig, RunConfig, ScalingConfig, SyncConfig

__all__ = ["CheckpointConfig", "FailureConfig", "LoggingConfig", "RunConfig", "ScalingConfig", "SyncConfig"]

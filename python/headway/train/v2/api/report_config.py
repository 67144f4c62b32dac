"""How report() treats a checkpoint, where newer code imports it from."""

from headway.train import CheckpointConsistencyMode, CheckpointUploadMode, ValidationConfig, ValidationTaskConfig

__all__ = ["CheckpointConsistencyMode", "CheckpointUploadMode", "ValidationConfig", "ValidationTaskConfig"]

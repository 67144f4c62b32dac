"""How report() treats a checkpoint, where newer code imports it from."""

from headway.train import CheckpointUploadMode

__all__ = ["CheckpointUploadMode"]

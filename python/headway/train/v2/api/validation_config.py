"""How checkpoints are validated, where newer code imports it from."""

from headway.train import ValidationConfig, ValidationFn, ValidationTaskConfig

__all__ = ["ValidationConfig", "ValidationFn", "ValidationTaskConfig"]

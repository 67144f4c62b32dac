"""The worker's context, where newer code imports it from."""

from headway.train import TrainContext

__all__ = ["TrainContext"]

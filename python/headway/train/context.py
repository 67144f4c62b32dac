"""The worker's context, where older code imports it from."""

from headway.train._context import TrainContext, get_context

__all__ = ["TrainContext", "get_context"]

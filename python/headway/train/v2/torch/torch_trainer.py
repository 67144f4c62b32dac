"""The trainer for PyTorch, where newer code imports it from."""

from headway.train.torch import TorchTrainer

__all__ = ["TorchTrainer"]

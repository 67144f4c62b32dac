"""The data-parallel trainer, where newer code imports it from."""

from headway.train import DataParallelTrainer

__all__ = ["DataParallelTrainer"]

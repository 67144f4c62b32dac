"""``BaseTrainer``, where older code imports it from."""

from headway.train.base_trainer import BaseTrainer, TrainingFailedError

__all__ = ["BaseTrainer", "TrainingFailedError"]

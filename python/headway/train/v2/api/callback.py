"""Callbacks, where newer code imports them from."""

from headway.train import UserCallback
from headway.train._callbacks import TrainCallback as RayTrainCallback

__all__ = ["RayTrainCallback", "UserCallback"]

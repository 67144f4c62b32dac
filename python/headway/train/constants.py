"""Names that users' code shares with Headway, where older code imports them from."""

from headway.train._datasets import TRAIN_DATASET_KEY

__all__ = ["TRAIN_DATASET_KEY"]

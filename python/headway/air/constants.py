"""Names that users' code shares with Headway, where older code imports them from."""

from headway.train.constants import EVALUATION_DATASET_KEY, MODEL_KEY, PREPROCESSOR_KEY, TRAIN_DATASET_KEY

__all__ = ["EVALUATION_DATASET_KEY", "MODEL_KEY", "PREPROCESSOR_KEY", "TRAIN_DATASET_KEY"]

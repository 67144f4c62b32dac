"""Names that users' code shares with Headway, where older code imports them from."""

from headway.train._datasets import TRAIN_DATASET_KEY

__all__ = ["EVALUATION_DATASET_KEY", "MODEL_KEY", "PREPROCESSOR_KEY", "TRAIN_DATASET_KEY"]

#: What older code calls the data set that it evaluates with.
EVALUATION_DATASET_KEY = "evaluation"
#: Under what older code keeps the model in a checkpoint of a dict.
MODEL_KEY = "model"
#: Under what older code keeps a preprocessor in a checkpoint of a dict.
PREPROCESSOR_KEY = "_preprocessor"

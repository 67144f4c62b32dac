"""TensorFlow: a trainer whose ranks are workers of a ``MultiWorkerMirroredStrategy``, reports of
Keras, and checkpoints of models.

Importing this module does not import tensorflow.
"""

from __future__ import annotations

import importlib
from typing import Any

from headway._places.missing import explanation
from headway._values.named_arguments import offer
from headway.train.tensorflow.config import TensorflowConfig
from headway.train.tensorflow.dataset_shard import prepare_dataset_shard
from headway.train.tensorflow.tensorflow_checkpoint import TensorflowCheckpoint
from headway.train.tensorflow.tensorflow_trainer import TensorflowTrainer

__all__ = ["TensorflowCheckpoint", "TensorflowConfig", "TensorflowTrainer", "prepare_dataset_shard"]

offer(globals(), __all__)


def __getattr__(name: str) -> Any:
    """``headway.train.tensorflow.keras`` without a separate import."""
    if name == "keras":
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(explanation(f"{__name__}.{name}") or f"module {__name__!r} has no attribute {name!r}")

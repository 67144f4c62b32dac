"""Names that Headway does not have yet, and what to do instead: the same words for each form of
import.
"""

from __future__ import annotations

_TUNING = (
    "Headway has no tuning yet; call fit() for each configuration. Of headway.tune there is what RunConfig takes: "
    "Callback, CLIReporter, logger, stopper"
)
_DATA = "Headway has no data engine yet; read the data in the training function, for example with a torch DataLoader"
_OTHER = "Headway has no integration of {0} yet; a Backend for DataParallelTrainer can set {0} up in the ranks"

_REMOVED = "it is not in newer versions of Ray either; use {0}"
_LIGHTNING_TRAINER = _REMOVED.format(
    "lightning.Trainer with DDPStrategy, LightningEnvironment and ReportCallback of headway.train.lightning, in the "
    "training function of a TorchTrainer"
)
_ACCELERATE = _REMOVED.format("Accelerator() in the training function of a TorchTrainer")
_TRANSFORMERS = _REMOVED.format(
    "transformers.Trainer with ReportCallback of headway.train.huggingface.transformers, in the training function of a "
    "TorchTrainer"
)
_DEEPSPEED = "Headway has no integration of Lightning's DeepSpeed strategy yet; FSDPStrategy shards a model too"
_MODEL = "ReportCallback.get_model(checkpoint) gives the model of a checkpoint"
_TENSORFLOW_MODEL = "TensorflowCheckpoint.get_model() gives the model of a checkpoint"

# A name stands for all that is below it.
_WORDS = {
    "headway.data": _DATA,
    "headway.train.horovod": _OTHER.format("Horovod"),
    "headway.train.huggingface.AccelerateTrainer": _ACCELERATE,
    "headway.train.huggingface.HuggingFaceTrainer": _TRANSFORMERS,
    "headway.train.huggingface.TransformersTrainer": _TRANSFORMERS,
    "headway.train.huggingface.accelerate": _ACCELERATE,
    "headway.train.huggingface.transformers.TransformersTrainer": _TRANSFORMERS,
    "headway.train.lightgbm.LightGBMCheckpoint": _MODEL,
    "headway.train.lightgbm.LightGBMPredictor": _MODEL,
    "headway.train.lightning.DeepSpeedStrategy": _DEEPSPEED,
    "headway.train.lightning.LightningConfigBuilder": _LIGHTNING_TRAINER,
    "headway.train.lightning.LightningTrainer": _LIGHTNING_TRAINER,
    "headway.train.lightning.RayDeepSpeedStrategy": _DEEPSPEED,
    "headway.train.tensorflow.TensorflowPredictor": _TENSORFLOW_MODEL,
    "headway.train.xgboost.XGBoostCheckpoint": _MODEL,
    "headway.train.xgboost.XGBoostPredictor": _MODEL,
    "headway.tune": _TUNING,
}


def explanation(name: str) -> str | None:
    """Why there is no such name below ``headway``, and what to do; None for other names.

    Args:
        name: A full name, such as ``"headway.tune.schedulers"``.
    """
    place = name
    while place:
        if place in _WORDS:
            return f"{name}: {_WORDS[place]}"
        place = place.rpartition(".")[0]
    return None

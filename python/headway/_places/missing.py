"""Names that Headway does not have yet, and what to do instead: the same words for each form of
import.
"""

from __future__ import annotations

_TUNING = (
    "Headway has no tuning yet; call fit() for each configuration. Of headway.tune there is what RunConfig takes: "
    "Callback, CLIReporter, logger, stopper"
)
_DATA = "Headway has no data engine yet; read the data in the training function, for example with a torch DataLoader"
_INSIDE = "Headway has no integration of {0} yet; {1} works unchanged in the training function of a TorchTrainer"
_OTHER = "Headway has no integration of {0} yet; a Backend for DataParallelTrainer can set {0} up in the ranks"

# A name stands for all that is below it.
_WORDS = {
    "headway.data": _DATA,
    "headway.train.horovod": _OTHER.format("Horovod"),
    "headway.train.huggingface": _INSIDE.format("Hugging Face", "transformers.Trainer, or Accelerate,"),
    "headway.train.jax": _OTHER.format("JAX"),
    "headway.train.lightgbm": _OTHER.format("LightGBM"),
    "headway.train.lightning": _INSIDE.format("Lightning", "lightning.Trainer"),
    "headway.train.tensorflow": _OTHER.format("TensorFlow"),
    "headway.train.xgboost": _OTHER.format("XGBoost"),
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

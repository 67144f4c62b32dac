"""TensorFlow, and which Keras goes with it."""

from __future__ import annotations

import importlib
import importlib.util
import os
from typing import Any

#: Keras without a version in its name is Keras 3, which cannot train with several workers.
LEGACY_KERAS = "TF_USE_LEGACY_KERAS"


def tensorflow(caller: str) -> Any:
    """The package.

    Args:
        caller: What needs it, for the error.

    Raises:
        ImportError: it is not installed.
    """
    return _imported("tensorflow", f"{caller} needs tensorflow, which is not installed: pip install tensorflow")


def keras(name: str | None = None) -> Any:
    """The Keras that ``tf.keras`` is in this process.

    Args:
        name: ``"tf_keras"`` or ``"keras"``, instead of the one that the environment says.

    Raises:
        ImportError: it is not installed.
    """
    name = name or ("tf_keras" if uses_legacy_keras() else "keras")
    how = "pip install --no-deps tf-keras" if name == "tf_keras" else "pip install tensorflow"
    return _imported(name, f"headway.train.tensorflow needs {name}, which is not installed: {how}")


def has_legacy_keras() -> bool:
    """Whether tf-keras is installed."""
    return importlib.util.find_spec("tf_keras") is not None


def uses_legacy_keras() -> bool:
    """Whether ``tf.keras`` is tf-keras: TensorFlow reads the variable as this does."""
    return os.environ.get(LEGACY_KERAS, "").lower() in ("1", "true")


def _imported(name: str, message: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise ImportError(message) from error

"""The package transformers."""

from __future__ import annotations

import importlib
import importlib.util
from types import ModuleType


def transformers() -> ModuleType:
    """The package.

    Raises:
        ImportError: it is not installed.
    """
    try:
        return importlib.import_module("transformers")
    except ModuleNotFoundError as error:
        raise ImportError(
            "headway.train.huggingface.transformers needs transformers, which is not installed: "
            "pip install transformers accelerate"
        ) from error


def needed_in_workers() -> list[str]:
    """What worker factories import for a training function that names this package: the package
    itself imports its Trainer only when it is used.
    """
    return ["transformers.trainer"] if importlib.util.find_spec("transformers") is not None else []

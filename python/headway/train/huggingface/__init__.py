"""Hugging Face: :mod:`headway.train.huggingface.transformers`. Accelerate needs no integration."""

from __future__ import annotations

import importlib
from typing import Any

from headway._places.missing import explanation


def __getattr__(name: str) -> Any:
    """``headway.train.huggingface.transformers`` without a separate import."""
    if name == "transformers":
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(explanation(f"{__name__}.{name}") or f"module {__name__!r} has no attribute {name!r}")

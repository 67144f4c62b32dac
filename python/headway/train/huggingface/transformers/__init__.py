"""Transformers: a callback and a check for a ``Trainer`` in a training function.

Importing this module does not import transformers.
"""

from __future__ import annotations

from typing import Any

from headway._places.missing import explanation
from headway._values.named_arguments import offer
from headway.train.huggingface.transformers._package import needed_in_workers as needed_in_workers
from headway.train.huggingface.transformers.report_callback import ReportCallback
from headway.train.huggingface.transformers.trainer import prepare_trainer

__all__ = ["RayTrainReportCallback", "ReportCallback", "prepare_trainer"]

offer(globals(), ["ReportCallback", "prepare_trainer"])

RayTrainReportCallback = ReportCallback


def __getattr__(name: str) -> Any:
    raise AttributeError(explanation(f"{__name__}.{name}") or f"module {__name__!r} has no attribute {name!r}")

"""LightGBM: a trainer whose ranks build one model together, and a callback that reports it.

Importing this module does not import lightgbm.
"""

from __future__ import annotations

from typing import Any

from headway._places.missing import explanation
from headway._values.named_arguments import offer
from headway.train.lightgbm.config import LightGBMConfig, get_network_params
from headway.train.lightgbm.dataset import to_dataset
from headway.train.lightgbm.lightgbm_trainer import LightGBMTrainer
from headway.train.lightgbm.report_callback import ReportCallback

__all__ = [
    "LightGBMConfig",
    "LightGBMTrainer",
    "RayTrainReportCallback",
    "ReportCallback",
    "get_network_params",
    "to_dataset",
]

offer(globals(), ["LightGBMConfig", "LightGBMTrainer", "ReportCallback", "get_network_params", "to_dataset"])

RayTrainReportCallback = ReportCallback


def __getattr__(name: str) -> Any:
    raise AttributeError(explanation(f"{__name__}.{name}") or f"module {__name__!r} has no attribute {name!r}")

"""XGBoost: a trainer whose ranks build one model together, and a callback that reports it.

Importing this module does not import xgboost.
"""

from __future__ import annotations

from typing import Any

from headway._places.missing import explanation
from headway._values.named_arguments import offer
from headway.train.xgboost.config import XGBoostConfig
from headway.train.xgboost.matrix import to_dmatrix
from headway.train.xgboost.report_callback import ReportCallback
from headway.train.xgboost.xgboost_trainer import XGBoostTrainer

__all__ = ["RayTrainReportCallback", "ReportCallback", "XGBoostConfig", "XGBoostTrainer", "to_dmatrix"]

offer(globals(), ["ReportCallback", "XGBoostConfig", "XGBoostTrainer", "to_dmatrix"])

RayTrainReportCallback = ReportCallback


def __getattr__(name: str) -> Any:
    raise AttributeError(explanation(f"{__name__}.{name}") or f"module {__name__!r} has no attribute {name!r}")

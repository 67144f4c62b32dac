"""Lightning: strategies, an environment and a callback for a ``Trainer`` in a training function.

The classes belong to ``lightning`` or to ``pytorch_lightning``, whichever the process uses.
Importing this module imports neither.
"""

from __future__ import annotations

from typing import Any

from headway._places.missing import explanation
from headway._values.named_arguments import offer
from headway.train.lightning._package import needed_in_workers as needed_in_workers
from headway.train.lightning.environment import LightningEnvironment
from headway.train.lightning.report_callback import ReportCallback
from headway.train.lightning.strategies import DDPStrategy, DeepSpeedStrategy, FSDPStrategy
from headway.train.lightning.trainer import prepare_trainer

__all__ = [
    "DDPStrategy",
    "DeepSpeedStrategy",
    "FSDPStrategy",
    "LightningEnvironment",
    "RayDDPStrategy",
    "RayDeepSpeedStrategy",
    "RayFSDPStrategy",
    "RayLightningEnvironment",
    "RayTrainReportCallback",
    "ReportCallback",
    "prepare_trainer",
]

offer(globals(), [name for name in __all__ if not name.startswith("Ray")])

RayDDPStrategy = DDPStrategy
RayDeepSpeedStrategy = DeepSpeedStrategy
RayFSDPStrategy = FSDPStrategy
RayLightningEnvironment = LightningEnvironment
RayTrainReportCallback = ReportCallback


def __getattr__(name: str) -> Any:
    raise AttributeError(explanation(f"{__name__}.{name}") or f"module {__name__!r} has no attribute {name!r}")

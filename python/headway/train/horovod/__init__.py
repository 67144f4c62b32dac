"""Horovod: a trainer whose ranks call ``hvd.init()`` and are one group.

Importing this module does not import horovod.
"""

from __future__ import annotations

from typing import Any

from headway._places.missing import explanation
from headway._values.named_arguments import offer
from headway.train.horovod.config import HorovodConfig
from headway.train.horovod.horovod_trainer import HorovodTrainer

__all__ = ["HorovodConfig", "HorovodTrainer"]

offer(globals(), __all__)


def __getattr__(name: str) -> Any:
    raise AttributeError(explanation(f"{__name__}.{name}") or f"module {__name__!r} has no attribute {name!r}")

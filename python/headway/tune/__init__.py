"""Search spaces and searchers, and what training shares with tuning: callbacks, loggers, stop
conditions and progress reporters of ``RunConfig``.

What runs trials (``Tuner``, schedulers) is not there yet.
"""

from __future__ import annotations

import importlib
from typing import Any

from headway._callbacks.callback import Callback
from headway._callbacks.logger import CSVLoggerCallback, JsonLoggerCallback, LoggerCallback, TBXLoggerCallback
from headway._callbacks.progress_reporter import CLIReporter, JupyterNotebookReporter, ProgressReporter
from headway._callbacks.stopper import (
    CombinedStopper,
    ExperimentPlateauStopper,
    FunctionStopper,
    MaximumIterationStopper,
    NoopStopper,
    Stopper,
    TimeoutStopper,
    TrialPlateauStopper,
)
from headway._callbacks.trial import Trial
from headway._places.missing import explanation
from headway._places.table import PLACES
from headway._values.named_arguments import offer
from headway.tune._space.functions import (
    choice,
    grid_search,
    lograndint,
    loguniform,
    qlograndint,
    qloguniform,
    qrandint,
    qrandn,
    quniform,
    randint,
    randn,
    sample_from,
    uniform,
)

__all__ = [
    "CLIReporter",
    "CSVLoggerCallback",
    "Callback",
    "CombinedStopper",
    "ExperimentPlateauStopper",
    "FunctionStopper",
    "JsonLoggerCallback",
    "JupyterNotebookReporter",
    "LoggerCallback",
    "MaximumIterationStopper",
    "NoopStopper",
    "ProgressReporter",
    "Stopper",
    "TBXLoggerCallback",
    "TimeoutStopper",
    "Trial",
    "TrialPlateauStopper",
    "choice",
    "grid_search",
    "lograndint",
    "loguniform",
    "qlograndint",
    "qloguniform",
    "qrandint",
    "qrandn",
    "quniform",
    "randint",
    "randn",
    "sample_from",
    "uniform",
]

#: What is imported when it is used.
_MODULES = ("search",)

offer(globals(), __all__)


def __getattr__(name: str) -> Any:
    """``headway.tune.stopper`` and the like, without a separate import."""
    if name in _MODULES or f"{__name__}.{name}" in PLACES:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(explanation(f"{__name__}.{name}") or f"module {__name__!r} has no attribute {name!r}")

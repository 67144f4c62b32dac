"""Tuning: ``Tuner`` runs many trials of one function, class or trainer over a search space.

What training shares with it is here too: callbacks, loggers, stop conditions and progress reporters
of ``RunConfig``.
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
from headway.tune._experiment.context import TuneContext, get_checkpoint, get_context, report
from headway.tune._experiment.parameters import with_parameters
from headway.tune._experiment.resources import PlacementGroupFactory, with_resources
from headway.tune._experiment.result_grid import ResultGrid, TuneError
from headway.tune._experiment.trainable import Trainable
from headway.tune._experiment.tune_config import TuneConfig
from headway.tune._experiment.tuner import Tuner
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
    "PlacementGroupFactory",
    "ProgressReporter",
    "ResultGrid",
    "Stopper",
    "TBXLoggerCallback",
    "TimeoutStopper",
    "Trainable",
    "Trial",
    "TrialPlateauStopper",
    "TuneConfig",
    "TuneContext",
    "TuneError",
    "Tuner",
    "choice",
    "get_checkpoint",
    "get_context",
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
    "report",
    "sample_from",
    "uniform",
    "with_parameters",
    "with_resources",
]

#: What is imported when it is used.
_MODULES = ("schedulers", "search")

offer(globals(), __all__)


def __getattr__(name: str) -> Any:
    """``headway.tune.stopper`` and the like, without a separate import."""
    if name in _MODULES or f"{__name__}.{name}" in PLACES:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(explanation(f"{__name__}.{name}") or f"module {__name__!r} has no attribute {name!r}")

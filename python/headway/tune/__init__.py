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
from headway.train import Checkpoint, CheckpointConfig, FailureConfig, Result, RunConfig, SyncConfig
from headway.tune._experiment.analysis import ExperimentAnalysis
from headway.tune._experiment.context import TuneContext, get_checkpoint, get_context, report
from headway.tune._experiment.experiment import Experiment
from headway.tune._experiment.parameters import with_parameters
from headway.tune._experiment.registry import register_env, register_trainable
from headway.tune._experiment.resources import PlacementGroupFactory, with_resources
from headway.tune._experiment.result_grid import ResultGrid
from headway.tune._experiment.resume import ResumeConfig
from headway.tune._experiment.run import run, run_experiments
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
from headway.tune.schedulers import create_scheduler
from headway.tune.search import create_searcher
from headway.tune.search.errors import TuneError

__all__ = [
    "CLIReporter",
    "CSVLoggerCallback",
    "Callback",
    "Checkpoint",
    "CheckpointConfig",
    "CombinedStopper",
    "Experiment",
    "ExperimentAnalysis",
    "ExperimentPlateauStopper",
    "FailureConfig",
    "FunctionStopper",
    "JsonLoggerCallback",
    "JupyterNotebookReporter",
    "LoggerCallback",
    "MaximumIterationStopper",
    "NoopStopper",
    "PlacementGroupFactory",
    "ProgressReporter",
    "Result",
    "ResultGrid",
    "ResumeConfig",
    "RunConfig",
    "Stopper",
    "SyncConfig",
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
    "create_scheduler",
    "create_searcher",
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
    "register_env",
    "register_trainable",
    "report",
    "run",
    "run_experiments",
    "sample_from",
    "uniform",
    "with_parameters",
    "with_resources",
]

#: What is imported when it is used.
_MODULES = ("integration", "schedulers", "search")

#: Of ``headway.train``, which stay its own.
_OF_TRAINING = ("Checkpoint", "CheckpointConfig", "FailureConfig", "Result", "RunConfig", "SyncConfig")

offer(globals(), [name for name in __all__ if name not in _OF_TRAINING])

# Where the domains of search spaces are offered. A class whose module is not imported is pickled by
# value, and is another class where a tuner is restored.
importlib.import_module(f"{__name__}.search.sample")


def __getattr__(name: str) -> Any:
    """``headway.tune.stopper`` and the like, without a separate import."""
    if name in _MODULES or f"{__name__}.{name}" in PLACES:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(explanation(f"{__name__}.{name}") or f"module {__name__!r} has no attribute {name!r}")

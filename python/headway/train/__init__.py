"""Training: configuration, reports and checkpoints, results, and the data-parallel trainer.

In a training function: :func:`report`, :func:`get_checkpoint`, :func:`get_context`. Around it: a
trainer such as :class:`headway.train.torch.TorchTrainer`, and the configuration classes below.
"""

import importlib
from typing import Any

from headway._checkpoint.checkpoint import Checkpoint
from headway._places.missing import explanation
from headway._runtime import early_factory
from headway._session import SessionMisuseError
from headway._values.named_arguments import offer
from headway.train._config.config import CheckpointConfig, FailureConfig, RunConfig, ScalingConfig
from headway.train._config.run_options import LoggingConfig
from headway.train._config.sync_config import SyncConfig
from headway.train._errors.exceptions import (
    ControllerError,
    NCCLHangError,
    PreemptionError,
    TrainingFailedError,
    WorkerGroupError,
)
from headway.train._errors.preemption import PreemptionInfo
from headway.train._errors.worker_failures import (
    NodeLost,
    NodePreempted,
    UnmatchedCall,
    WorkerDied,
    WorkerFailure,
    WorkerHung,
    WorkerNotStarted,
    WorkerRaised,
)
from headway.train._run.handle import RunHandle
from headway.train._run.result import Result
from headway.train._run.user_callback import UserCallback
from headway.train._training_function.context import TrainContext, get_checkpoint, get_context
from headway.train._training_function.data_config import DataConfig
from headway.train._training_function.datasets import TRAIN_DATASET_KEY, get_dataset_shard
from headway.train._training_function.preemption import get_preemption_info
from headway.train._training_function.report import CheckpointUploadMode, report
from headway.train._training_function.reported_checkpoints import (
    CheckpointConsistencyMode,
    ReportedCheckpoint,
    ReportedCheckpointStatus,
    get_all_reported_checkpoints,
)
from headway.train._validation.config import ValidationConfig, ValidationFn, ValidationTaskConfig
from headway.train.backend import Backend, BackendConfig
from headway.train.data_parallel_trainer import DataParallelTrainer

__all__ = [
    "TRAIN_DATASET_KEY",
    "Backend",
    "BackendConfig",
    "Checkpoint",
    "CheckpointConfig",
    "CheckpointConsistencyMode",
    "CheckpointUploadMode",
    "ControllerError",
    "DataConfig",
    "DataParallelTrainer",
    "FailureConfig",
    "LoggingConfig",
    "NCCLHangError",
    "NodeLost",
    "NodePreempted",
    "PreemptionError",
    "PreemptionInfo",
    "ReportedCheckpoint",
    "ReportedCheckpointStatus",
    "Result",
    "RunConfig",
    "RunHandle",
    "ScalingConfig",
    "SessionMisuseError",
    "SyncConfig",
    "TrainContext",
    "TrainingFailedError",
    "UnmatchedCall",
    "UserCallback",
    "ValidationConfig",
    "ValidationFn",
    "ValidationTaskConfig",
    "WorkerDied",
    "WorkerFailure",
    "WorkerGroupError",
    "WorkerHung",
    "WorkerNotStarted",
    "WorkerRaised",
    "get_all_reported_checkpoints",
    "get_checkpoint",
    "get_context",
    "get_dataset_shard",
    "get_preemption_info",
    "report",
]

_PACKAGES = ("collective", "horovod", "huggingface", "jax", "lightgbm", "lightning", "tensorflow", "torch", "xgboost")

offer(globals(), __all__)
early_factory.watch_imports()


def __getattr__(name: str) -> Any:
    """``headway.train.torch`` and the other packages without a separate import: they are imported
    when first used.
    """
    if name in _PACKAGES:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(explanation(f"{__name__}.{name}") or f"module {__name__!r} has no attribute {name!r}")

"""Training: configuration, reports and checkpoints, results, and the data-parallel trainer.

In a training function: :func:`report`, :func:`get_checkpoint`, :func:`get_context`. Around it: a trainer such as
:class:`headway.train.torch.TorchTrainer`, and the configuration classes below.
"""

from headway.train._callbacks import UserCallback
from headway.train._checkpoint import Checkpoint
from headway.train._config import CheckpointConfig, FailureConfig, RunConfig, ScalingConfig, SyncConfig
from headway.train._context import TrainContext, get_checkpoint, get_context
from headway.train._datasets import TRAIN_DATASET_KEY, DataConfig, get_dataset_shard
from headway.train._errors import ControllerError, TrainingFailedError, WorkerGroupError
from headway.train._report import CheckpointUploadMode, report
from headway.train._result import Result
from headway.train._run_options import LoggingConfig
from headway.train.backend import Backend, BackendConfig
from headway.train.data_parallel_trainer import DataParallelTrainer

__all__ = [
    "TRAIN_DATASET_KEY",
    "Backend",
    "BackendConfig",
    "Checkpoint",
    "CheckpointConfig",
    "CheckpointUploadMode",
    "ControllerError",
    "DataConfig",
    "DataParallelTrainer",
    "FailureConfig",
    "LoggingConfig",
    "Result",
    "RunConfig",
    "ScalingConfig",
    "SyncConfig",
    "TrainContext",
    "TrainingFailedError",
    "UserCallback",
    "WorkerGroupError",
    "get_checkpoint",
    "get_context",
    "get_dataset_shard",
    "report",
]

# Users meet these under the name that they import, in tracebacks and in documentation.
for _name in set(__all__) - {"TRAIN_DATASET_KEY"}:
    globals()[_name].__module__ = __name__

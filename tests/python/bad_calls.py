"""Rows for test_every_argument.py: bad arguments of functions and methods, in the driver and in a
training function.
"""

import tempfile
import types

import headway
from headway import train, tune
from headway.air.integrations.comet import CometLoggerCallback
from headway.air.integrations.mlflow import MLflowLoggerCallback, setup_mlflow
from headway.air.integrations.wandb import WandbLoggerCallback, setup_wandb
from headway.train import Checkpoint, CheckpointConfig, DataParallelTrainer, Result, RunConfig, RunHandle, SyncConfig
from headway.train import lightning as lightning_names
from headway.train import tensorflow as tensorflow_names
from headway.train.horovod import HorovodConfig, HorovodTrainer
from headway.train.jax import JaxConfig, JaxTrainer
from headway.train.lightgbm import LightGBMTrainer
from headway.train.tensorflow import keras as tensorflow_keras
from headway.train.torch import (
    TorchCheckpoint,
    TorchTrainer,
    accelerate,
    backward,
    enable_reproducibility,
    load_checkpoint,
    prepare_data_loader,
    prepare_model,
    prepare_optimizer,
    save_checkpoint,
    unwrap_model,
)
from headway.train.xgboost import XGBoostConfig, XGBoostTrainer
from headway.tune.logger.aim import AimLoggerCallback

NAN, INF = float("nan"), float("inf")
UNPICKLABLE = (letter for letter in "")
METADATA = "a dict from names to numbers, strings"
BOOL = "True or False"
FILESYSTEM = "a pyarrow.fs.FileSystem"
ABOVE_0 = "seconds, above 0"
LEASE = "seconds from 1 to 3600"


def checkpoint():
    return Checkpoint(tempfile.gettempdir())


def result():
    return Result({"a": 1}, None, None, tempfile.gettempdir(), [(checkpoint(), {"a": 1})])


def of(made, method):
    """A method of what is made when it is called, under the method's own name."""

    def call(**arguments):
        return getattr(made(), method)(**arguments)

    kind = {checkpoint: Checkpoint, result: Result, torch_checkpoint: TorchCheckpoint, handle: RunHandle}[made]
    call.__qualname__ = f"{kind.__name__}.{method}"
    return call


def torch_checkpoint():
    return TorchCheckpoint(tempfile.gettempdir())


def handle():
    return RunHandle(types.SimpleNamespace(listeners=[]))


def of_trackers():
    key_and_file = {"api_key": "a", "api_key_file": "b"}
    return [
        *((WandbLoggerCallback, {name: 3}, TypeError, name, "3 (int)", "None or") for name in WANDB_TEXTS),
        (WandbLoggerCallback, {"excludes": "loss"}, TypeError, "excludes", "'loss' (str)", "a list of names"),
        *((WandbLoggerCallback, {name: 1}, TypeError, name, "1 (int)", BOOL) for name in WANDB_FLAGS),
        (WandbLoggerCallback, {"upload_timeout": "1"}, TypeError, "upload_timeout", "'1' (str)", ABOVE_0),
        (WandbLoggerCallback, {"upload_timeout": 0}, ValueError, "upload_timeout", "0", ABOVE_0),
        (WandbLoggerCallback, {"video_kwargs": 3}, TypeError, "video_kwargs", "3 (int)", "a dict"),
        (WandbLoggerCallback, {"image_kwargs": 3}, TypeError, "image_kwargs", "3 (int)", "a dict"),
        (setup_wandb, {"config": 3}, TypeError, "config", "3 (int)", "None or a dict"),
        (setup_wandb, {"api_key": 3}, TypeError, "api_key", "3 (int)", "an API key"),
        (setup_wandb, {"api_key_file": 3}, TypeError, "api_key_file", "3 (int)", "the path of a file"),
        (setup_wandb, key_and_file, ValueError, "api_key_file", "both", "one of them"),
        *((MLflowLoggerCallback, {name: 3}, TypeError, name, "3 (int)", "None or") for name in MLFLOW_TEXTS[:4]),
        *((MLflowLoggerCallback, {name: 1}, TypeError, name, "1 (int)", BOOL) for name in MLFLOW_FLAGS),
        (setup_mlflow, {"config": 3}, TypeError, "config", "3 (int)", "None or a dict"),
        *((setup_mlflow, {name: 3}, TypeError, name, "3 (int)", "None or text") for name in MLFLOW_TEXTS),
        (setup_mlflow, {"create_experiment_if_not_exists": 1}, TypeError, "create_experiment_if_not_exists", "1", BOOL),
        *((call, {"tags": {"a": 3}}, TypeError, "tags", "3 (int)", "text") for call in MLFLOW),
        (AimLoggerCallback, {"repo": 3}, TypeError, "repo", "3 (int)", "a directory"),
        (AimLoggerCallback, {"experiment_name": 3}, TypeError, "experiment_name", "3 (int)", "the name"),
        (AimLoggerCallback, {"metrics": "loss"}, TypeError, "metrics", "'loss' (str)", "a list of names"),
        (CometLoggerCallback, {"online": 1}, TypeError, "online", "1 (int)", BOOL),
        (CometLoggerCallback, {"tags": "a"}, TypeError, "tags", "'a' (str)", "a list of text"),
        (CometLoggerCallback, {"save_checkpoints": 1}, TypeError, "save_checkpoints", "1 (int)", BOOL),
        *((call, {"rank_zero_only": 1}, TypeError, "rank_zero_only", "1 (int)", BOOL) for call in SET_UPS),
    ]


WANDB_TEXTS = ("project", "group", "api_key_file", "api_key")
MLFLOW = (MLflowLoggerCallback, setup_mlflow)
MLFLOW_TEXTS = (
    *("tracking_uri", "registry_uri", "experiment_name", "tracking_token"),
    *("experiment_id", "artifact_location", "run_name"),
)
MLFLOW_FLAGS = ("save_artifact", "log_params_on_trial_end")
SET_UPS = (setup_wandb, setup_mlflow)
WANDB_FLAGS = ("log_config", "upload_checkpoints", "save_checkpoints")


# (what is called, with what, exception, argument, as it is given, a part of what is allowed)
def of_two_names(trainer, name, kind):
    """Rows of a trainer's settings, which may be given as ``tensorflow_backend`` too."""
    alias, allowed = "tensorflow_backend", f"a {kind.__name__} or None"
    calls = ((trainer, {"train_loop_per_worker": print}), (trainer.restore, {"path": "/"}))
    return [
        row
        for call, others in calls
        for row in (
            (call, {**others, name: 3}, TypeError, name, "3 (int)", allowed),
            (call, {**others, alias: 3}, TypeError, alias, "3 (int)", allowed),
            (call, {**others, name: kind(), alias: kind()}, ValueError, alias, f"beside {name}", "one of them"),
        )
    ]


ROWS = [
    *of_trackers(),
    (Checkpoint, {"path": "http://x/y"}, ValueError, "path", "'http://x/y'", "file://, s3://"),
    (Checkpoint, {"path": "S3://b/y"}, ValueError, "path", "'S3://b/y'", "file://, s3://"),
    (Checkpoint, {"path": "s3://"}, ValueError, "path", "'s3://'", "s3://bucket/path"),
    (Checkpoint, {"path": "gs:///x"}, ValueError, "path", "'gs:///x'", "gs://bucket/path"),
    (Checkpoint, {"path": "a\0b"}, ValueError, "path", "'a\\x00b'", "without null characters"),
    (Checkpoint, {"path": "x", "filesystem": 3}, TypeError, "filesystem", "3 (int)", FILESYSTEM),
    (TorchCheckpoint, {"path": 3}, TypeError, "path", "3 (int)", "a path or a URL"),
    (TorchCheckpoint, {"path": "x", "filesystem": 3}, TypeError, "filesystem", "3 (int)", FILESYSTEM),
    (Checkpoint.from_dict, {"data": [1]}, TypeError, "data", "[1] (list)", "a dict"),
    (of(checkpoint, "set_metadata"), {"metadata": 3}, TypeError, "metadata", "3 (int)", METADATA),
    (of(checkpoint, "set_metadata"), {"metadata": {"a": {1}}}, ValueError, "metadata['a']", "a set", "numbers"),
    (of(checkpoint, "update_metadata"), {"metadata": {1: 2}}, ValueError, "metadata", "1 (int)", "str"),
    (of(checkpoint, "to_directory"), {"path": 3}, TypeError, "path", "3 (int)", "a path"),
    (of(checkpoint, "to_directory"), {"path": b"x"}, TypeError, "path", "b'x' (bytes)", "a path"),
    (of(checkpoint, "to_directory"), {"path": ""}, ValueError, "path", "''", "a path"),
    (of(checkpoint, "to_directory"), {"path": "s3://b/x"}, ValueError, "path", "'s3://b/x'", "a local directory"),
    (of(checkpoint, "to_directory"), {"path": "a\0b"}, ValueError, "path", "'a\\x00b'", "without null characters"),
    (Result.from_path, {"path": 3}, TypeError, "path", "3 (int)", "a path or a URL"),
    (Result.from_path, {"path": "x", "storage_filesystem": 3}, TypeError, "storage_filesystem", "3 (int)", FILESYSTEM),
    (of(handle, "wait"), {"timeout": "1"}, TypeError, "timeout", "'1' (str)", "seconds from 0, or None"),
    (of(handle, "wait"), {"timeout": -1}, ValueError, "timeout", "-1", "seconds from 0, or None"),
    (of(handle, "wait"), {"timeout": NAN}, ValueError, "timeout", "nan", "seconds from 0, or None"),
    (of(handle, "stop"), {"reason": 3}, TypeError, "reason", "3 (int)", "text"),
    (of(result, "get_best_checkpoint"), {"metric": 3, "mode": "max"}, TypeError, "metric", "3 (int)", "the key of"),
    (of(result, "get_best_checkpoint"), {"metric": "a", "mode": "MAX"}, ValueError, "mode", "'MAX'", '"max" or "min"'),
    (of(result, "get_best_checkpoint"), {"metric": "b", "mode": "max"}, RuntimeError, "metric", "'b'", "['a']"),
    (CheckpointConfig, {"on_upload_failure": 3}, TypeError, "on_upload_failure", "3 (int)", '"raise" or "warn"'),
    (CheckpointConfig, {"on_upload_failure": "x"}, ValueError, "on_upload_failure", '"x"', '"raise" or "warn"'),
    (RunConfig, {"sync_config": {}}, TypeError, "RunConfig.sync_config", "{} (dict)", "a SyncConfig or None"),
    (RunConfig, {"verbose": 4}, ValueError, "RunConfig.verbose", "4", "0 (warnings)"),
    (RunConfig, {"verbose": "1"}, TypeError, "RunConfig.verbose", "'1' (str)", "0 (warnings)"),
    (RunConfig, {"log_to_file": "a/b"}, ValueError, "RunConfig.log_to_file", "'a/b'", "a file's name"),
    (RunConfig, {"log_to_file": 3}, TypeError, "RunConfig.log_to_file", "3 (int)", "a file's name"),
    (RunConfig, {"local_dir": "x"}, ValueError, "RunConfig.local_dir", "'x'", "storage_path says"),
    (RunConfig, {"storage_path": "ftp://x"}, ValueError, "RunConfig.storage_path", "'ftp://x'", "file://, s3://"),
    (RunConfig, {"storage_path": "a\0b"}, ValueError, "RunConfig.storage_path", "'a\\x00b'", "without null"),
    (SyncConfig, {"sync_period": 0}, ValueError, "SyncConfig.sync_period", "0", ABOVE_0),
    (SyncConfig, {"sync_period": NAN}, ValueError, "SyncConfig.sync_period", "nan", ABOVE_0),
    (SyncConfig, {"sync_timeout": "1"}, TypeError, "SyncConfig.sync_timeout", "'1' (str)", ABOVE_0),
    (SyncConfig, {"sync_artifacts": 1}, TypeError, "SyncConfig.sync_artifacts", "1 (int)", BOOL),
    (SyncConfig, {"sync_artifacts_on_checkpoint": None}, TypeError, "sync_artifacts_on_checkpoint", "None", BOOL),
    (headway.init, {"listen": 4000}, TypeError, "listen", "4000 (int)", "host:port"),
    (headway.init, {"token_file": "x"}, ValueError, "token_file", "without listen", "both"),
    (headway.init, {"token_file": "", "listen": "127.0.0.1:0"}, ValueError, "token_file", "''", "a path"),
    (headway.init, {"node_lease_s": 0}, ValueError, "node_lease_s", "0", LEASE),
    (headway.init, {"node_lease_s": NAN}, ValueError, "node_lease_s", "nan", LEASE),
    (headway.init, {"node_lease_s": None}, TypeError, "node_lease_s", "None", LEASE),
    (DataParallelTrainer, {"train_loop_per_worker": print, "metadata": {"a": {1}}}, ValueError, "metadata", "set", ""),
    (TorchTrainer, {"train_loop_per_worker": print, "metadata": 3}, TypeError, "metadata", "3 (int)", METADATA),
    (TorchTrainer.restore, {"path": "/nowhere", "torch_config": {}}, TypeError, "torch_config", "{}", "a TorchConfig"),
    (TorchCheckpoint.from_state_dict, {"state_dict": [1]}, TypeError, "state_dict", "[1] (list)", "model.state_dict()"),
    (
        TorchCheckpoint.from_state_dict,
        {"state_dict": {}, "preprocessor": UNPICKLABLE},
        TypeError,
        "preprocessor",
        "generator",
        "can be pickled",
    ),
    (TorchCheckpoint.from_model, {"model": {}}, TypeError, "model", "{} (dict)", "a torch.nn.Module"),
    (
        of(torch_checkpoint, "set_preprocessor"),
        {"preprocessor": UNPICKLABLE},
        TypeError,
        "preprocessor",
        "generator",
        "can be pickled",
    ),
    (of(torch_checkpoint, "get_model"), {"model": 3}, TypeError, "model", "3 (int)", "a torch.nn.Module or None"),
    (enable_reproducibility, {"seed": -1}, ValueError, "seed", "-1", "an integer from 0"),
    (
        XGBoostTrainer,
        {"train_loop_per_worker": print, "xgboost_config": {}},
        TypeError,
        "xgboost_config",
        "{}",
        "an XGB",
    ),
    (XGBoostTrainer.restore, {"path": "/", "xgboost_config": 3}, TypeError, "xgboost_config", "3 (int)", "an XGBoost"),
    (LightGBMTrainer.restore, {"path": "/", "lightgbm_config": 3}, TypeError, "lightgbm_config", "3 (int)", "a Light"),
    (XGBoostConfig, {"xgboost_communicator": "mpi"}, ValueError, "xgboost_communicator", "'mpi'", '"rabit"'),
    (JaxConfig, {"use_tpu": True}, ValueError, "JaxConfig.use_tpu", "True", "False. Headway trains on CPUs"),
    (JaxConfig, {"use_gpu": 1}, TypeError, "JaxConfig.use_gpu", "1 (int)", BOOL),
    (JaxTrainer, {"train_loop_per_worker": print, "jax_config": {}}, TypeError, "jax_config", "{}", "a JaxConfig"),
    (HorovodConfig, {"nics": "eth0"}, TypeError, "HorovodConfig.nics", "'eth0'", 'such as {"eth0"}'),
    (HorovodConfig, {"nics": []}, ValueError, "HorovodConfig.nics", "empty", 'such as {"eth0"}'),
    (HorovodConfig, {"timeout_s": 0}, ValueError, "HorovodConfig.timeout_s", "0", "seconds, 1 or more"),
    (HorovodConfig, {"timeout_s": "1"}, TypeError, "HorovodConfig.timeout_s", "'1' (str)", "seconds, 1 or more"),
    *of_two_names(HorovodTrainer, "horovod_config", HorovodConfig),
    (JaxTrainer.restore, {"path": "/", "jax_config": 3}, TypeError, "jax_config", "3 (int)", "a JaxConfig or None"),
    (tune.CLIReporter, {"parameter_columns": "lr"}, TypeError, "parameter_columns", "'lr'", "a list of names"),
]


def in_a_training_function():
    """Rows for what works there alone; made there, since they have torch's objects."""
    shard = (train.get_dataset_shard, {"dataset_name": 3}, TypeError, "dataset_name", "3 (int)", "None or a name")
    return [*of_reports(), *of_torch(), shard]


def of_reports():
    import torch
    from headway.train import collective

    report = train.report
    some = {"metrics": {}, "checkpoint": checkpoint()}
    mode = "checkpoint_upload_mode"
    delete = "delete_local_checkpoint_after_upload"
    ask = train.get_all_reported_checkpoints
    return [
        (report, {"metrics": 3}, TypeError, "metrics", "3 (int)", METADATA),
        (report, {"metrics": {1: 2}}, ValueError, "metrics", "1 (int)", "str"),
        (report, {"metrics": {"a": torch.ones(2)}}, ValueError, "metrics['a']", "torch.Tensor", ".item()"),
        (
            report,
            {"metrics": {}, "checkpoint": "x"},
            TypeError,
            "checkpoint",
            "'x' (str)",
            "a headway.train.Checkpoint",
        ),
        (report, {**some, "checkpoint_dir_name": 3}, TypeError, "checkpoint_dir_name", "3 (int)", "a folder name"),
        (report, {**some, "checkpoint_dir_name": "a/b"}, ValueError, "checkpoint_dir_name", '"a/b"', "without '/'"),
        (report, {**some, "checkpoint_dir_name": "\ud800"}, ValueError, "checkpoint_dir_name", "ud800", "UTF-8"),
        (report, {**some, mode: "SYNC"}, TypeError, mode, "'SYNC' (str)", "a member of CheckpointUploadMode"),
        (report, {**some, delete: 1}, TypeError, delete, "1 (int)", BOOL),
        (report, {**some, "checkpoint_upload_fn": 1}, TypeError, "checkpoint_upload_fn", "1 (int)", "a function"),
        (report, {**some, "reduce": 3}, TypeError, "reduce", "3 (int)", '"mean", "sum"'),
        (report, {**some, "reduce": "avg"}, ValueError, "reduce", "'avg'", '"mean", "sum"'),
        (report, {**some, "reduce": {"a": "avg"}}, ValueError, "reduce['a']", "'avg'", '"mean", "sum"'),
        (report, {**some, "validation": "x"}, TypeError, "validation", "'x' (str)", "a ValidationTaskConfig"),
        (report, {"metrics": {}, "validation": True}, ValueError, "validation", "without a checkpoint", "together"),
        (report, {**some, "validate_fn": 1}, TypeError, "validate_fn", "1 (int)", "a function of a checkpoint"),
        (report, {**some, "validate_config": {}}, ValueError, "validate_config", "without validate_fn", "together"),
        (ask, {"consistency_mode": "VALIDATED"}, TypeError, "consistency_mode", "'VALIDATED' (str)", "COMMITTED"),
        (ask, {"timeout_s": -1}, ValueError, "timeout_s", "-1", "seconds from 0"),
        (ask, {"timeout_s": NAN}, ValueError, "timeout_s", "nan", "seconds from 0"),
        (collective.broadcast_from_rank_zero, {"data": UNPICKLABLE}, TypeError, "data", "generator", "can be pickled"),
    ]


def of_torch():
    import torch

    loader, model = torch.utils.data.DataLoader([1]), torch.nn.Linear(1, 1)
    return [
        (accelerate, {"amp": 1}, TypeError, "amp", "1 (int)", BOOL),
        (backward, {"tensor": 3}, TypeError, "tensor", "3 (int)", "a torch.Tensor"),
        (prepare_optimizer, {"optimizer": model}, TypeError, "optimizer", "Linear", "a torch.optim.Optimizer"),
        (prepare_model, {"model": 3}, TypeError, "model", "3 (int)", "a torch.nn.Module"),
        (
            prepare_model,
            {"model": model, "move_to_device": "cpu"},
            TypeError,
            "move_to_device",
            "'cpu'",
            "a torch.device",
        ),
        (prepare_model, {"model": model, "parallel_strategy": []}, ValueError, "parallel_strategy", "[]", '"ddp"'),
        (
            prepare_model,
            {"model": model, "parallel_strategy_kwargs": {1: 2}},
            TypeError,
            "parallel_strategy_kwargs",
            "1 (int)",
            "names of keyword arguments",
        ),
        (prepare_data_loader, {"data_loader": [1]}, TypeError, "data_loader", "[1] (list)", "DataLoader"),
        *(
            (prepare_data_loader, {"data_loader": loader, name: 1}, TypeError, name, "1 (int)", BOOL)
            for name in ("add_dist_sampler", "move_to_device", "auto_transfer", "even")
        ),
        (unwrap_model, {"model": 3}, TypeError, "model", "3 (int)", "a torch.nn.Module"),
        (save_checkpoint, {"folder": 3}, TypeError, "folder", "3 (int)", "the path of a directory"),
        (load_checkpoint, {"checkpoint": 3}, TypeError, "checkpoint", "3 (int)", "a Checkpoint"),
        *(
            (call, {first: tempfile.gettempdir(), name: 1}, TypeError, name, "1 (int)", allowed)
            for call, first in ((save_checkpoint, "folder"), (load_checkpoint, "checkpoint"))
            for name, allowed in (
                ("model", "a torch.nn.Module"),
                ("optimizer", "a torch.optim.Optimizer"),
                ("scheduler", "an object with state_dict"),
            )
        ),
    ]


def of_lightning():
    """Rows for which Lightning must be installed: test_lightning.py."""
    call, every = lightning_names.ReportCallback, "every_n_train_steps"
    prepare = lightning_names.prepare_trainer
    return [
        (prepare, {"trainer": 3}, TypeError, "trainer", "3 (int)", "a Trainer of lightning.pytorch"),
        (call, {every: 0}, ValueError, every, "0", "a number of steps, from 1"),
        (call, {every: "2"}, TypeError, every, "'2' (str)", "a number of steps, from 1"),
        (call, {"checkpoint_upload_mode": "SYNC"}, TypeError, "checkpoint_upload_mode", "'SYNC' (str)", "a member of"),
        (call, {"validation": 1}, TypeError, "validation", "1 (int)", "True, False or a ValidationTaskConfig"),
        (call, {"every_n_steps": 1}, TypeError, "every_n_steps", "unexpected", f"did you mean {every!r}?"),
    ]


def of_tensorflow():
    """Rows for which TensorFlow must be installed: test_tensorflow.py."""
    names, callback = tensorflow_names, tensorflow_keras.ReportCheckpointCallback
    made = names.TensorflowCheckpoint
    return [
        (callback, {"checkpoint_on": "epoch"}, ValueError, "checkpoint_on", "'epoch'", "epoch_begin, epoch_end"),
        (callback, {"checkpoint_on": 3}, TypeError, "checkpoint_on", "3 (int)", "a list of events"),
        (callback, {"report_metrics_on": ["x"]}, ValueError, "report_metrics_on", "'x'", "epoch_begin, epoch_end"),
        (callback, {"metrics": 3}, TypeError, "metrics", "3 (int)", "a dict from names to metrics"),
        (names.prepare_dataset_shard, {"tf_dataset_shard": []}, TypeError, "tf_dataset_shard", "[]", "a tf.data.Data"),
        (made.from_model, {"model": 3}, TypeError, "model", "3 (int)", "a Keras model"),
        (made.from_h5, {"file_path": 3}, TypeError, "file_path", "3 (int)", "a path"),
        (made.from_h5, {"file_path": "/a.keras"}, ValueError, "file_path", "'/a.keras'", "ends in .h5"),
        (made.from_saved_model, {"dir_path": 3}, TypeError, "dir_path", "3 (int)", "a path"),
        (made.from_saved_model, {"dir_path": "/"}, ValueError, "dir_path", "'/'", "with a file saved_model.pb"),
        *of_two_names(names.TensorflowTrainer, "tensorflow_config", names.TensorflowConfig),
    ]

"""Names that Headway does not have yet, and what to do instead: the same words for each form of
import.
"""

from __future__ import annotations

_TUNING = "this of Ray Tune is not part of Headway; docs/tuning.md says what there is"
_OF_TUNING = (
    *("TrialResults", "constants", "execution", "experimental", "impl", "search.search_algorithm"),
    *("search.search_generator", "search.util", "schedulers.pb2_utils", "schedulers.util", "utils.callback"),
    *("utils.file_transfer", "utils.mock", "utils.mock_trainable", "utils.object_cache", "utils.release_test_util"),
    *("utils.resource_updater", "utils.serialization"),
)
_THROUGH_ARROW = "read it with {0} and give the table to headway.data.from_arrow"
_OWN_CLIENT = _THROUGH_ARROW.format("its own client, as a pyarrow.Table or anything that has __arrow_c_stream__,")
_OBJECTS = "Headway has no object store; from_arrow, from_pandas and from_numpy take the data itself"
_DATA = {
    **dict.fromkeys(
        (
            *("audio", "bigquery", "clickhouse", "databricks_tables", "delta_sharing_tables", "hudi"),
            *("kafka", "lerobot", "mcap", "mongo", "snowflake", "unity_catalog", "videos", "zarr"),
        ),
        _OWN_CLIENT,
    )
}
_WRITE = "give each batch of iter_batches(batch_format='pyarrow') to {0}"
_WRITERS = {
    **dict.fromkeys(
        ("bigquery", "clickhouse", "kafka", "mongo", "snowflake", "turbopuffer"), _WRITE.format("its client")
    ),
    "datasink": _WRITE.format("the code that writes"),
}
_REFS = dict.fromkeys(("arrow_refs", "numpy_refs", "pandas_refs"), _OBJECTS)

_REMOVED = "it is not in newer versions of Ray either; use {0}"
_LIGHTNING_TRAINER = _REMOVED.format(
    "lightning.Trainer with DDPStrategy, LightningEnvironment and ReportCallback of headway.train.lightning, in the "
    "training function of a TorchTrainer"
)
_ACCELERATE = _REMOVED.format("Accelerator() in the training function of a TorchTrainer")
_TRANSFORMERS = _REMOVED.format(
    "transformers.Trainer with ReportCallback of headway.train.huggingface.transformers, in the training function of a "
    "TorchTrainer"
)
_MODEL = "ReportCallback.get_model(checkpoint) gives the model of a checkpoint"
_TENSORFLOW_MODEL = "TensorflowCheckpoint.get_model() gives the model of a checkpoint"
_PREDICTOR = _REMOVED.format("the model of a checkpoint, for example of TorchCheckpoint.get_model()")
_FILES = _REMOVED.format("Checkpoint, which ReportCallback reports with the framework's own files")
_SKLEARN = _REMOVED.format("fit() of the estimator in the training function of a DataParallelTrainer")
_MOSAIC = _REMOVED.format("a loop of PyTorch, or lightning.Trainer, in the training function of a TorchTrainer")

_LOGGER = _REMOVED.format("{0}, one of RunConfig(callbacks=[...])")
_LOGGERS = {
    "CSVLogger": "CSVLoggerCallback",
    "JsonLogger": "JsonLoggerCallback",
    "LegacyLoggerCallback": "a subclass of LoggerCallback",
    "Logger": "a subclass of LoggerCallback",
    "MLFlowLogger": "MLflowLoggerCallback",
    "NoopLogger": "a subclass of LoggerCallback",
    "TBXLogger": "TBXLoggerCallback",
    "UnifiedLogger": "a subclass of LoggerCallback",
}
_FUNCTION = "a function is a trainable as it is: give it to Tuner, or to register_trainable"

# A name stands for all that is below it.
_WORDS = {
    **{f"headway.data.read_{name}": words for name, words in _DATA.items()},
    **{f"headway.data.from_{name}": words for name, words in _REFS.items()},
    **{f"headway.data.Dataset.write_{name}": words for name, words in _WRITERS.items()},
    "headway.data.Dataset.to_random_access_dataset": "write_parquet the rows, and look keys up with DuckDB or PyArrow",
    "headway.data.Datasink": _WRITE.format("the code that writes"),
    "headway.data.llm": "Headway has no batch inference; call the model in map_batches",
    "headway.train.BatchPredictor": _PREDICTOR,
    "headway.train.Predictor": _PREDICTOR,
    "headway.train.batch_predictor": _PREDICTOR,
    "headway.train.huggingface.AccelerateTrainer": _ACCELERATE,
    "headway.train.huggingface.HuggingFaceTrainer": _TRANSFORMERS,
    "headway.train.huggingface.TransformersCheckpoint": _FILES,
    "headway.train.huggingface.TransformersPredictor": _PREDICTOR,
    "headway.train.huggingface.TransformersTrainer": _TRANSFORMERS,
    "headway.train.huggingface.accelerate": _ACCELERATE,
    "headway.train.huggingface.transformers.TransformersTrainer": _TRANSFORMERS,
    "headway.train.lightgbm.LightGBMCheckpoint": _MODEL,
    "headway.train.lightgbm.LightGBMPredictor": _MODEL,
    "headway.train.lightning.LightningCheckpoint": _FILES,
    "headway.train.lightning.LightningConfigBuilder": _LIGHTNING_TRAINER,
    "headway.train.lightning.LightningTrainer": _LIGHTNING_TRAINER,
    "headway.train.mosaic": _MOSAIC,
    "headway.train.predictor": _PREDICTOR,
    "headway.train.sklearn": _SKLEARN,
    "headway.train.tensorflow.TensorflowPredictor": _TENSORFLOW_MODEL,
    "headway.train.torch.TorchPredictor": _PREDICTOR,
    "headway.train.xgboost.XGBoostCheckpoint": _MODEL,
    "headway.train.xgboost.XGBoostPredictor": _MODEL,
    **{f"headway.tune.{name}": _TUNING for name in _OF_TUNING},
    **{f"headway.tune.logger.{name}": _LOGGER.format(instead) for name, instead in _LOGGERS.items()},
    "headway.tune.automl": _REMOVED.format("Tuner with a search_alg and a scheduler"),
    "headway.tune.cli": "the commands are `headway tune ls`, `show`, `best` and `export`",
    "headway.tune.examples": "Ray's examples are part of Ray's wheel; copy the file that you need",
    "headway.tune.resources": _REMOVED.format("PlacementGroupFactory, or with_resources(trainable, {'cpu': 2})"),
    "headway.tune.trainable.FunctionTrainable": _FUNCTION,
    "headway.tune.trainable.function_trainable": _FUNCTION,
    "headway.tune.trainable.wrap_function": _FUNCTION,
    "headway.tune.utils.find_newest_ckpt": _REMOVED.format("Tuner.restore(path, trainable)"),
}


def explanation(name: str) -> str | None:
    """Why there is no such name below ``headway``, and what to do; None for other names.

    Args:
        name: A full name, such as ``"headway.tune.schedulers"``.
    """
    place = name
    while place:
        if place in _WORDS:
            return f"{name}: {_WORDS[place]}"
        place = place.rpartition(".")[0]
    return None

"""Older and longer names of modules, and where what they have is now: one row a module."""

from __future__ import annotations


class Place:
    """A module without a file.

    Attributes:
        summary: What the module has, the first words of its docstring.
        names: By the module that they come from, names with spaces between; ``A=B`` is ``A`` under
            the name ``B``.
    """

    def __init__(self, summary: str, names: dict[str, str]):
        self.summary = summary
        self.names = names

    def source(self) -> str:
        """What the module's file would say."""
        offered: list[str] = []
        imports = ""
        for module, names in self.names.items():
            for name, _, other in (each.partition("=") for each in names.split()):
                imports += f"from {module} import {name} as {other or name}\n"
                offered.append(other or name)
        return f'"""{self.summary}."""\n\n{imports}\n__all__ = {sorted(offered)!r}\n'


_CONFIGS = "CheckpointConfig FailureConfig RunConfig ScalingConfig SyncConfig"
_CONSTANTS = {
    "headway.train._training_function.datasets": ("EVALUATION_DATASET_KEY MODEL_KEY PREPROCESSOR_KEY TRAIN_DATASET_KEY")
}
_FUNCTIONS = "get_checkpoint get_dataset_shard report"
_OF_SESSION = (
    f"{_FUNCTIONS} get_experiment_name get_local_rank get_local_world_size get_metadata get_node_rank get_storage "
    "get_trial_dir get_trial_id get_trial_name get_trial_resources get_world_rank get_world_size"
)
_OF_TORCH = (
    "accelerate backward enable_reproducibility get_device get_devices prepare_data_loader prepare_model "
    "prepare_optimizer"
)
_STOPPERS = (
    "CombinedStopper ExperimentPlateauStopper FunctionStopper MaximumIterationStopper NoopStopper Stopper "
    "TimeoutStopper TrialPlateauStopper"
)
_SPACES = (
    "choice lograndint loguniform qlograndint qloguniform qrandint qrandn quniform randint randn sample_from uniform"
)
_STOPPERS_BY_MODULE = {
    "experiment_plateau": "ExperimentPlateauStopper",
    "function_stopper": "FunctionStopper",
    "maximum_iteration": "MaximumIterationStopper",
    "noop": "NoopStopper",
    "stopper": "CombinedStopper Stopper",
    "timeout": "TimeoutStopper",
    "trial_plateau": "TrialPlateauStopper",
}
_SEARCHERS = {
    "ax": "AxSearch",
    "bayesopt": "BayesOptSearch",
    "bohb": "TuneBOHB",
    "hebo": "HEBOSearch",
    "hyperopt": "HyperOptSearch",
    "nevergrad": "NevergradSearch",
    "optuna": "OptunaSearch",
    "zoopt": "ZOOptSearch",
}
_HELPERS = {
    "headway.tune._experiment.nested_dicts": (
        "date_str deep_update flatten_dict merge_dicts unflatten_dict unflattened_lookup"
    ),
    "headway.tune._experiment.machine_use": "UtilMonitor wait_for_gpu",
    "headway.tune._experiment.trainable_checks": "diagnose_serialization validate_save_restore warn_if_slow",
}
_PRINTED = {"headway.tune._experiment.printed_results": "pretty_print"}
_LOGGERS = {
    "csv": "CSVLoggerCallback",
    "json": "JsonLoggerCallback",
    "logger": "LoggerCallback",
    "tensorboardx": "TBXLoggerCallback",
}

#: Where older code, and code for newer versions of Ray, imports names from.
_OF_RAY: dict[str, Place] = {
    "headway.actor": Place("A type that code for Ray names in annotations", {"headway._ray.actor": "ActorHandle"}),
    "headway.air": Place(
        "Names of headway.train where older code imports them from",
        {"headway.train": f"Checkpoint Result {_CONFIGS}", "headway.air": "session"},
    ),
    "headway.air.checkpoint": Place("Checkpoints", {"headway.train": "Checkpoint"}),
    "headway.air.config": Place("The configuration classes", {"headway.train": _CONFIGS}),
    "headway.air.constants": Place("Names that users' code shares with Headway", _CONSTANTS),
    "headway.air.integrations": Place("Experiment trackers", {}),
    "headway.air.integrations.comet": Place("Comet", {"headway._trackers.comet": "CometLoggerCallback"}),
    "headway.air.integrations.keras": Place(
        "Reports of Keras", {"headway.train.tensorflow.keras": "ReportCheckpointCallback"}
    ),
    "headway.air.integrations.mlflow": Place(
        "MLflow",
        {"headway._trackers.mlflow": "MLflowLoggerCallback", "headway._trackers.mlflow_setup": "setup_mlflow"},
    ),
    "headway.air.integrations.wandb": Place(
        "Weights & Biases", {"headway._trackers.wandb": "WandbLoggerCallback setup_wandb"}
    ),
    "headway.air.result": Place("The result of a run", {"headway.train": "Result"}),
    "headway.air.session": Place("The training function's functions", {"headway.train.session": _OF_SESSION}),
    "headway.data.block": Place(
        "The aggregates' base, and what is known of a part of a data source",
        {"headway.data.aggregate": "AggregateFn", "headway.data._datasource": "BlockMetadata"},
    ),
    "headway.data.context": Place("Settings of data sets", {"headway.data": "DataContext"}),
    "headway.data.dataset": Place("Data sets", {"headway.data": "Dataset MaterializedDataset Schema"}),
    "headway.data.datasource": Place(
        "How files are found and written, and data sources of users",
        {
            "headway.data": "Datasource FileShuffleConfig Partitioning ReadTask SaveMode",
            "headway.data._filenames": "FilenameProvider",
        },
    ),
    "headway.data.datasource.partitioning": Place("Folders as columns", {"headway.data": "Partitioning"}),
    "headway.data.grouped_data": Place("Groups of rows", {"headway.data": "GroupedData"}),
    "headway.data.iterator": Place("What gives rows, epoch after epoch", {"headway.data": "DataIterator"}),
    "headway.data.preprocessor": Place(
        "What preprocessors have in common",
        {"headway.data.preprocessors": "Preprocessor PreprocessorNotFittedException"},
    ),
    "headway.train.collective.collectives": Place(
        "What all ranks do together", {"headway.train.collective": "barrier broadcast_from_rank_zero"}
    ),
    "headway.train.constants": Place("Names that users' code shares with Headway", _CONSTANTS),
    "headway.train.context": Place("The worker's context", {"headway.train": "TrainContext get_context"}),
    "headway.train.error": Place(
        "What a function that belongs into a training function raises elsewhere",
        {"headway._session": "SessionMisuseError"},
    ),
    "headway.train.tensorflow.train_loop_utils": Place(
        "The function for a TensorFlow training function", {"headway.train.tensorflow": "prepare_dataset_shard"}
    ),
    "headway.train.torch.train_loop_utils": Place(
        "The functions for a torch training function", {"headway.train.torch": _OF_TORCH}
    ),
    "headway.train.trainer": Place(
        "What all trainers have in common", {"headway.train.base_trainer": "BaseTrainer TrainingFailedError"}
    ),
    "headway.train.v2": Place("Names of headway.train where newer code imports them from", {}),
    "headway.train.v2.api": Place("Names of headway.train where newer code imports them from", {}),
    "headway.train.v2.api.callback": Place(
        "Callbacks",
        {
            "headway.train": "UserCallback",
            "headway._callbacks.train_callback": "TrainCallback=RayTrainCallback",
        },
    ),
    "headway.train.v2.api.config": Place("The configuration classes", {"headway.train": f"{_CONFIGS} LoggingConfig"}),
    "headway.train.v2.api.context": Place("The worker's context", {"headway.train": "TrainContext"}),
    "headway.train.v2.api.data_parallel_trainer": Place(
        "The data-parallel trainer", {"headway.train": "DataParallelTrainer"}
    ),
    "headway.train.v2.api.exceptions": Place(
        "What fit() raises",
        {"headway.train": "ControllerError NCCLHangError PreemptionError TrainingFailedError WorkerGroupError"},
    ),
    "headway.train.v2.api.preemption": Place(
        "What is known of nodes that are taken away", {"headway.train": "PreemptionInfo"}
    ),
    "headway.train.v2.api.report_config": Place(
        "How report() treats a checkpoint",
        {"headway.train": "CheckpointConsistencyMode CheckpointUploadMode ValidationConfig ValidationTaskConfig"},
    ),
    "headway.train.v2.api.reported_checkpoint": Place(
        "What is known of a checkpoint", {"headway.train": "ReportedCheckpoint ReportedCheckpointStatus"}
    ),
    "headway.train.v2.api.result": Place("The result of a run", {"headway.train": "Result"}),
    "headway.train.v2.api.train_fn_utils": Place(
        "The training function's functions",
        {"headway.train": f"{_FUNCTIONS} get_all_reported_checkpoints get_context get_preemption_info"},
    ),
    "headway.train.v2.api.validation_config": Place(
        "How checkpoints are validated", {"headway.train": "ValidationConfig ValidationFn ValidationTaskConfig"}
    ),
    "headway.train.v2.jax": Place(
        "Names of headway.train.jax where newer code imports them from",
        {"headway.train.jax": "JaxConfig JaxTrainer"},
    ),
    "headway.train.v2.jax.config": Place("The settings for JAX", {"headway.train.jax": "JaxConfig"}),
    "headway.train.v2.jax.jax_trainer": Place("The trainer for JAX", {"headway.train.jax": "JaxTrainer"}),
    "headway.train.v2.tensorflow": Place("Names of headway.train.tensorflow where newer code imports them from", {}),
    "headway.train.v2.tensorflow.tensorflow_trainer": Place(
        "The trainer for TensorFlow", {"headway.train.tensorflow": "TensorflowTrainer"}
    ),
    "headway.train.v2.torch": Place("Names of headway.train.torch where newer code imports them from", {}),
    "headway.train.v2.torch.torch_trainer": Place("The trainer for PyTorch", {"headway.train.torch": "TorchTrainer"}),
    "headway.train.v2.torch.train_loop_utils": Place(
        "The functions for a torch training function", {"headway.train.torch": _OF_TORCH}
    ),
    "headway.tune.callback": Place("The callbacks that hear of trials", {"headway._callbacks.callback": "Callback"}),
    "headway.tune.logger": Place(
        "Logger callbacks", {"headway._callbacks.logger": " ".join(_LOGGERS.values()), **_PRINTED}
    ),
    **{
        f"headway.tune.logger.{module}": Place("A logger callback", {"headway._callbacks.logger": name})
        for module, name in _LOGGERS.items()
        if module != "logger"
    },
    "headway.tune.logger.logger": Place(
        "What logger callbacks are made of", {"headway._callbacks.logger": "LoggerCallback", **_PRINTED}
    ),
    "headway.tune.logger.comet": Place("Comet", {"headway.air.integrations.comet": "CometLoggerCallback"}),
    "headway.tune.logger.mlflow": Place("MLflow", {"headway.air.integrations.mlflow": "MLflowLoggerCallback"}),
    "headway.tune.logger.wandb": Place("Weights & Biases", {"headway.air.integrations.wandb": "WandbLoggerCallback"}),
    "headway.tune.logger.aim": Place("Aim", {"headway._trackers.aim": "AimLoggerCallback"}),
    "headway.tune.progress_reporter": Place(
        "How a run's reports are shown while it goes",
        {"headway._callbacks.progress_reporter": "CLIReporter JupyterNotebookReporter ProgressReporter"},
    ),
    **{
        f"headway.tune.search.{module}.{module}_search": Place(
            "A searcher of a library", {f"headway.tune.search.{module}": name}
        )
        for module, name in _SEARCHERS.items()
    },
    "headway.tune.search.sample": Place(
        "What a search space is made of",
        {
            "headway.tune._space.domains": "Categorical Domain Float Function Integer",
            "headway.tune": _SPACES,
        },
    ),
    "headway.tune.search.variant_generator": Place(
        "How configurations are made of a search space",
        {"headway.tune._space.variants": "RecursiveDependencyError", "headway.tune": "grid_search"},
    ),
    "headway.tune.analysis": Place("The trials of an experiment", {"headway.tune": "ExperimentAnalysis"}),
    "headway.tune.analysis.experiment_analysis": Place(
        "The trials of an experiment", {"headway.tune": "ExperimentAnalysis"}
    ),
    "headway.tune.experiment": Place(
        "Experiments as values, and their trials",
        {"headway.tune": "Experiment", "headway._callbacks.trial": "Trial"},
    ),
    "headway.tune.experiment.experiment": Place("Experiments as values", {"headway.tune": "Experiment"}),
    "headway.tune.experiment.trial": Place("Trials", {"headway._callbacks.trial": "Trial"}),
    "headway.tune.registry": Place(
        "Names of trainables and environments", {"headway.tune": "register_env register_trainable"}
    ),
    "headway.tune.tune": Place("Experiments by one call", {"headway.tune": "run run_experiments"}),
    "headway.tune.error": Place("What goes wrong in an experiment", {"headway.tune": "TuneError"}),
    "headway.tune.result": Place(
        "What the metrics of each report are called",
        {
            "headway.tune._experiment.result_names": (
                "DEFAULT_METRIC DONE EXPERIMENT_TAG HOSTNAME NODE_IP PID SHOULD_CHECKPOINT TIMESTAMP TIME_THIS_ITER_S "
                "TIME_TOTAL_S TRAINING_ITERATION TRIAL_ID"
            )
        },
    ),
    "headway.tune.result_grid": Place("The results of an experiment", {"headway.tune": "ResultGrid"}),
    "headway.tune.schedulers.async_hyperband": Place(
        "Asynchronous successive halving", {"headway.tune.schedulers": "ASHAScheduler AsyncHyperBandScheduler"}
    ),
    "headway.tune.schedulers.hb_bohb": Place("HyperBand for BOHB", {"headway.tune.schedulers": "HyperBandForBOHB"}),
    "headway.tune.schedulers.median_stopping_rule": Place(
        "The median stopping rule", {"headway.tune.schedulers": "MedianStoppingRule"}
    ),
    "headway.tune.trainable": Place(
        "What a trial runs", {"headway.tune": "PlacementGroupFactory Trainable with_parameters"}
    ),
    "headway.tune.trainable.util": Place("What a trial runs with", {"headway.tune": "with_parameters with_resources"}),
    "headway.tune.context": Place("What a trial knows of itself", {"headway.tune": "TuneContext get_context"}),
    "headway.tune.tune_config": Place("How an experiment searches", {"headway.tune": "ResumeConfig TuneConfig"}),
    "headway.tune.tuner": Place("Experiments", {"headway.tune": "Tuner"}),
    "headway.tune.stopper": Place(
        "What may end a run by what it reports, as RunConfig(stop=...)", {"headway._callbacks.stopper": _STOPPERS}
    ),
    **{
        f"headway.tune.stopper.{module}": Place("A stop condition", {"headway._callbacks.stopper": names})
        for module, names in _STOPPERS_BY_MODULE.items()
    },
    "headway.tune.execution": Place("Where older code imports resources from", {}),
    "headway.tune.execution.placement_groups": Place(
        "Bundles of resources",
        {
            "headway.tune": "PlacementGroupFactory",
            "headway.tune._experiment.resources": "resource_dict_to_pg_factory",
        },
    ),
    "headway.tune.syncer": Place("How files are brought to storage", {"headway.train": "SyncConfig"}),
    "headway.tune.trainable.trainable": Place("What a trial runs", {"headway.tune": "Trainable"}),
    "headway.tune.trainable.trainable_fn_utils": Place(
        "What a function reports", {"headway.tune": "Checkpoint get_checkpoint report"}
    ),
    "headway.tune.utils": Place("Helpers for trials, and for nested dicts", _HELPERS),
    "headway.tune.utils.util": Place("Helpers for trials, and for nested dicts", _HELPERS),
    "headway.tune.utils.log": Place(
        "How much is shown", {"headway.tune._experiment.verbosity": "Verbosity has_verbosity set_verbosity"}
    ),
    "headway.tune.utils.placement_groups": Place("Bundles of resources", {"headway.tune": "PlacementGroupFactory"}),
    "headway.tune.trial": Place("The one trial that a run is", {"headway._callbacks.trial": "Trial"}),
}

#: What pickles of earlier versions name: `trainer.pkl` of a run, a pickled checkpoint.
_OF_PICKLES: dict[str, Place] = {
    "headway.train._callbacks": Place(
        "Callbacks",
        {
            "headway._callbacks.train_callback": "TrainCallback",
            "headway.train._run.user_callback": "TrainRunContext",
        },
    ),
    "headway.train._checkpoint": Place("Checkpoints", {"headway._checkpoint.checkpoint": "_restore"}),
    "headway.train._context": Place(
        "The worker's context", {"headway.train._training_function.context": "StorageContext TrialResources"}
    ),
}

PLACES = {**_OF_RAY, **_OF_PICKLES}

_PACKAGES = {name.rpartition(".")[0] for name in PLACES} & PLACES.keys()


def is_package(name: str) -> bool:
    """Whether there are modules below this one."""
    return name in _PACKAGES


def public_places() -> list[str]:
    """The modules for users, in the order of their names."""
    return sorted(_OF_RAY)

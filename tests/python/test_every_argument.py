"""Every public argument is refused by name somewhere in the tables of bad arguments, and no
argument is left out.
"""

import inspect

import bad_boosting_calls
import bad_calls
import bad_data_calls
import bad_tune_calls
import bad_tune_run_calls
import headway
import pytest
import test_arguments
import test_validation_arguments
from headway import train
from headway.train import DataParallelTrainer, RunConfig, ScalingConfig
from headway.train.torch import TorchTrainer
from test_docstrings import OFFERED

# Whose objects a user gets, and does not make.
GOT = {
    "Result", "ReportedCheckpoint", "PreemptionInfo", "TrainContext", "StorageContext", "Trial", "SessionMisuseError",
    "RunHandle",
    "TrainingFailedError", "WorkerGroupError", "ControllerError", "PreemptionError", "NCCLHangError",
    "WorkerFailure", "WorkerRaised", "WorkerDied", "WorkerNotStarted", "WorkerHung", "NodeLost", "NodePreempted",
    "UnmatchedCall",
    "CheckpointUploadMode", "CheckpointConsistencyMode", "ReportedCheckpointStatus",
    # Their methods: test_data_arguments.py.
    "Dataset", "MaterializedDataset", "DataIterator", "GroupedData", "Schema", "Expr", "CollateFn",
    "Preprocessor", "SaveMode", "MixStoppingCondition", "FitStatus", "PreprocessorNotFittedException",
    *bad_tune_calls.DOMAINS, "RecursiveDependencyError", "TuneError", "TuneContext", "Trainable",
    "ResultGrid", "TrialScheduler", "FIFOScheduler", "Verbosity",
}  # fmt: skip
# Searchers whose arguments their libraries take.
LIBRARIES = (
    "AxSearch", "BayesOptSearch", "HEBOSearch", "HyperOptSearch", "NevergradSearch", "TuneBOHB", "ZOOptSearch",
)  # fmt: skip
# Whose methods a user writes, and Headway calls.
WRITTEN = {
    "Backend", "UserCallback", "Callback", "LoggerCallback", "JsonLoggerCallback", "CSVLoggerCallback",
    "TBXLoggerCallback", "ProgressReporter", "CLIReporter", "JupyterNotebookReporter", "Stopper", "CombinedStopper",
    "FunctionStopper", "MaximumIterationStopper", "NoopStopper", "TimeoutStopper", "TrialPlateauStopper",
    "ExperimentPlateauStopper", "ValidationFn", "DDPStrategy", "DeepSpeedStrategy", "FSDPStrategy",
    "TuneReportCallback",
    "LightningEnvironment", "ReportCallback", "WandbLoggerCallback", "MLflowLoggerCallback", "CometLoggerCallback",
    "AimLoggerCallback", "ReportCheckpointCallback",
    "Dataset", "MaterializedDataset", "DataIterator", "GroupedData", "Schema", "Expr", "DataContext",
    "ArrowBatchCollateFn", "CollateFn", "NumpyBatchCollateFn", "PandasBatchCollateFn", *bad_data_calls.PREPROCESSORS,
    "AggregateFnV2", *bad_tune_calls.DOMAINS, *bad_tune_calls.SEARCHERS,
    *bad_tune_calls.SCHEDULERS, *LIBRARIES, "Searcher", "LibrarySearcher", "TuneCallback",
    "TuneReportCheckpointCallback", "Trainable", "TuneContext", "UtilMonitor", "Datasource", "FilenameProvider",
}  # fmt: skip
# (name, argument or None for all of its arguments): why there is no row.
LEFT_OUT = {
    **{(name, None): "of its library: test_tune_libraries.py" for name in LIBRARIES},
    **{
        (name, None): "of its library's callback: test_tune_integration.py"
        for name in ("TuneCallback", "TuneReportCallback", "TuneReportCheckpointCallback")
    },
    **{
        (name, None): "test_tune_front_schedulers.py" for name in ("DistributeResources", "DistributeResourcesToTopJob")
    },
    ("CLIReporter", None): "test_tune_display.py",
    ("DataContext", "max_errored_blocks"): "is set, not given: test_data_errored.py",
    ("Result.plot", None): "needs a run, as ResultGrid.plot needs an experiment",
    ("init", "dashboard"): "test_dashboard.py",
    ("DataConfig.configure", None): "called by Headway",
    **dict.fromkeys(
        [("BlockMetadata", name) for name in ("size_bytes", "schema", "input_files", "exec_stats")]
        + [("ReadTask", name) for name in ("schema", "per_task_row_limit")],
        "kept for sources that give it, whatever it is",
    ),
    ("from_huggingface", "override_num_blocks"): "the same code as from_arrow's",
    ("DataParallelTrainer", "backend_config"): "test_the_frameworks_settings_have_one_type",
    ("TorchTrainer", "torch_config"): "the same",
    ("DataParallelTrainer.restore", "backend_config"): "the same",
    ("TorchTrainer.restore", None): "hands all but torch_config, which has a row, on to DataParallelTrainer.restore",
    ("XGBoostTrainer", None): "hands what has no row on to DataParallelTrainer",
    ("XGBoostTrainer.restore", None): "the same",
    ("LightGBMTrainer", None): "hands what has no row on to DataParallelTrainer",
    ("LightGBMTrainer.restore", None): "the same",
    **{
        ("HorovodConfig", argument): "has no effect, whatever it is"
        for argument in ("key", "placement_group_timeout_s", "ssh_identity_file", "ssh_port", "ssh_str", "verbose")
    },
    ("HorovodTrainer", None): "hands all but horovod_config, which has a row, on to DataParallelTrainer",
    ("HorovodTrainer.restore", None): "the same",
    ("JaxTrainer", None): "hands all but jax_config, which has a row, on to DataParallelTrainer",
    ("JaxTrainer.restore", None): "the same",
    ("TensorflowTrainer", None): "hands all but its settings, which have rows, on to DataParallelTrainer",
    ("TensorflowTrainer.restore", None): "the same",
    ("TensorflowCheckpoint", None): "its constructor is Checkpoint's",
    ("TensorflowCheckpoint.from_model", "preprocessor"): "the same code as TorchCheckpoint's",
    ("TensorflowCheckpoint.from_h5", "preprocessor"): "the same",
    ("TensorflowCheckpoint.from_saved_model", "preprocessor"): "the same",
    ("TensorflowCheckpoint.set_preprocessor", None): "the same",
    ("JupyterNotebookReporter", None): "its constructor is CLIReporter's",
    ("BaseTrainer.restore", None): "raises NotImplementedError, whatever it is given: test_names.py",
    ("LoggingConfig.shows", None): "of Headway's own",
    ("Tuner.restore", None): "what a folder does not fit: test_tune.py",
    **dict.fromkeys(
        [("run", name) for name in ("run_or_experiment", "config", "resources_per_trial")],
        "has rows, under the name that Tuner has for it",
    ),
    ("Experiment", None): "hands all but its name and run, which have rows, on to run",
    ("ExperimentAnalysis", None): "takes an experiment's folder, as Tuner.restore does: test_tune_run.py",
    **dict.fromkeys(
        [("ExperimentAnalysis." + name, None) for name in ("dataframe", "get_all_configs", "get_last_checkpoint")]
        + [("ExperimentAnalysis.get_best_" + name, None) for name in ("trial", "config", "checkpoint")],
        "the same",
    ),
    ("Tuner.can_restore", None): "hands its path on, as Tuner.restore does",
    ("ResultGrid.get_best_result", None): "needs an experiment: test_tune_loop.py",
    ("ResultGrid.get_dataframe", None): "the same",
    ("ResultGrid.best_record", None): "the same",
    ("ResultGrid.plot", None): "needs an experiment: test_tune_command.py",
    ("TorchCheckpoint.from_model", "preprocessor"): "the same code as from_state_dict's",
    ("TrainContext.get_dataset_shard", None): "hands it on to get_dataset_shard",
}


def name_of(thing):
    """A class's or a function's name, a method's with its class's before it."""
    return thing.__qualname__.rpartition("<locals>.")[2]


def methods(kind):
    for name in dir(kind):
        found = inspect.getattr_static(kind, name)
        if not name.startswith("_") and isinstance(getattr(found, "__func__", found), type(methods)):
            yield getattr(kind, name)


def arguments():
    """(name, argument) of all that a user calls."""
    for each in OFFERED:
        thing = each.values[0]
        name = name_of(thing)
        called = [] if name in GOT else [thing]
        if inspect.isclass(thing) and name not in WRITTEN:
            called += methods(thing)
        for call in called:
            for parameter in inspect.signature(call).parameters.values():
                own = parameter.name != "self" and parameter.kind.name not in ("VAR_POSITIONAL", "VAR_KEYWORD")
                if own and not parameter.name.startswith("_"):
                    yield name_of(call), parameter.name


def rows():
    tables = (test_arguments.CASES, test_validation_arguments.CASES, bad_calls.ROWS, bad_calls.in_a_training_function(),
              bad_data_calls.ROWS, bad_tune_calls.ROWS, bad_tune_run_calls.ROWS,
              bad_calls.of_lightning(), bad_calls.of_tensorflow(), bad_boosting_calls.of_xgboost(),
              bad_boosting_calls.of_lightgbm())  # fmt: skip
    for call, given, _, argument, *_ in (row for table in tables for row in table):
        yield from ((name_of(call), name) for name in given if name in argument)
    for given, *_ in test_arguments.TRAINER_CASES:
        yield from ((trainer, name) for trainer in ("DataParallelTrainer", "TorchTrainer") for name in given)
    for given, *_ in test_arguments.RESTORE_CASES:
        yield from (("DataParallelTrainer.restore", name) for name in given)
    for given, *_ in test_arguments.RESTORE_CASES[:3]:
        yield from (("BaseTrainer.can_restore", name) for name in given)


def test_no_argument_is_left_out():
    refused = set(rows()) | {("DataParallelTrainer.restore", "metadata")}
    there = set(arguments())
    assert len(there) > 150
    missing = {
        (name, argument)
        for name, argument in there - refused
        if (name, argument) not in LEFT_OUT and (name, None) not in LEFT_OUT
    }
    assert sorted(missing) == []
    assert {name for name, _ in LEFT_OUT} <= {name for name, _ in there}, "what is left out is there"


@pytest.mark.parametrize(
    ("call", "given", "meant"),
    [
        (ScalingConfig, {"num_worker": 2}, "num_workers"),
        (RunConfig, {"names": "x"}, "name"),
        (train.CheckpointConfig, {"keep": 2}, None),
        (DataParallelTrainer, {"train_loop_per_workers": print}, "train_loop_per_worker"),
        (TorchTrainer, {"scaling_confg": None}, "scaling_config"),
        (TorchTrainer.restore, {"pth": "x"}, "path"),
        (train.Checkpoint.from_directory, {"pat": "x"}, "path"),
        (train.report, {"metric": {}}, "metrics"),
        (train.torch.prepare_model, {"model": None, "move_to_devices": True}, "move_to_device"),
        (train.collective.broadcast_from_rank_zero, {"dta": 1}, "data"),
        (headway.init, {"num_cpu": 2}, "num_cpus"),
    ],
)
def test_a_misspelled_argument_is_answered_with_the_right_one(call, given, meant):
    with pytest.raises(TypeError) as caught:
        call(**given)
    wrong = list(given)[-1]
    hint = f"did you mean {meant!r}?" if meant else "allowed: num_to_keep, checkpoint_score_attribute, "
    assert f"() got an unexpected keyword argument {wrong!r}; {hint}" in str(caught.value)


def test_every_public_call_answers_a_misspelled_argument():
    """All that a user makes or calls, but for what takes any name."""
    silent = []
    for each in OFFERED:
        call = each.values[0]
        names = [] if name_of(call) in GOT else list(inspect.signature(call).parameters.values())
        if not names or any(name.kind.name.startswith("VAR_") for name in names) or inspect.isabstract(call):
            continue
        try:
            call(**{f"{names[0].name}z": 1})
        except TypeError as error:
            if f"did you mean {names[0].name!r}?" not in str(error) or "()" not in str(error):
                silent.append((name_of(call), str(error)))
        except ImportError:
            continue  # Of a framework that is not installed: its own test file has a row.
    assert silent == []


@pytest.mark.parametrize(
    ("call", "arguments", "kind", "argument", "given", "allowed"),
    [*bad_calls.ROWS, *bad_tune_calls.ROWS, *bad_tune_run_calls.ROWS],
)
def test_a_bad_argument_is_refused_by_name(call, arguments, kind, argument, given, allowed):
    headway.shutdown()
    with pytest.raises(kind) as caught:
        call(**arguments)
    test_arguments.assert_refused(caught, argument, given, allowed)


def test_restore_refuses_metadata_that_json_does_not_have(fit, storage):
    fit(print, name="there")
    with pytest.raises(ValueError, match=r"metadata\['a'\] is a set; allowed: numbers, strings"):
        DataParallelTrainer.restore(f"{storage}/there", metadata={"a": {1}})


def test_a_bad_argument_in_a_training_function_is_refused_by_name(storage):
    def loop():
        table = bad_calls.in_a_training_function()
        for call, arguments, kind, argument, given, allowed in table:
            with pytest.raises(kind) as caught:
                call(**arguments)
            for words in (argument, given, allowed):
                assert words in str(caught.value), (call, arguments, str(caught.value))
        train.report({"rows": len(table)})

    run = RunConfig(storage_path=storage)
    result = TorchTrainer(loop, scaling_config=ScalingConfig(num_workers=0), run_config=run).fit()
    assert result.metrics["rows"] > 20
    assert result.metrics["training_iteration"] == 1, "nothing of the others was reported"

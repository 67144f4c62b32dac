"""Bad arguments: an error before any process starts, with the argument, its value, the choices."""

import os

import bad_arguments
import headway
import processes
import pyarrow.fs
import pytest
from headway import train
from headway.train import (
    Checkpoint,
    CheckpointConfig,
    DataParallelTrainer,
    FailureConfig,
    RunConfig,
    ScalingConfig,
)
from headway.train.torch import TorchConfig, TorchTrainer, prepare_data_loader, prepare_model


def loop():
    raise AssertionError("a run with a bad argument must not start")


def two_arguments(config, other):
    loop()


def yields(config):
    yield config


class Awaits:
    async def __call__(self, config):
        pass


def keyword_argument(*, config):
    loop()


SUBTREE = pyarrow.fs.SubTreeFileSystem("/tmp", pyarrow.fs.LocalFileSystem())
NAN, INF = float("nan"), float("inf")
AT_LEAST_1 = "at least 1"

# (what is called, with what, exception, argument, as it is given, a part of what is allowed)
CASES = [
    (ScalingConfig, {"num_workers": "2"}, TypeError, "ScalingConfig.num_workers", "'2' (str)", AT_LEAST_1),
    (ScalingConfig, {"num_workers": 2.0}, TypeError, "ScalingConfig.num_workers", "2.0 (float)", AT_LEAST_1),
    (ScalingConfig, {"num_workers": True}, TypeError, "ScalingConfig.num_workers", "True (bool)", AT_LEAST_1),
    (ScalingConfig, {"num_workers": None}, TypeError, "ScalingConfig.num_workers", "None", AT_LEAST_1),
    (ScalingConfig, {"num_workers": -1}, ValueError, "ScalingConfig.num_workers", "-1", "from 0 (local mode)"),
    (ScalingConfig, {"trainer_resources": 4}, TypeError, "ScalingConfig.trainer_resources", "4 (int)", "a dict"),
    (ScalingConfig, {"trainer_resources": {"CPU": -1}}, ValueError, 'trainer_resources["CPU"]', "-1", "not negative"),
    (ScalingConfig, {"placement_strategy": 1}, TypeError, "ScalingConfig.placement_strategy", "1 (int)", '"PACK"'),
    (
        ScalingConfig,
        {"placement_strategy": "LOOSE"},
        ValueError,
        "ScalingConfig.placement_strategy",
        '"LOOSE"',
        '"STRICT_SPREAD"',
    ),
    (ScalingConfig, {"accelerator_type": 100}, TypeError, "ScalingConfig.accelerator_type", "100 (int)", '"A100"'),
    (ScalingConfig, {"accelerator_type": ""}, ValueError, "ScalingConfig.accelerator_type", '""', '"A100"'),
    (ScalingConfig, {"label_selector": "eu"}, TypeError, "ScalingConfig.label_selector", "'eu'", "a dict from labels"),
    (ScalingConfig, {"label_selector": {"a": 1}}, TypeError, "ScalingConfig.label_selector['a']", "1 (int)", "text"),
    (
        ScalingConfig,
        {"num_workers": (1, 2), "label_selector": [{}, {}]},
        ValueError,
        "ScalingConfig.label_selector",
        "a list of 2",
        "one selector for all workers of an elastic group",
    ),
    (
        ScalingConfig,
        {"num_workers": 3, "label_selector": [{}, {}]},
        ValueError,
        "ScalingConfig.label_selector",
        "a list of 2",
        "one for each of them (3)",
    ),
    (ScalingConfig, {"num_workers": 10**7}, ValueError, "ScalingConfig.num_workers", "10000000", "1000000"),
    (ScalingConfig, {"num_workers": 10**20}, ValueError, "ScalingConfig.num_workers", "1" + "0" * 20, AT_LEAST_1),
    (ScalingConfig, {"use_gpu": 1}, TypeError, "ScalingConfig.use_gpu", "1 (int)", "True or False"),
    (ScalingConfig, {"use_gpu": "no"}, TypeError, "ScalingConfig.use_gpu", "'no'", "True or False"),
    (ScalingConfig, {"resources_per_worker": 4}, TypeError, "ScalingConfig.resources_per_worker", "4", "a dict"),
    (
        ScalingConfig,
        {"resources_per_worker": ["CPU"]},
        TypeError,
        "ScalingConfig.resources_per_worker",
        "CPU",
        "a dict",
    ),
    (
        ScalingConfig,
        {"resources_per_worker": {1: 1}},
        TypeError,
        "ScalingConfig.resources_per_worker",
        "1 (int)",
        "dict",
    ),
    (ScalingConfig, {"resources_per_worker": {"CPU": "4"}}, TypeError, "['CPU']", "'4'", "a number"),
    (ScalingConfig, {"resources_per_worker": {"CPU": -1}}, ValueError, '["CPU"]', "-1", "not negative"),
    (ScalingConfig, {"resources_per_worker": {"CPU": NAN}}, ValueError, '["CPU"]', "nan", "finite"),
    (ScalingConfig, {"resources_per_worker": {"CPU": INF}}, ValueError, '["CPU"]', "inf", "finite"),
    (ScalingConfig, {"resources_per_worker": {"": 1}}, ValueError, "resources_per_worker", "empty name", '"CPU"'),
    (ScalingConfig, {"resources_per_worker": {"GPU": 1}}, ValueError, "ScalingConfig.use_gpu", "1 GPU", "True, or no"),
    (
        ScalingConfig,
        {"resources_per_worker": {"GPU": 0}, "use_gpu": True},
        ValueError,
        'resources_per_worker["GPU"]',
        "0 while use_gpu is True",
        "use_gpu as False",
    ),
    (
        ScalingConfig,
        {"resources_per_worker": {"GPU": 1.5}, "use_gpu": True},
        ValueError,
        'resources_per_worker["GPU"]',
        "1.5",
        "whole number",
    ),
    (FailureConfig, {"max_failures": 1.5}, TypeError, "FailureConfig.max_failures", "1.5", "-1 (no limit)"),
    (FailureConfig, {"max_failures": None}, TypeError, "FailureConfig.max_failures", "None", "-1 (no limit)"),
    (FailureConfig, {"max_failures": -2}, ValueError, "FailureConfig.max_failures", "-2", "-1 (no limit)"),
    (FailureConfig, {"fail_fast": "yes"}, ValueError, "FailureConfig.fail_fast", "'yes'", "False, or with"),
    (FailureConfig, {"fail_fast": 1.5}, TypeError, "FailureConfig.fail_fast", "1.5 (float)", "False, or with"),
    (
        FailureConfig,
        {"fail_fast": True, "max_failures": 2},
        ValueError,
        "fail_fast",
        "True with max_failures=2",
        "False",
    ),
    (FailureConfig, {"hang_warn_s": -1}, ValueError, "FailureConfig.hang_warn_s", "-1", "None or 0 (never)"),
    (FailureConfig, {"hang_warn_s": NAN}, ValueError, "FailureConfig.hang_warn_s", "nan", "None or 0 (never)"),
    (FailureConfig, {"hang_warn_s": "30"}, TypeError, "FailureConfig.hang_warn_s", "'30'", "None or 0 (never)"),
    (FailureConfig, {"hang_fail_s": INF}, ValueError, "FailureConfig.hang_fail_s", "inf", "None or 0 (never)"),
    (FailureConfig, {"hang_fail_s": True}, TypeError, "FailureConfig.hang_fail_s", "True", "None or 0 (never)"),
    (CheckpointConfig, {"num_to_keep": 0}, ValueError, "CheckpointConfig.num_to_keep", "0", AT_LEAST_1),
    (
        CheckpointConfig,
        {"checkpoint_frequency": -1},
        ValueError,
        "CheckpointConfig.checkpoint_frequency",
        "-1",
        "None or an integer of at least 0",
    ),
    (
        CheckpointConfig,
        {"checkpoint_at_end": 1},
        TypeError,
        "CheckpointConfig.checkpoint_at_end",
        "1",
        "True or False",
    ),
    (CheckpointConfig, {"num_to_keep": -3}, ValueError, "CheckpointConfig.num_to_keep", "-3", AT_LEAST_1),
    (CheckpointConfig, {"num_to_keep": "all"}, TypeError, "CheckpointConfig.num_to_keep", "'all'", "None (keep all)"),
    (
        CheckpointConfig,
        {"checkpoint_score_attribute": 3},
        TypeError,
        "CheckpointConfig.checkpoint_score_attribute",
        "3 (int)",
        "key of a reported metric",
    ),
    (
        CheckpointConfig,
        {"checkpoint_score_attribute": ""},
        ValueError,
        "CheckpointConfig.checkpoint_score_attribute",
        '""',
        "key of a reported metric",
    ),
    (
        CheckpointConfig,
        {"checkpoint_score_order": "best"},
        ValueError,
        "CheckpointConfig.checkpoint_score_order",
        '"best"',
        '"max" or "min"',
    ),
    (
        CheckpointConfig,
        {"checkpoint_score_order": None},
        TypeError,
        "CheckpointConfig.checkpoint_score_order",
        "None",
        '"max" or "min"',
    ),
    (RunConfig, {"name": 7}, TypeError, "RunConfig.name", "7 (int)", "a folder name"),
    (RunConfig, {"name": ""}, ValueError, "RunConfig.name", '""', "without '/'"),
    (RunConfig, {"name": "a/b"}, ValueError, "RunConfig.name", '"a/b"', "without '/'"),
    (RunConfig, {"name": ".."}, ValueError, "RunConfig.name", '".."', "a folder name"),
    (RunConfig, {"name": "a\0b"}, ValueError, "RunConfig.name", "a\\u0000b", "a folder name"),
    (RunConfig, {"name": "x" * 201}, ValueError, "RunConfig.name", "xxx", "200 bytes"),
    (RunConfig, {"storage_path": 7}, TypeError, "RunConfig.storage_path", "7 (int)", "a path"),
    (RunConfig, {"name": "caf\udce9"}, ValueError, "RunConfig.name", "caf", "UTF-8"),
    (RunConfig, {"storage_path": "/tmp/caf\udce9"}, ValueError, "RunConfig.storage_path", "caf", "UTF-8"),
    (RunConfig, {"storage_path": ""}, ValueError, "RunConfig.storage_path", "''", "path"),
    (RunConfig, {"storage_path": "file://host/x"}, ValueError, "RunConfig.storage_path", "file://host/x", "file:///"),
    (
        RunConfig,
        {"storage_path": "s3://bucket/x", "storage_filesystem": SUBTREE},
        ValueError,
        "RunConfig.storage_path",
        "s3://bucket/x",
        "without s3://",
    ),
    (
        RunConfig,
        {"storage_path": "x", "storage_filesystem": "s3"},
        TypeError,
        "RunConfig.storage_filesystem",
        "'s3' (str)",
        "pyarrow.fs.FileSystem",
    ),
    (RunConfig, {"storage_filesystem": SUBTREE}, ValueError, "RunConfig.storage_path", "None", "'bucket/path'"),
    (RunConfig, {"failure_config": 3}, TypeError, "RunConfig.failure_config", "3 (int)", "a FailureConfig"),
    (RunConfig, {"checkpoint_config": {}}, TypeError, "RunConfig.checkpoint_config", "{} (dict)", "a CheckpointConfig"),
    (RunConfig, {"callbacks": 3}, TypeError, "RunConfig.callbacks", "3 (int)", "a list of UserCallback"),
    (RunConfig, {"callbacks": [print]}, TypeError, "RunConfig.callbacks[0]", "print", "subclass of UserCallback"),
    (RunConfig, {"stop": 3}, TypeError, "RunConfig.stop", "3 (int)", "a function of the trial's id and a report"),
    (RunConfig, {"stop": {1: 1}}, TypeError, "RunConfig.stop", "1 (int)", "a dict from metrics"),
    (RunConfig, {"stop": {"loss": "low"}}, TypeError, "RunConfig.stop['loss']", "'low'", "a number"),
    (RunConfig, {"stop": {"loss": NAN}}, ValueError, "RunConfig.stop['loss']", "nan", "a number"),
    (RunConfig, {"logging_config": "INFO"}, TypeError, "RunConfig.logging_config", "'INFO'", "a LoggingConfig"),
    (RunConfig, {"progress_reporter": print}, TypeError, "RunConfig.progress_reporter", "print", "CLIReporter()"),
    (train.LoggingConfig, {"log_level": 10}, TypeError, "LoggingConfig.log_level", "10 (int)", "DEBUG"),
    (train.LoggingConfig, {"log_level": "loud"}, ValueError, "LoggingConfig.log_level", "'loud'", "DEBUG"),
    (TorchConfig, {"backend": 1}, TypeError, "TorchConfig.backend", "1 (int)", '"gloo"'),
    (TorchConfig, {"backend": ""}, ValueError, "TorchConfig.backend", "''", '"gloo"'),
    (TorchConfig, {"backend": "gl oo"}, ValueError, "TorchConfig.backend", "'gl oo'", '"gloo"'),
    (TorchConfig, {"backend": "cpu:gloo,cuda"}, ValueError, "TorchConfig.backend", "'cpu:gloo,cuda'", "cuda:nccl"),
    (TorchConfig, {"init_method": "file"}, ValueError, "TorchConfig.init_method", "'file'", '"env" or "tcp"'),
    (TorchConfig, {"init_method": None}, (TypeError, ValueError), "TorchConfig.init_method", "None", '"env" or "tcp"'),
    (TorchConfig, {"timeout_s": "1"}, TypeError, "TorchConfig.timeout_s", "'1' (str)", "above 0"),
    (TorchConfig, {"timeout_s": 0}, ValueError, "TorchConfig.timeout_s", "0", "above 0"),
    (TorchConfig, {"timeout_s": -5}, ValueError, "TorchConfig.timeout_s", "-5", "above 0"),
    (TorchConfig, {"timeout_s": INF}, ValueError, "TorchConfig.timeout_s", "inf", "finite"),
    (TorchConfig, {"timeout_s": NAN}, ValueError, "TorchConfig.timeout_s", "nan", "finite"),
    (Checkpoint, {"path": 7}, TypeError, "path", "7 (int)", "a path or a URL"),
    (Checkpoint, {"path": None}, TypeError, "path", "None", "a path or a URL"),
    (Checkpoint, {"path": ""}, ValueError, "path", "''", "a path or a URL"),
    (Checkpoint.from_directory, {"path": "/no/such/place"}, FileNotFoundError, "path", "/no/such/place", "a directory"),
    (Checkpoint.from_directory, {"path": __file__}, NotADirectoryError, "path", __file__, "a directory"),
    *bad_arguments.ROWS,
]

TRAINER_CASES = [
    ({"train_loop_per_worker": 7}, TypeError, "train_loop_per_worker", "7 (int)", "a function"),
    ({"train_loop_per_worker": None}, TypeError, "train_loop_per_worker", "None", "a function"),
    ({"train_loop_per_worker": two_arguments}, ValueError, "train_loop_per_worker", "config, other", "none, or one"),
    ({"train_loop_per_worker": keyword_argument}, ValueError, "train_loop_per_worker", "config", "none, or one"),
    ({"train_loop_config": [1]}, TypeError, "train_loop_config", "[1] (list)", "a dict or None"),
    ({"scaling_config": 2}, TypeError, "scaling_config", "2 (int)", "a ScalingConfig"),
    ({"scaling_config": ScalingConfig}, TypeError, "scaling_config", "ScalingConfig", "a ScalingConfig"),
    ({"run_config": {"name": "x"}}, TypeError, "run_config", "dict", "a RunConfig"),
    ({"datasets": {"train": [1]}}, TypeError, "datasets['train']", "[1] (list)", "a headway.data.Dataset"),
    ({"datasets": [1]}, TypeError, "datasets", "[1] (list)", "a dict from names to data sets"),
    ({"dataset_config": {"train": 1}}, TypeError, "dataset_config", "dict", "a DataConfig or None"),
    ({"validation_config": loop}, TypeError, "validation_config", "function loop", "a ValidationConfig or None"),
    ({"resume_from_checkpoint": "/tmp"}, TypeError, "resume_from_checkpoint", "'/tmp' (str)", "Checkpoint or None"),
    ({"train_loop_per_worker": yields}, TypeError, "train_loop_per_worker", "function yields", "generator function"),
    ({"train_loop_per_worker": Awaits()}, TypeError, "train_loop_per_worker", "Awaits object", "no async def"),
]


# As above, of what is given to restore beside the path of a run that is there.
RESTORE_CASES = [
    ({"path": 7}, TypeError, "path", "7 (int)", "a path or a URL"),
    ({"path": ""}, ValueError, "path", "''", "a path or a URL"),
    ({"storage_filesystem": "s3"}, TypeError, "storage_filesystem", "'s3' (str)", "pyarrow.fs.FileSystem"),
    ({"run_config": {"name": "x"}}, TypeError, "run_config", "dict", "a RunConfig or None"),
    ({"run_config": RunConfig(name="other")}, ValueError, "run_config.name", "'other'", "None, or the folder's own"),
    *TRAINER_CASES[:1],
    *TRAINER_CASES[2:7],
    *TRAINER_CASES[8:],
]


pytestmark = pytest.mark.usefixtures("nothing_runs")


def assert_refused(caught, argument, given, allowed):
    text = str(caught.value)
    assert argument in text
    assert given in text
    assert allowed in text
    assert not headway.is_initialized()
    assert processes.descendants() == {}


@pytest.mark.parametrize(("call", "arguments", "kind", "argument", "given", "allowed"), CASES)
def test_a_bad_argument_is_refused_by_name(call, arguments, kind, argument, given, allowed):
    with pytest.raises(kind) as caught:
        call(**arguments)
    assert_refused(caught, argument, given, allowed)


@pytest.mark.parametrize("trainer", [DataParallelTrainer, TorchTrainer])
@pytest.mark.parametrize(("arguments", "kind", "argument", "given", "allowed"), TRAINER_CASES)
def test_a_trainer_refuses_a_bad_argument_by_name(trainer, arguments, kind, argument, given, allowed):
    with pytest.raises(kind) as caught:
        trainer(**{"train_loop_per_worker": loop, **arguments})
    assert_refused(caught, argument, given, allowed)


def test_nccl_for_workers_without_gpus_is_refused():
    with pytest.raises(ValueError, match="have no GPU") as caught:
        TorchTrainer(loop, torch_config=TorchConfig(backend="nccl"), scaling_config=ScalingConfig(num_workers=2))
    assert_refused(caught, "TorchConfig.backend", '"nccl" while the workers have no GPU (use_gpu=False)', '"gloo"')


@pytest.mark.parametrize(("arguments", "kind", "argument", "given", "allowed"), RESTORE_CASES)
def test_restore_refuses_a_bad_argument_by_name(fit, storage, arguments, kind, argument, given, allowed):
    fit(print, name="there")
    headway.shutdown()
    with pytest.raises(kind) as caught:
        DataParallelTrainer.restore(**{"path": os.path.join(storage, "there"), **arguments})
    assert_refused(caught, argument, given, allowed)


@pytest.mark.parametrize(("arguments", "kind", "argument", "given", "allowed"), RESTORE_CASES[:3])
def test_can_restore_refuses_a_bad_argument_by_name(arguments, kind, argument, given, allowed):
    with pytest.raises(kind) as caught:
        DataParallelTrainer.can_restore(**{"path": "/nowhere", **arguments})
    assert_refused(caught, argument, given, allowed)


@pytest.mark.parametrize(("trainer", "name"), [(DataParallelTrainer, "backend_config"), (TorchTrainer, "torch_config")])
def test_the_frameworks_settings_have_one_type(trainer, name):
    with pytest.raises(TypeError) as caught:
        trainer(loop, **{name: {"backend": "gloo"}})
    assert_refused(caught, name, "dict", "Config or None")


def test_a_changed_configuration_is_checked_again_before_the_run_starts(storage):
    scaling = ScalingConfig(num_workers=1)
    scaling.num_workers = -1
    with pytest.raises(ValueError, match="num_workers is -1; allowed"):
        DataParallelTrainer(loop, scaling_config=scaling, run_config=RunConfig(storage_path=storage)).fit()
    assert processes.descendants() == {}
    assert not os.path.exists(storage)


def test_a_checkpoint_to_resume_from_must_be_there(storage, tmp_path):
    trainer = DataParallelTrainer(
        loop, run_config=RunConfig(storage_path=storage), resume_from_checkpoint=Checkpoint(tmp_path / "gone")
    )
    with pytest.raises(FileNotFoundError, match=r"resume_from_checkpoint is .*gone"):
        trainer.fit()
    assert processes.descendants() == {}


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: train.report({"loss": 1.0}), "report"),
        (train.get_context, "get_context"),
        (train.get_checkpoint, "get_checkpoint"),
        (train.get_all_reported_checkpoints, "get_all_reported_checkpoints"),
        (lambda: prepare_model(__import__("torch").nn.Linear(1, 1)), "get_device|prepare_model"),
        (lambda: prepare_data_loader(__import__("torch").utils.data.DataLoader([1])), "prepare_data_loader"),
    ],
)
def test_what_belongs_into_a_training_function_says_so_elsewhere(call, name):
    with pytest.raises(RuntimeError, match=rf"({name})\(\) was called outside of a training function"):
        call()


def test_paths_with_a_home_and_from_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("HEADWAY_STORAGE", raising=False)
    monkeypatch.delenv("RAY_STORAGE", raising=False)
    assert RunConfig().storage_path == f"{tmp_path}/headway_results"
    assert RunConfig(storage_path="~/x").storage_path == f"{tmp_path}/x"
    monkeypatch.setenv("RAY_STORAGE", "/from/ray")
    assert RunConfig().storage_path == "/from/ray"
    monkeypatch.setenv("HEADWAY_STORAGE", "/from/headway")
    assert RunConfig().storage_path == "/from/headway"


@pytest.mark.parametrize("given", [{"checkpoint_frequency": 2}, {"checkpoint_at_end": True}])
def test_a_trainer_of_a_training_function_makes_no_checkpoints_of_its_own(given):
    config = RunConfig(checkpoint_config=CheckpointConfig(**given))
    with pytest.raises(ValueError, match=f"CheckpointConfig.{next(iter(given))} is .* allowed: the default"):
        DataParallelTrainer(lambda: None, run_config=config)

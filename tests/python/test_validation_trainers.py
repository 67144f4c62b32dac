"""Trainers within a validation function: guests of the driver, with its factory and its ledger."""

import os
import signal
import sys
import tempfile
from pathlib import Path

import headway
import hearing
import processes
import pytest
from headway import train
from headway.train import DataParallelTrainer, RunConfig, ScalingConfig, ValidationConfig


def report_value(value):
    directory = tempfile.mkdtemp()
    Path(directory, "value").write_text(str(value))
    checkpoint = train.Checkpoint.from_directory(directory)
    train.report({"factory": os.getppid()}, checkpoint, delete_local_checkpoint_after_upload=True, validation=True)


def loop():
    report_value(4)


def kept(result):
    return [metrics for _, metrics in result.best_checkpoints]


def value_of(checkpoint):
    with checkpoint.as_directory() as directory:
        return int(Path(directory, "value").read_text())


def test_a_checkpoint_is_validated_by_several_workers_of_the_same_factory(fit, tmp_path):
    nested = str(tmp_path / "nested")

    def ranks(config):
        context = train.get_context()
        part = value_of(config["checkpoint"]) + context.get_world_rank()
        train.report({"part": part, "size": context.get_world_size(), "nested_factory": os.getppid()})
        return part

    def validate(checkpoint):
        result = DataParallelTrainer(
            ranks,
            train_loop_config={"checkpoint": checkpoint},
            scaling_config=ScalingConfig(num_workers=3),
            run_config=RunConfig(name="validation", storage_path=nested),
        ).fit()
        return {name: result.metrics[name] for name in ("part", "size", "nested_factory")}

    metrics = kept(fit(loop, workers=1, validation_config=ValidationConfig(validate)))[0]
    assert (metrics["part"], metrics["size"]) == (4, 3)
    assert metrics["nested_factory"] == metrics["factory"]
    assert train.Result.from_path(f"{nested}/validation").metrics["size"] == 3


def test_a_torch_trainer_validates(fit_torch, tmp_path):
    nested = str(tmp_path / "nested")

    def ranks(config):
        import torch
        import torch.distributed

        rank = train.get_context().get_world_rank()
        total = torch.tensor(float(value_of(config["checkpoint"]) + rank))
        torch.distributed.all_reduce(total)
        placeholder = train.get_context().get_storage().build_checkpoint_path_from_name("placeholder")
        train.report(
            {"score": total.item()},
            checkpoint=train.Checkpoint(placeholder),
            checkpoint_upload_mode=train.CheckpointUploadMode.NO_UPLOAD,
        )

    def validate(checkpoint, config):
        from headway.train.torch import TorchTrainer

        trainer = TorchTrainer(
            ranks,
            train_loop_config={"checkpoint": checkpoint},
            scaling_config=ScalingConfig(num_workers=2),
            run_config=RunConfig(name=f"{config['run']}_validation", storage_path=nested),
        )
        return trainer.fit().metrics  # Its own times and configuration are not the checkpoint's.

    def train_loop():
        checkpoint = train.Checkpoint.from_dict({})
        directory = checkpoint.to_directory()
        Path(directory, "value").write_text("4")
        name = train.get_context().get_experiment_name()
        asked = {"validate_fn": validate, "validate_config": {"run": name}}
        train.report({}, train.Checkpoint(directory), delete_local_checkpoint_after_upload=True, **asked)

    assert kept(fit_torch(train_loop, workers=1, name="outer")) == [{"score": 9.0}]


def test_one_ledger_for_both(fit, tmp_path):
    headway.shutdown()
    headway.init(resources={"seat": 1})
    over = str(tmp_path / "over")
    nested = str(tmp_path / "nested")

    def outer():
        report_value(1)
        Path(over).touch()

    def ranks():
        train.report({"after_the_training": os.path.exists(over)})

    def validate(checkpoint):
        free = headway.available_resources()["seat"]
        trainer = DataParallelTrainer(
            ranks,
            scaling_config=ScalingConfig(num_workers=1, resources_per_worker={"seat": 1}),
            run_config=RunConfig(storage_path=nested),
        )
        after = trainer.fit().metrics["after_the_training"]
        return {"total": headway.cluster_resources()["seat"], "free": free, "after": after}

    seat = ScalingConfig(num_workers=1, resources_per_worker={"seat": 1})
    result = fit(outer, validation_config=ValidationConfig(validate), scaling_config=seat)
    assert {name: kept(result)[0][name] for name in ("total", "after")} == {"total": 1, "after": True}
    assert headway.available_resources()["seat"] == 1
    headway.shutdown()


def test_what_can_never_be_had_is_refused_there_too(fit, capsys, tmp_path):
    nested = str(tmp_path / "nested")

    def validate(checkpoint):
        scaling = ScalingConfig(num_workers=1, resources_per_worker={"no such": 1})
        DataParallelTrainer(print, scaling_config=scaling, run_config=RunConfig(storage_path=nested)).fit()

    fit(loop, workers=1, validation_config=ValidationConfig(validate))
    assert "ValueError: 1 worker with {no such: 1} each" in capsys.readouterr().err


def test_a_trainer_that_has_to_wait_says_so(fit, tmp_path, a_machine):
    gate, nested = str(tmp_path / "gate"), str(tmp_path / "nested")
    os.mkfifo(gate)

    def outer():
        report_value(1)
        with open(gate) as told:  # It holds what is waited for until then.
            train.report({"told": told.read()})

    def tell(text):
        with open(gate, "w") as file:
            file.write(text)

    def validate(checkpoint):
        sys.stderr = hearing.Ear("wait for other runs to end", tell)
        scaling = ScalingConfig(num_workers=1, resources_per_worker={"seat": 2})
        return (
            DataParallelTrainer(
                lambda: train.report({"ran": True}), scaling_config=scaling, run_config=RunConfig(storage_path=nested)
            )
            .fit()
            .metrics
        )

    seat = ScalingConfig(num_workers=1, resources_per_worker={"seat": 1})
    result = fit(outer, validation_config=ValidationConfig(validate), scaling_config=seat)
    assert "1 worker with {seat: 2} each wait for other runs to end: there is" in result.metrics["told"]
    assert kept(result)[0]["ran"]


@pytest.fixture
def a_machine():
    """With made-up resources."""
    headway.shutdown()
    headway.init(num_cpus=4, labels={"region": "us"}, resources={"seat": 2})
    yield
    headway.shutdown()


@pytest.mark.parametrize(
    ("scaling", "words"),
    [
        ({"label_selector": {"region": "eu"}}, "on nodes with {region: eu} can never be placed"),
        ({"trainer_resources": {"CPU": 5}}, "{CPU: 5} beside them (trainer_resources) can never be placed"),
        ({"num_workers": 2, "placement_strategy": "STRICT_SPREAD"}, "2 workers on a node each can never be placed"),
    ],
)
def test_where_its_workers_may_be_counts_there_too(fit, capsys, tmp_path, a_machine, scaling, words):
    nested = str(tmp_path / "nested")

    def validate(checkpoint):
        run = RunConfig(storage_path=nested)
        DataParallelTrainer(lambda: None, scaling_config=ScalingConfig(**scaling), run_config=run).fit()
        return {"ran": True}

    result = fit(loop, workers=1, validation_config=ValidationConfig(validate))
    assert "ran" not in kept(result)[0]
    assert words in capsys.readouterr().err


def test_an_elastic_group_there_has_as_many_workers_as_there_is_capacity_for(fit, tmp_path, a_machine):
    nested = str(tmp_path / "nested")

    def ranks():
        train.report({"size": train.get_context().get_world_size()})

    def validate(checkpoint):
        scaling = ScalingConfig(num_workers=(1, 4), resources_per_worker={"seat": 1}, label_selector={"region": "us"})
        return (
            DataParallelTrainer(ranks, scaling_config=scaling, run_config=RunConfig(storage_path=nested)).fit().metrics
        )

    assert kept(fit(loop, workers=1, validation_config=ValidationConfig(validate)))[0]["size"] == 2


def test_variables_of_its_own_come_to_workers_of_the_same_factory(fit, tmp_path):
    nested = str(tmp_path / "nested")

    def ranks():
        train.report({"variable": os.environ["HEADWAY_TEST_VARIABLE"], "nested_factory": os.getppid()})

    def validate(checkpoint):
        run = RunConfig(storage_path=nested, worker_runtime_env={"env_vars": {"HEADWAY_TEST_VARIABLE": "nested"}})
        return DataParallelTrainer(ranks, run_config=run).fit().metrics

    metrics = kept(fit(loop, workers=1, validation_config=ValidationConfig(validate)))[0]
    assert metrics["variable"] == "nested"
    assert metrics["nested_factory"] == metrics["factory"]


def test_packages_of_its_own_are_refused(fit, capsys, tmp_path):
    nested = str(tmp_path / "nested")

    def validate(checkpoint):
        run = RunConfig(storage_path=nested, worker_runtime_env={"pip": ["some-package"]})
        DataParallelTrainer(lambda: None, run_config=run).fit()

    fit(loop, workers=1, validation_config=ValidationConfig(validate))
    words = (
        "ValueError: RunConfig.worker_runtime_env['pip'] is ['some-package'] in a validation function; allowed there"
    )
    assert words in capsys.readouterr().err


def test_workers_of_a_validation_that_is_killed_are_gone(fit, tmp_path):
    pids, nested = tmp_path / "pids", str(tmp_path / "nested")

    def ranks(config):
        train.report({})  # All are there.
        with open(config["pids"], "a") as file:
            file.write(f"{os.getpid()}\n")
        if train.get_context().get_world_rank() == 0:
            os.kill(config["guest"], signal.SIGKILL)
        signal.pause()

    def validate(checkpoint):
        DataParallelTrainer(
            ranks,
            train_loop_config={"pids": str(pids), "guest": os.getpid()},
            scaling_config=ScalingConfig(num_workers=2),
            run_config=RunConfig(storage_path=nested),
        ).fit()

    config = ValidationConfig(validate, ray_remote_kwargs={"max_retries": 0})
    result = fit(loop, workers=1, validation_config=config)
    assert list(kept(result)[0]) == ["factory"]
    seen = {int(pid) for pid in pids.read_text().split()}
    assert processes.wait_gone(lambda: seen & processes.descendants().keys(), 10) == {}


def test_the_driver_is_killed_and_nothing_is_left(script):
    script.start("""
        import os, signal, tempfile
        from headway import train

        def ranks():
            print("nested rank", flush=True)
            signal.pause()

        def validate(checkpoint):
            train.DataParallelTrainer(ranks, scaling_config=train.ScalingConfig(num_workers=2)).fit()

        def loop():
            with tempfile.TemporaryDirectory() as directory:
                train.report({}, train.Checkpoint(directory), validation=True)

        train.DataParallelTrainer(loop, validation_config=train.ValidationConfig(validate)).fit()
    """)
    script.wait_for("nested rank", 2)
    os.kill(script.process.pid, signal.SIGKILL)
    script.finish()
    assert processes.wait_gone(script.processes, 10) == {}


@pytest.mark.parametrize("again", [False, True])
def test_headway_is_started_there_already(fit, capsys, again):
    def validate(checkpoint):
        headway.init(num_cpus=1, ignore_reinit_error=again)
        return {"started": headway.is_initialized()}

    result = fit(loop, workers=1, validation_config=ValidationConfig(validate))
    assert kept(result)[0].get("started") is (True if again else None)
    assert ("headway is started already" in capsys.readouterr().err) is not again

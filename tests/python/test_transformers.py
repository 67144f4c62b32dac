"""Transformers' Trainer in a training function: the same numbers as by itself, checkpoints that it
resumes from, recovery.
"""

import json
import os
import subprocess
import sys

import golden
import headway
import pytest
from conftest import PACKAGES
from headway import data, train

pytestmark = pytest.mark.heavy


@pytest.fixture(scope="module", autouse=True)
def program():
    """transformers_program.py, imported here so that worker factories import Transformers too."""
    headway.shutdown()
    import transformers_program

    yield transformers_program
    headway.shutdown()


@pytest.fixture(scope="module")
def losses_alone(program, tmp_path_factory):
    """The losses of the same training under torchrun, by epoch."""
    folder = tmp_path_factory.mktemp("alone")
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    done = subprocess.run(
        [*torchrun, program.__file__, str(folder)],
        capture_output=True,
        text=True,
        timeout=110,
        env={**os.environ, "PYTHONPATH": PACKAGES, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads((folder / "losses.json").read_text())


def losses(result):
    return result.metrics_dataframe["loss"].tolist()


def test_the_losses_are_those_of_the_trainer_alone(program, losses_alone, fit_torch):
    result = fit_torch(program.loop, config={})
    assert losses(result) == losses_alone
    assert losses_alone == golden.losses("transformers"), "as they were when this was written"
    assert result.return_value == (2, program.EPOCHS * program.STEPS_PER_EPOCH)
    assert result.metrics["step"] == 12
    assert result.metrics["epoch"] == 3
    with result.checkpoint.as_directory() as folder:
        assert os.listdir(os.path.join(folder)).count("checkpoint") == 1
        there = set(os.listdir(os.path.join(folder, "checkpoint")))
    assert {"model.safetensors", "optimizer.pt", "rng_state_0.pth", "rng_state_1.pth", "trainer_state.json"} <= there


def test_a_rank_that_is_killed_within_an_epoch_costs_that_epoch_alone(program, losses_alone, fit_torch):
    result = fit_torch(program.loop, config={"kill": 6}, max_failures=1)
    assert result.metrics_dataframe["step"].tolist() == [4, 8, 12]
    assert losses(result) == pytest.approx(losses_alone, rel=1e-6)


def test_a_checkpoint_is_resumed_with_another_number_of_ranks(program, fit_torch):
    first = fit_torch(program.loop, config={"arguments": {"epochs": 2}})
    result = fit_torch(program.loop, 1, config={}, resume_from_checkpoint=first.checkpoint)
    assert result.return_value[0] == 1
    assert result.metrics["step"] > first.metrics["step"]
    assert result.metrics["loss"] < first.metrics["loss"]


def test_checkpoints_that_the_trainer_deletes_stay_in_storage(program, fit_torch, tmp_path):
    folder = str(tmp_path / "output")
    result = fit_torch(program.loop, config={"folder": folder, "arguments": {"save_total_limit": 1}})
    assert os.listdir(folder) == ["checkpoint-12"]
    assert len(result.best_checkpoints) == 3


@pytest.mark.fork_only
def test_the_factory_imports_the_trainer(fit_torch):
    def loop():
        there = "transformers.trainer" in sys.modules
        from headway.train.huggingface.transformers import ReportCallback

        assert ReportCallback is not None
        return there

    assert fit_torch(loop).return_value


def test_the_loop_runs_in_this_process_too(program, fit_torch, tmp_path):
    result = fit_torch(program.loop, 0, config={"folder": str(tmp_path), "arguments": {"epochs": 1}})
    assert result.return_value == (1, 8)


def test_a_trainer_that_trains_alone_is_refused(program, fit_torch):
    def loop():
        from headway.train.huggingface.transformers import prepare_trainer

        with pytest.raises(TypeError, match=r"trainer is 3 \(int\); allowed: a transformers.Trainer"):
            prepare_trainer(3)
        alone = program.transformers.Trainer(program.model(), program.arguments("output"))
        os.environ["ACCELERATE_USE_CPU"] = "false"
        alone = program.transformers.Trainer(program.model(), program.arguments("output"))
        with pytest.raises(RuntimeError, match="this Trainer trains with 1 of the run's 2 ranks"):
            prepare_trainer(alone)
        with pytest.raises(RuntimeError, match="Accelerate trains with 1 of the run's 2 ranks"):
            train.report({})

    with pytest.raises(train.WorkerGroupError, match="Accelerate trains with 1 of the run's 2 ranks"):
        fit_torch(loop)


def test_it_trains_on_a_rank_s_share_of_a_data_set(program, fit_torch):
    rows = data.from_huggingface(program.reviews())
    datasets = {"train": rows, "evaluation": rows.limit(16)}
    metrics = fit_torch(program.loop_over_shards, datasets=datasets).metrics
    assert metrics["eval_loss"] > 0
    assert metrics["step"] == 2 * program.STEPS_PER_EPOCH

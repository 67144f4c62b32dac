"""DeepSpeed in a training function: the same numbers as by itself, with nothing built; checkpoints
of all ranks that any number of ranks resumes from; with Lightning, Transformers and Accelerate.
"""

import json
import os
import subprocess
import sys

import golden
import headway
import pytest
from conftest import PACKAGES
from headway import train

pytestmark = pytest.mark.heavy


@pytest.fixture(scope="module", autouse=True)
def program(tmp_path_factory):
    """deepspeed_program.py; imported here, so that worker factories import DeepSpeed too."""
    headway.shutdown()
    os.environ["TORCH_EXTENSIONS_DIR"] = str(tmp_path_factory.mktemp("extensions"))
    import deepspeed_program

    yield deepspeed_program
    assert os.listdir(os.environ.pop("TORCH_EXTENSIONS_DIR")) == [], "no rank has compiled anything"
    headway.shutdown()


def by_step(result):
    """The last reported loss of each step."""
    return result.metrics_dataframe.groupby("step")["loss"].last().tolist()


@pytest.fixture(scope="module")
def losses_alone(program, tmp_path_factory):
    """The losses of two ranks that set DeepSpeed up themselves, in single and in half precision."""
    path = tmp_path_factory.mktemp("alone") / "losses.json"
    environment = {**os.environ, "PYTHONPATH": PACKAGES}
    command = [sys.executable, program.__file__, "2", path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=110, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(path.read_text())


def test_the_losses_are_those_of_deepspeed_alone(program, losses_alone, fit_torch):
    assert by_step(fit_torch(program.loop, config={"stage": 2})) == losses_alone["fp32"]
    assert losses_alone["fp32"] == golden.losses("deepspeed"), "as they were when this was written"


SHARDS = {
    1: {"mp_rank_00_model_states.pt", "zero_pp_rank_{}_mp_rank_00_optim_states.pt"},
    3: {"zero_pp_rank_{}_mp_rank_00_model_states.pt", "zero_pp_rank_{}_mp_rank_00_optim_states.pt"},
}


@pytest.mark.parametrize("stage", SHARDS)
def test_a_killed_rank_costs_the_steps_since_the_newest_checkpoint_which_has_all_shards(program, fit_torch, stage):
    result = fit_torch(program.loop, config={"stage": stage, "kill": 6}, max_failures=1)
    assert by_step(result) == golden.losses("deepspeed")
    assert result.return_value == (2, program.STEPS - 4)
    expected = {name.format(rank) for name in SHARDS[stage] for rank in (0, 1)}
    assert set(os.listdir(os.path.join(result.checkpoint.path, "global_step12"))) == expected


@pytest.mark.parametrize("stage", [2, 3])
def test_a_checkpoint_is_resumed_with_other_numbers_of_ranks(program, fit_torch, stage):
    first = fit_torch(program.loop, config={"stage": stage, "steps": 4})
    for workers in (1, 3):
        result = fit_torch(program.loop, workers, config={"stage": stage}, resume_from_checkpoint=first.checkpoint)
        assert result.return_value == (workers, program.STEPS - 4)
        assert by_step(result) == pytest.approx(golden.kept("deepspeed")[4:], rel=1e-4)
    again = fit_torch(program.loop, config={"stage": stage, "steps": 16}, resume_from_checkpoint=result.checkpoint)
    assert again.return_value == (2, 4), "a run that was resumed saves as any other"


@pytest.mark.parametrize("stage", [1, 3])
def test_half_precision_is_that_of_deepspeed_alone_and_resumes_with_any_number_of_ranks(
    program, losses_alone, fit_torch, stage
):
    config = {"stage": stage, "bf16": True}
    first = fit_torch(program.loop, config={**config, "steps": 8, "kill": 6}, max_failures=1)
    assert by_step(first) == pytest.approx(losses_alone["bf16"][:8], rel=1e-3), "stages may round otherwise"
    assert losses_alone["bf16"] != losses_alone["fp32"]
    shards = [name for name in os.listdir(os.path.join(first.checkpoint.path, "global_step8")) if "optim" in name]
    assert len(shards) == 2, shards
    for workers in (1, 3):
        result = fit_torch(program.loop, workers, config=config, resume_from_checkpoint=first.checkpoint)
        assert result.return_value == (workers, program.STEPS - 8)
        assert by_step(result) == pytest.approx(losses_alone["bf16"][8:], rel=1e-2)


def test_lightning_shards_resumes_and_changes_the_number_of_ranks(program, fit_torch):
    import lightning_program

    config = {"strategy": "deepspeed 3"}
    result = fit_torch(lightning_program.loop, config={**config, "kill": 12, "epochs": 2}, max_failures=1)
    losses = result.metrics_dataframe["loss"].tolist()
    plain = fit_torch(lightning_program.loop, config={"epochs": 2})
    assert losses == pytest.approx(plain.metrics_dataframe["loss"].tolist(), rel=1e-4), "those of DDP"
    with result.checkpoint.as_directory() as folder:
        shards = os.listdir(os.path.join(folder, "checkpoint.ckpt", "checkpoint"))
    assert len([name for name in shards if "optim_states" in name]) == 2
    other = fit_torch(lightning_program.loop, 1, config=config, resume_from_checkpoint=result.checkpoint)
    assert other.return_value == (1, 16 + 16)
    assert other.metrics["loss"] < losses[-1]


def accelerated(config):
    """A script of Accelerate with its plugin for DeepSpeed; returns its processes."""
    import tempfile

    import deepspeed_program
    import torch
    from accelerate import Accelerator, DeepSpeedPlugin

    torch.manual_seed(0)
    ranks = train.get_context().get_world_size()
    accelerator = Accelerator(deepspeed_plugin=DeepSpeedPlugin(hf_ds_config=deepspeed_program.config_of(2, ranks)))
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.05)
    model, optimizer = accelerator.prepare(model, optimizer)
    if checkpoint := train.get_checkpoint():
        with checkpoint.as_directory() as folder:
            accelerator.load_state(folder)
    inputs, targets = deepspeed_program.share(accelerator.process_index, accelerator.num_processes)
    for _ in range(config["steps"]):
        loss = torch.nn.functional.mse_loss(model(inputs), targets)
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
    mean = accelerator.gather(loss.detach().reshape(1)).mean().item()
    with tempfile.TemporaryDirectory() as folder:
        accelerator.save_state(folder)
        train.report({"loss": mean}, train.Checkpoint.from_directory(folder))
    return accelerator.num_processes, str(accelerator.distributed_type)


def test_accelerate_trains_with_its_plugin_and_resumes_with_another_number_of_ranks(fit_torch):
    first = fit_torch(accelerated, config={"steps": 3})
    assert first.return_value == (2, "DistributedType.DEEPSPEED")
    result = fit_torch(accelerated, 1, config={"steps": 3}, resume_from_checkpoint=first.checkpoint)
    whole = fit_torch(accelerated, config={"steps": 6})
    assert result.return_value[0] == 1
    assert result.metrics["loss"] == pytest.approx(whole.metrics["loss"], rel=1e-4)


def test_transformers_trains_with_its_argument_and_resumes_with_another_number_of_ranks(fit_torch):
    import transformers_program

    deepspeed = {
        "train_micro_batch_size_per_gpu": "auto",
        "zero_optimization": {"stage": 2},
        "zero_allow_untested_optimizer": True,
    }
    arguments = {"deepspeed": deepspeed, "max_grad_norm": 0.0}
    first = fit_torch(transformers_program.loop, config={"arguments": {**arguments, "epochs": 1}})
    assert first.return_value == (2, transformers_program.STEPS_PER_EPOCH)
    saved = os.path.join(first.checkpoint.path, "checkpoint", f"global_step{transformers_program.STEPS_PER_EPOCH}")
    assert len([name for name in os.listdir(saved) if "optim_states" in name]) == 2, "a shard of each rank"
    config = {"arguments": {**arguments, "epochs": 2}}
    result = fit_torch(transformers_program.loop, 1, config=config, resume_from_checkpoint=first.checkpoint)
    assert result.return_value[0] == 1
    assert result.metrics["step"] > first.metrics["step"]
    assert result.metrics["loss"] < first.metrics["loss"]

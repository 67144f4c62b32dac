"""Accelerate's scripts in a training function: all ranks train together, or the run fails."""

import json
import os
import signal
import subprocess
import sys
import tempfile

import golden
import headway
import pytest
import torch
from conftest import PACKAGES
from headway import train

pytestmark = pytest.mark.heavy


@pytest.fixture(scope="module", autouse=True)
def program():
    """accelerate_program.py, imported here so that worker factories import Accelerate too."""
    headway.shutdown()
    import accelerate_program

    return accelerate_program


@pytest.fixture(scope="module")
def weights_alone(program, tmp_path_factory):
    """The weights of the same script under torchrun."""
    path = tmp_path_factory.mktemp("alone") / "weights.json"
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    environment = {**os.environ, "PYTHONPATH": PACKAGES, "OMP_NUM_THREADS": "1", "ACCELERATE_USE_CPU": "true"}
    command = [*torchrun, program.__file__, path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=110, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(path.read_text())


def test_the_weights_are_those_of_accelerate_alone(program, fit_torch, weights_alone):
    assert fit_torch(program.script, 2).return_value[2] == weights_alone
    assert weights_alone[0] == golden.losses("accelerate"), "as they were when this was written"


@pytest.mark.parametrize("workers", [0, 1, 2])
def test_an_unchanged_script_trains_with_all_ranks(program, fit_torch, workers):
    ranks = max(1, workers)
    processes, batches, weights, device = fit_torch(program.script, workers).return_value
    assert (processes, batches, device) == (ranks, 8 // ranks, "cpu")
    assert len(weights) == ranks
    assert all(row == weights[0] for row in weights), "gradients are shared"


def resumable(config):
    """Rank 1 is killed within the epoch that the configuration names, once."""
    from accelerate import Accelerator
    from headway.train.torch import load_checkpoint, save_checkpoint

    torch.manual_seed(0)
    accelerator = Accelerator()
    inputs = torch.randn(64, 4)
    data = torch.utils.data.TensorDataset(inputs, inputs.sum(dim=1, keepdim=True))
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    checkpoint = train.get_checkpoint()
    saved = load_checkpoint(checkpoint, model=model, optimizer=optimizer)
    loader = torch.utils.data.DataLoader(data, batch_size=8)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for epoch in range(saved.get("epoch", -1) + 1, 4):
        for step, (batch, targets) in enumerate(loader):
            if (epoch, step) == (config.get("kill"), 1) and checkpoint is None and not accelerator.is_main_process:
                os.kill(os.getpid(), signal.SIGKILL)
            loss = torch.nn.functional.mse_loss(model(batch), targets)
            optimizer.zero_grad()
            accelerator.backward(loss)
            optimizer.step()
        with tempfile.TemporaryDirectory() as folder:
            state = save_checkpoint(folder, model=model, optimizer=optimizer.optimizer, epoch=epoch)
            train.report({"epoch": epoch, "loss": accelerator.reduce(loss.detach(), "mean").item()}, checkpoint=state)
    return accelerator.unwrap_model(model).weight.tolist()


def test_a_rank_that_is_killed_within_an_epoch_costs_that_epoch_alone(fit_torch):
    whole = fit_torch(resumable, config={})
    killed = fit_torch(resumable, config={"kill": 2}, max_failures=1)
    assert killed.metrics_dataframe["epoch"].tolist() == [0, 1, 2, 3]
    assert killed.metrics_dataframe["loss"].tolist() == whole.metrics_dataframe["loss"].tolist()
    assert killed.return_value == whole.return_value


def bare_state_first():
    from accelerate import Accelerator, PartialState

    PartialState()
    Accelerator()


def test_a_rank_that_trained_alone_fails_the_run(fit_torch):
    with pytest.raises(train.WorkerGroupError, match=r"with 1 of the run's 2 ranks.*PartialState\(cpu=True\)"):
        fit_torch(bare_state_first)


def test_a_rank_that_trains_alone_fails_at_its_first_report(fit_torch):
    def loop():
        bare_state_first()
        train.report({"epoch": 0})
        raise AssertionError("a report of a rank that trains alone")

    with pytest.raises(train.WorkerGroupError, match="Accelerate trains with 1 of the run's 2 ranks"):
        fit_torch(loop)


def test_who_only_prints_by_accelerate_is_left_alone(fit_torch):
    def loop():
        from accelerate import PartialState

        PartialState()
        train.report({"epoch": 0})

    assert fit_torch(loop).metrics["epoch"] == 0


def test_an_accelerator_that_was_made_before_the_ranks_is_refused(fit_torch):
    """Each rank would have a copy that knows of no other."""
    from accelerate import Accelerator

    accelerator = Accelerator()

    def loop():
        return accelerator.prepare(torch.nn.Linear(1, 1))

    with pytest.raises(TypeError, match=r"variable 'accelerator'.*was made before there were ranks.*would train alone"):
        fit_torch(loop, 2)

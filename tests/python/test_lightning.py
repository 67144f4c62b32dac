"""Lightning in a training function: the same numbers as by itself, whole checkpoints, recovery."""

import json
import os
import subprocess
import sys
from pathlib import Path

import bad_calls
import golden
import headway
import pytest
from conftest import PACKAGES
from headway import train

import cluster

pytestmark = pytest.mark.heavy


@pytest.fixture(scope="module", autouse=True)
def program():
    """lightning_program.py, imported here so that worker factories import Lightning too."""
    headway.shutdown()
    import lightning_program

    yield lightning_program
    headway.shutdown()


@pytest.fixture(scope="module")
def losses_alone(program, tmp_path_factory):
    """The losses of Lightning's own launcher, by epoch."""
    path = tmp_path_factory.mktemp("alone") / "losses.json"
    command = [sys.executable, program.__file__, str(path)]
    environment = {**os.environ, "PYTHONPATH": PACKAGES}
    done = subprocess.run(command, capture_output=True, text=True, timeout=110, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(path.read_text())


def by_epoch(result):
    """The last reported loss of each epoch."""
    frame = result.metrics_dataframe
    return frame[frame["step"] % 8 == 0].groupby("epoch")["loss"].last().tolist()


def files(result):
    with result.checkpoint.as_directory() as folder:
        found = [path for path in Path(folder).rglob("*") if path.is_file() and not path.name.startswith(".headway")]
        return {str(path.relative_to(folder)) for path in found}


def test_the_losses_are_those_of_lightning_alone(program, losses_alone, fit_torch):
    result = fit_torch(program.loop, config={})
    assert by_epoch(result) == losses_alone
    assert losses_alone == golden.losses("lightning"), "as they were when this was written"
    assert files(result) == {"checkpoint.ckpt"}
    assert result.return_value == (2, program.EPOCHS * program.STEPS_PER_EPOCH)


SHARDS = {"checkpoint.ckpt/.metadata", "checkpoint.ckpt/__0_0.distcp", "checkpoint.ckpt/__1_0.distcp"}
WRITTEN = {
    "ddp": {"checkpoint.ckpt"},
    "fsdp full": {"checkpoint.ckpt"},
    "fsdp sharded": {*SHARDS, "checkpoint.ckpt/meta.pt"},
}


@pytest.mark.parametrize("strategy", WRITTEN)
def test_a_rank_that_is_killed_within_an_epoch_costs_that_epoch_alone(program, losses_alone, fit_torch, strategy):
    result = fit_torch(program.loop, config={"strategy": strategy, "kill": 12}, max_failures=1)
    assert by_epoch(result) == pytest.approx(losses_alone, rel=0 if strategy == "ddp" else 1e-6)
    frame = result.metrics_dataframe
    assert frame["step"].tolist() == [8, 16, 24]
    assert files(result) == WRITTEN[strategy]


def test_reports_every_so_many_steps_and_resumes_within_an_epoch(program, fit_torch):
    result = fit_torch(program.loop, config={"callback": {"every_n_train_steps": 3}, "kill": 14}, max_failures=1)
    steps = result.metrics_dataframe["step"].tolist()
    assert steps == [3, 6, 8, 9, 12, 15, 16, 18, 21, 24], "those of both attempts; 12 is not repeated"
    assert result.return_value == (2, 24)


def validate(checkpoint):
    with checkpoint.as_directory() as folder:
        return {"size": os.path.getsize(os.path.join(folder, "checkpoint.ckpt"))}


def test_checkpoints_are_stored_while_training_continues_and_validated(program, fit_torch):
    asynchronous = {"checkpoint_upload_mode": train.CheckpointUploadMode.ASYNC, "validation": True}
    result = fit_torch(
        program.loop, config={"callback": asynchronous}, validation_config=train.ValidationConfig(validate)
    )
    sizes = [metrics["size"] for _, metrics in result.best_checkpoints]
    assert len(sizes) == program.EPOCHS
    assert min(sizes) > 1000


@pytest.mark.parametrize("strategy", WRITTEN)
def test_a_checkpoint_is_resumed_with_other_numbers_of_ranks(program, fit_torch, strategy):
    first = fit_torch(program.loop, config={"strategy": strategy, "epochs": 2})
    for workers, more_steps in ((1, 16), (3, 6)):
        config = {"strategy": strategy, "epochs": 3}
        result = fit_torch(program.loop, workers, config=config, resume_from_checkpoint=first.checkpoint)
        assert result.return_value == (workers, 16 + more_steps)
        assert result.metrics["loss"] < first.metrics["loss"]


@pytest.mark.fork_only
def test_the_factory_imports_lightning_and_ranks_know_who_they_are(program, fit_torch):
    def loop():
        import lightning_utilities.core.rank_zero as rank_zero

        first = "lightning.pytorch" in sys.modules, rank_zero.rank_zero_only.rank
        train.report({"right": float(first == (True, train.get_context().get_world_rank()))}, reduce="min")

    fit_torch(program.loop, config={"epochs": 1})
    assert fit_torch(loop).metrics["right"] == 1


TWO_NODES = """
    import sys
    sys.path.insert(0, TESTS)
    import lightning_program
    from headway.train.torch import TorchTrainer

    wait_for_nodes(2)
    result = TorchTrainer(
        lightning_program.loop,
        train_loop_config={"strategy": "fsdp sharded", "kill": 12},
        scaling_config=train.ScalingConfig(num_workers=2, resources_per_worker={"CPU": 1}),
        run_config=train.RunConfig(name="run", storage_path=STORAGE, failure_config=train.FailureConfig(1)),
    ).fit()
    print("RESULT", result.return_value, result.metrics_dataframe["step"].tolist())
    print("FILES", sorted(os.listdir(os.path.join(result.checkpoint.path, "checkpoint.ckpt"))))
"""


@cluster.needs_tls
def test_sharded_checkpoints_have_the_shards_of_all_nodes(program, nodes, tmp_path):
    folder = os.path.dirname(program.__file__)
    nodes.start(TWO_NODES.replace("STORAGE", repr(str(tmp_path / "storage"))).replace("TESTS", repr(folder)))
    assert nodes.agent().join() == "node-1"
    status, output = nodes.script.finish(110)
    assert status == 0, output
    assert "RESULT (2, 24) [8, 16, 24]" in output
    assert "FILES ['.metadata', '__0_0.distcp', '__1_0.distcp', 'meta.pt']" in output


def test_a_trainer_that_trains_otherwise_is_refused(program, fit_torch):
    from headway.train import lightning as ours

    def loop():
        import lightning

        def trainer(**arguments):
            return lightning.Trainer(accelerator="cpu", **program.QUIET, **arguments)

        environment = ours.LightningEnvironment()
        with pytest.raises(RuntimeError, match="Invalid strategy class: DDPStrategy; allowed: "):
            ours.prepare_trainer(trainer(strategy="ddp", plugins=[environment]))
        with pytest.raises(RuntimeError, match="Invalid cluster environment plugin: LightningEnvironment; allowed"):
            ours.prepare_trainer(trainer(strategy=ours.DDPStrategy()))
        alone = trainer(max_epochs=1, callbacks=[ours.ReportCallback()])
        with pytest.raises(RuntimeError, match="this Trainer trains with 1 of the run's 2 ranks"):
            alone.fit(*program.model_and_loader())
        assert isinstance(ours.DDPStrategy(), lightning.pytorch.strategies.DDPStrategy)
        train.report({"refused": True})

    assert fit_torch(loop).metrics["refused"]


def test_the_loop_runs_in_this_process_too(program, fit_torch):
    result = fit_torch(program.loop, 0, config={"epochs": 1})
    assert result.return_value == (1, 16)


@pytest.mark.parametrize(("call", "arguments", "kind", "argument", "given", "allowed"), bad_calls.of_lightning())
def test_a_bad_argument_is_refused_by_name(call, arguments, kind, argument, given, allowed):
    with pytest.raises(kind) as caught:
        call(**arguments)
    for words in (argument, given, allowed):
        assert words in str(caught.value)


def test_a_script_for_ray_with_the_other_package(script):
    code, output = script.run(
        """
        import headway
        headway.as_ray()
        import pytorch_lightning as pl
        import torch
        from ray import train
        from ray.train.lightning import (
            RayDDPStrategy, RayLightningEnvironment, RayTrainReportCallback, prepare_trainer
        )
        from ray.train.torch import TorchTrainer

        class Model(pl.LightningModule):
            def __init__(self):
                super().__init__()
                self.layer = torch.nn.Linear(4, 1)

            def training_step(self, batch, index):
                loss = self.layer(batch[0]).square().mean()
                self.log("loss", loss)
                return loss

            def configure_optimizers(self):
                return torch.optim.SGD(self.parameters(), lr=0.1)

        def loop():
            trainer = pl.Trainer(
                max_epochs=2, devices="auto", accelerator="cpu", strategy=RayDDPStrategy(),
                plugins=[RayLightningEnvironment()], callbacks=[RayTrainReportCallback()],
                logger=False, enable_checkpointing=False, enable_progress_bar=False,
            )
            trainer = prepare_trainer(trainer)
            data = torch.utils.data.TensorDataset(torch.ones(64, 4))
            trainer.fit(Model(), torch.utils.data.DataLoader(data, batch_size=8))
            return trainer.world_size, isinstance(trainer.strategy, pl.strategies.DDPStrategy)

        result = TorchTrainer(loop, scaling_config=train.ScalingConfig(num_workers=2)).fit()
        print("GOT", result.return_value, result.metrics["epoch"], result.checkpoint is not None)
        """,
        limit_s=110,
    )
    assert code == 0, output
    assert "GOT (2, True) 1 True" in output

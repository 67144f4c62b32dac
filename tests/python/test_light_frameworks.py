"""Lightning, Transformers and Accelerate, imported by the training function alone: reports,
checkpoints, and a rank that is killed. The factory imports them once, for all tests of this file;
test_lightning.py, test_transformers.py and test_accelerate.py have more.
"""

import os
import signal
import sys
import tempfile

import headway
import pytest
from headway import train
from headway.train.torch import TorchTrainer


@pytest.fixture(scope="module", autouse=True)
def own_factory(tmp_path_factory):
    """It has imported the frameworks before the first test begins."""
    headway.shutdown()
    run = train.RunConfig(storage_path=str(tmp_path_factory.mktemp("first")), verbose=0)
    trainer = TorchTrainer(
        loop, train_loop_config={}, run_config=run, scaling_config=train.ScalingConfig(num_workers=1)
    )
    trainer.fit()
    yield
    headway.shutdown()


def die_once(step, at):
    """Rank 1 is killed at a step of the first attempt."""
    if step == at and train.get_checkpoint() is None and train.get_context().get_world_rank() == 1:
        os.kill(os.getpid(), signal.SIGKILL)


def rows(count):
    import torch

    torch.manual_seed(0)
    inputs = torch.randn(count, 4)
    return torch.utils.data.TensorDataset(inputs, inputs.sum(dim=1, keepdim=True))


def with_lightning():
    import lightning.pytorch as pl
    import torch
    from headway.train.lightning import DDPStrategy, LightningEnvironment, ReportCallback, prepare_trainer

    class Model(pl.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(4, 1)

        def training_step(self, batch, index):
            die_once(self.global_step, 5)
            loss = torch.nn.functional.mse_loss(self.layer(batch[0]), batch[1])
            self.log("loss", loss, on_step=False, on_epoch=True, sync_dist=True)
            return loss

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.1)

    quiet = dict.fromkeys(("logger", "enable_checkpointing", "enable_progress_bar", "enable_model_summary"), False)
    plugins, callbacks = [LightningEnvironment()], [ReportCallback()]
    trainer = pl.Trainer(
        max_epochs=3, accelerator="cpu", strategy=DDPStrategy(), plugins=plugins, callbacks=callbacks, **quiet
    )
    trainer = prepare_trainer(trainer)
    loader = torch.utils.data.DataLoader(rows(64), batch_size=8)
    checkpoint = train.get_checkpoint()
    if checkpoint is None:
        trainer.fit(Model(), loader)
    else:
        with checkpoint.as_directory() as folder:
            trainer.fit(Model(), loader, ckpt_path=f"{folder}/{ReportCallback.CHECKPOINT_NAME}", weights_only=False)
    return trainer.world_size


def with_transformers():
    import transformers
    from headway.train.huggingface.transformers import ReportCallback, prepare_trainer

    class Dies(transformers.TrainerCallback):
        def on_step_begin(self, args, state, control, **kwargs):
            die_once(state.global_step, 5)

    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 8}
    model = transformers.BertForSequenceClassification(transformers.BertConfig(vocab_size=8, **sizes))
    arguments = transformers.TrainingArguments(
        "output", num_train_epochs=3, per_device_train_batch_size=8, logging_strategy="epoch", save_strategy="epoch",
        disable_tqdm=True, report_to=[], learning_rate=0.01, average_tokens_across_devices=False,
    )  # fmt: skip
    texts = [{"input_ids": [2 + number % 2, 4, 5], "labels": number % 2} for number in range(64)]
    trainer = transformers.Trainer(model, arguments, train_dataset=texts, callbacks=[ReportCallback(), Dies()])
    trainer = prepare_trainer(trainer)
    checkpoint = train.get_checkpoint()
    if checkpoint is None:
        trainer.train()
    else:
        with checkpoint.as_directory() as folder:
            trainer.train(resume_from_checkpoint=f"{folder}/{ReportCallback.CHECKPOINT_NAME}")
    return trainer.args.world_size


def with_accelerate():
    import accelerate
    import torch
    from headway.train.torch import load_checkpoint, save_checkpoint

    accelerator = accelerate.Accelerator()
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    saved = load_checkpoint(train.get_checkpoint(), model=model, optimizer=optimizer)
    loader = torch.utils.data.DataLoader(rows(64), batch_size=8)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for epoch in range(saved.get("epoch", -1) + 1, 3):
        for number, (inputs, targets) in enumerate(loader):
            die_once(epoch * len(loader) + number, 5)
            loss = torch.nn.functional.mse_loss(model(inputs), targets)
            optimizer.zero_grad()
            accelerator.backward(loss)
            optimizer.step()
        with tempfile.TemporaryDirectory() as folder:
            state = save_checkpoint(folder, model=model, optimizer=optimizer.optimizer, epoch=epoch)
            train.report({"step": 4 * (epoch + 1), "loss": accelerator.reduce(loss.detach(), "mean")}, checkpoint=state)
    return accelerator.num_processes


def loop(config):
    """Returns the ranks that the framework knows of, and which frameworks were there before the
    function imported them.
    """
    there = [name for name in ("accelerate", "lightning.pytorch", "transformers.trainer") if name in sys.modules]
    trained = {"accelerate": with_accelerate, "lightning": with_lightning, "transformers": with_transformers}
    return trained[config["framework"]]() if config else 0, there


@pytest.mark.parametrize("framework", ["accelerate", "lightning", "transformers"])
def test_a_rank_that_is_killed_costs_its_epoch_and_no_import(framework, fit_torch):
    result = fit_torch(loop, config={"framework": framework}, max_failures=1)
    frame = result.metrics_dataframe
    assert frame["step"].tolist() == [4, 8, 12]
    assert frame["loss"].iloc[-1] < frame["loss"].iloc[0]
    assert result.checkpoint is not None
    ranks, there = result.return_value
    assert ranks == 2
    if os.environ.get("HEADWAY_WORKER_START") != "exec":
        assert there == ["accelerate", "lightning.pytorch", "transformers.trainer"]

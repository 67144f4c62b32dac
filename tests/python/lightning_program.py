"""A training with Lightning: as a script by Lightning alone (lightning_program.py FILE), and as a
training function of Headway's.
"""

import json
import os
import signal
import sys

import lightning
import torch
from headway import train
from headway.train.lightning import (
    DDPStrategy,
    DeepSpeedStrategy,
    FSDPStrategy,
    LightningEnvironment,
    ReportCallback,
    prepare_trainer,
)

EPOCHS = 3
STEPS_PER_EPOCH = 8  # Of two ranks.
QUIET = {
    "logger": False,
    "enable_checkpointing": False,
    "enable_progress_bar": False,
    "enable_model_summary": False,
}


class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))

    def training_step(self, batch, index):
        inputs, targets = batch
        loss = torch.nn.functional.mse_loss(self.layers(inputs), targets)
        self.log("loss", loss, on_step=False, on_epoch=True, sync_dist=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=0.05)


def model_and_loader():
    lightning.seed_everything(0, verbose=False)
    inputs = torch.randn(256, 4)
    data = torch.utils.data.TensorDataset(inputs, inputs.sum(dim=1, keepdim=True))
    return Model(), torch.utils.data.DataLoader(data, batch_size=16, shuffle=True)


class Losses(lightning.Callback):
    """Writes the losses into a file."""

    def __init__(self, path):
        self.path = path
        self.losses = []

    def on_train_epoch_end(self, trainer, module):
        self.losses.append(trainer.callback_metrics["loss"].item())
        if trainer.is_global_zero:
            with open(self.path, "w") as file:
                json.dump(self.losses, file)


class Kill(lightning.Callback):
    """Rank 1 is killed after a step, once."""

    def __init__(self, step):
        self.step = step

    def on_train_batch_end(self, trainer, module, outputs, batch, index):
        if trainer.global_step == self.step and train.get_context().get_world_rank() == 1:
            os.kill(os.getpid(), signal.SIGKILL)


STRATEGIES = {
    "ddp": DDPStrategy,
    "fsdp sharded": lambda: FSDPStrategy(state_dict_type="sharded"),
    "fsdp full": lambda: FSDPStrategy(state_dict_type="full"),
    "deepspeed": lambda: DeepSpeedStrategy(stage=2),
    "deepspeed 3": lambda: DeepSpeedStrategy(stage=3),
}


def loop(config):
    checkpoint = train.get_checkpoint()
    callbacks = [ReportCallback(**config.get("callback", {}))]
    if "kill" in config and checkpoint is None:
        callbacks.append(Kill(config["kill"]))
    trainer = lightning.Trainer(
        max_epochs=config.get("epochs", EPOCHS),
        accelerator="cpu",
        strategy=STRATEGIES[config.get("strategy", "ddp")](),
        plugins=[LightningEnvironment()],
        callbacks=callbacks,
        **QUIET,
    )
    trainer = prepare_trainer(trainer)
    model, loader = model_and_loader()
    if checkpoint is None:
        trainer.fit(model, loader)
    else:
        with checkpoint.as_directory() as folder:
            path = os.path.join(folder, ReportCallback.CHECKPOINT_NAME)
            trainer.fit(model, loader, ckpt_path=path, weights_only=False)
    return trainer.world_size, trainer.global_step


if __name__ == "__main__":
    # Its ranks are forked, so that Lightning is imported once.
    alone = lightning.Trainer(
        max_epochs=EPOCHS, accelerator="cpu", strategy="ddp_fork", devices=2, callbacks=[Losses(sys.argv[1])], **QUIET
    )
    alone.fit(*model_and_loader())

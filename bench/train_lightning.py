"""Training with Lightning: a small convolutional net; see ``frameworks.py``."""

from __future__ import annotations

import lightning.pytorch as pl
import torch
from frameworks import ALONE, OnStep, Place, integration
from training_time import BATCH, make_model

glue = integration("lightning")


class Module(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.model = make_model()

    def training_step(self, batch, index):
        return torch.nn.functional.cross_entropy(self.model(batch[0]), batch[1])

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)


class Steps(pl.Callback):
    def __init__(self, on_step):
        self.on_step = on_step

    def on_train_batch_end(self, *_):
        self.on_step()


def train(library: str, place: Place, steps: int, on_step: OnStep) -> None:
    torch.set_num_threads(1)
    pl.seed_everything(0, verbose=False)
    count = steps * BATCH * place.ranks
    data = torch.utils.data.TensorDataset(torch.randn(count, 1, 28, 28), torch.randint(0, 10, (count,)))
    options = {
        "max_epochs": 1,
        "accelerator": "cpu",
        "callbacks": [Steps(on_step)],
        "logger": False,
        "enable_checkpointing": False,
        "enable_progress_bar": False,
        "enable_model_summary": False,
    }
    if library == ALONE:
        trainer = pl.Trainer(strategy="ddp", devices=place.ranks, **options)
    else:
        plugins = [glue.RayLightningEnvironment()]
        trainer = pl.Trainer(strategy=glue.RayDDPStrategy(), plugins=plugins, devices="auto", **options)
        trainer = glue.prepare_trainer(trainer)
    trainer.fit(Module(), torch.utils.data.DataLoader(data, batch_size=BATCH))

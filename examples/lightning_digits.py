"""Handwritten digits with Lightning: the module, the data and the ``Trainer`` are those of a script
for one process.

    python examples/lightning_digits.py

It needs lightning and scikit-learn, which ships the digits. HEADWAY_EXAMPLE_KILL=1 kills a rank
once (lose_a_rank.py).
"""

import lightning
import torch
from headway import train
from headway.train.lightning import DDPStrategy, LightningEnvironment, ReportCallback, prepare_trainer
from headway.train.torch import TorchTrainer
from lose_a_rank import lose_a_rank
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

EPOCHS = 6


class Digits(lightning.LightningDataModule):
    def setup(self, stage):
        images, labels = (torch.tensor(each) for each in (load_digits().images, load_digits().target))
        order = torch.randperm(len(images), generator=torch.Generator().manual_seed(0))
        data = [TensorDataset(images[part, None].float() / 16, labels[part]) for part in order.split([1437, 360])]
        self.training, self.test = data

    def train_dataloader(self):
        return DataLoader(self.training, batch_size=32, shuffle=True)

    def val_dataloader(self):
        return DataLoader(self.test, batch_size=180)


class Classifier(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        convolutions = nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU()
        self.model = nn.Sequential(*convolutions, nn.MaxPool2d(2), nn.Flatten(), nn.Linear(32 * 4 * 4, 10))

    def training_step(self, batch, index):
        images, labels = batch
        loss = functional.cross_entropy(self.model(images), labels)
        self.log("loss", loss, on_step=False, on_epoch=True, sync_dist=True)  # The mean over ranks.
        lose_a_rank(now=self.current_epoch == 3)
        return loss

    def validation_step(self, batch, index):
        images, labels = batch
        right = (self.model(images).argmax(dim=1) == labels).float().mean()
        self.log("accuracy", right, sync_dist=True)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1, momentum=0.9)


# --- The training function: it runs in every rank. ---


def classify(config):
    lightning.seed_everything(0)
    trainer = lightning.Trainer(
        max_epochs=config["epochs"],
        strategy=DDPStrategy(),
        plugins=[LightningEnvironment()],
        callbacks=[ReportCallback()],  # A report with a checkpoint after each epoch.
        enable_checkpointing=False,
        enable_model_summary=False,
        enable_progress_bar=False,
        logger=False,
    )
    trainer = prepare_trainer(trainer)
    if checkpoint := train.get_checkpoint():  # There is one after a restart.
        with checkpoint.as_directory() as folder:
            path = f"{folder}/{ReportCallback.CHECKPOINT_NAME}"
            trainer.fit(Classifier(), Digits(), ckpt_path=path, weights_only=False)
    else:
        trainer.fit(Classifier(), Digits())


# --- The driver: it runs once, here. ---


def main():
    result = TorchTrainer(
        classify,
        train_loop_config={"epochs": EPOCHS},
        scaling_config=train.ScalingConfig(num_workers=2),
        run_config=train.RunConfig(failure_config=train.FailureConfig(max_failures=1)),
    ).fit()
    with result.checkpoint.as_directory() as folder:
        path = f"{folder}/{ReportCallback.CHECKPOINT_NAME}"
        model = Classifier.load_from_checkpoint(path, weights_only=False).eval()
    digits = Digits()
    digits.setup("validate")
    images, labels = digits.test[:10]
    print(f"The model reads {model.model(images).argmax(dim=1).tolist()} in images of {labels.tolist()}")
    print(f"Test accuracy: {result.metrics['accuracy']:.3f}")


if __name__ == "__main__":
    main()

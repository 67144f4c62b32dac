"""What Ray Train's guides show of Lightning, as scripts that are run as they are."""

import for_ray
import pytest

pytestmark = pytest.mark.heavy

# The guide's classifier on made-up images, then what the guide about moving away from
# LightningTrainer shows, with a data module. The best checkpoints are kept, and a run resumes one
# whose file somebody has put into a directory.
GUIDE = """
    import os
    import tempfile
    from os.path import join

    import torch
    from torch.utils.data import DataLoader
    import lightning.pytorch as pl

    import ray.train
    import ray.train.lightning
    from ray import train
    from ray.train import Checkpoint, CheckpointConfig, RunConfig, ScalingConfig
    from ray.train.lightning import RayDDPStrategy, RayLightningEnvironment, RayTrainReportCallback, prepare_trainer
    from ray.train.torch import TorchTrainer


    class Squares(torch.utils.data.Dataset):
        # Bright squares on dark ground; the label is the corner that they lie in.
        def __len__(self):
            return 96

        def __getitem__(self, index):
            corner = index % 4
            image = torch.rand(1, 8, 8, generator=torch.Generator().manual_seed(index)) / 4
            image[:, corner // 2 * 4 : corner // 2 * 4 + 4, corner % 2 * 4 : corner % 2 * 4 + 4] += 0.7
            return image, corner


    class CornerFinder(pl.LightningModule):
        def __init__(self, lr=0.01, channels=4):
            super(CornerFinder, self).__init__()
            self.save_hyperparameters()
            self.model = torch.nn.Sequential(
                torch.nn.Conv2d(1, channels, kernel_size=4, stride=4), torch.nn.Flatten(),
                torch.nn.Linear(4 * channels, 4),
            )
            self.criterion = torch.nn.CrossEntropyLoss()

        def forward(self, x):
            return self.model(x)

        def training_step(self, batch, batch_idx):
            x, y = batch
            loss = self.criterion(self.forward(x), y)
            self.log("loss", loss, on_step=True, prog_bar=True)
            return loss

        def validation_step(self, batch, batch_idx):
            x, y = batch
            self.log("val_accuracy", (self.forward(x).argmax(1) == y).float().mean(), sync_dist=True)

        def configure_optimizers(self):
            return torch.optim.Adam(self.model.parameters(), lr=self.hparams.lr)


    class Corners(pl.LightningDataModule):
        def __init__(self, batch_size):
            super().__init__()
            self.batch_size = batch_size

        def train_dataloader(self):
            return DataLoader(Squares(), batch_size=self.batch_size, shuffle=True)

        def val_dataloader(self):
            return DataLoader(Squares(), batch_size=self.batch_size)


    def train_func():
        train_dataloader = DataLoader(Squares(), batch_size=16, shuffle=True)
        model = CornerFinder()
        trainer = pl.Trainer(
            max_epochs=2,
            devices="auto",
            accelerator="auto",
            strategy=ray.train.lightning.RayDDPStrategy(),
            plugins=[ray.train.lightning.RayLightningEnvironment()],
            callbacks=[ray.train.lightning.RayTrainReportCallback()],
            enable_checkpointing=False,
        )
        trainer = ray.train.lightning.prepare_trainer(trainer)
        trainer.fit(model, train_dataloaders=train_dataloader)


    def train_with_module(config):
        model = CornerFinder(lr=0.02, channels=8)
        trainer = pl.Trainer(
            max_epochs=config["max_epochs"],
            log_every_n_steps=2,
            logger=False,
            devices="auto",
            accelerator="auto",
            strategy=RayDDPStrategy(),
            plugins=[RayLightningEnvironment()],
            callbacks=[RayTrainReportCallback()],
        )
        trainer = prepare_trainer(trainer)
        datamodule = Corners(batch_size=8)
        checkpoint = train.get_checkpoint()
        if checkpoint:
            with checkpoint.as_directory() as ckpt_dir:
                ckpt_path = join(ckpt_dir, "checkpoint.ckpt")
                trainer.fit(model, datamodule=datamodule, ckpt_path=ckpt_path)
        else:
            trainer.fit(model, datamodule=datamodule)
        return trainer.world_size, trainer.global_step


    if __name__ == "__main__":
        scaling_config = ray.train.ScalingConfig(num_workers=2)
        trainer = TorchTrainer(train_func, scaling_config=scaling_config)
        result: ray.train.Result = trainer.fit()
        assert len(result.metrics_dataframe) == 2 and result.metrics["loss"] > 0, result.metrics
        with result.checkpoint.as_directory() as checkpoint_dir:
            model = CornerFinder.load_from_checkpoint(
                os.path.join(checkpoint_dir, ray.train.lightning.RayTrainReportCallback.CHECKPOINT_NAME),
            )
        assert model(torch.rand(2, 1, 8, 8)).shape == (2, 4)

        best = CheckpointConfig(
            num_to_keep=2, checkpoint_score_attribute="val_accuracy", checkpoint_score_order="max"
        )
        ray_trainer = TorchTrainer(
            train_with_module,
            train_loop_config={"max_epochs": 4},
            scaling_config=ray.train.ScalingConfig(num_workers=2),
            run_config=ray.train.RunConfig(checkpoint_config=best),
        )
        result = ray_trainer.fit()
        assert len(result.best_checkpoints) in (2, 3) and result.metrics["val_accuracy"] > 0.5, result.metrics
        checkpoint: ray.train.Checkpoint = result.checkpoint
        with checkpoint.as_directory() as checkpoint_dir:
            assert "checkpoint.ckpt" in os.listdir(checkpoint_dir)
            checkpoint_path = os.path.join(checkpoint_dir, "checkpoint.ckpt")
            assert CornerFinder.load_from_checkpoint(checkpoint_path).hparams.channels == 8

        # A directory with Lightning's own file.
        os.makedirs("./ckpt_dir/checkpoint.ckpt")
        os.rename(result.checkpoint.to_directory() + "/checkpoint.ckpt", "./ckpt_dir/checkpoint.ckpt/checkpoint.ckpt")
        ray_trainer = TorchTrainer(
            train_with_module,
            train_loop_config={"max_epochs": 5},
            scaling_config=ScalingConfig(num_workers=2),
            resume_from_checkpoint=Checkpoint.from_directory("./ckpt_dir/checkpoint.ckpt"),
        )
        result = ray_trainer.fit()
        assert result.return_value == (2, 5 * 6), result.return_value
        assert list(result.metrics_dataframe["epoch"]) == [4]
        print("done")
"""

# Callbacks of one's own, of the other package: one for metrics, one for a checkpoint each third
# epoch; and rows of data sets in place of data loaders.
OWN_CALLBACKS = """
    import os
    import random
    from tempfile import TemporaryDirectory

    import pytorch_lightning as pl
    import ray
    import torch
    from pytorch_lightning.callbacks import Callback
    from ray import train
    from ray.train import Checkpoint, ScalingConfig
    from ray.train.lightning import RayDDPStrategy, RayLightningEnvironment, RayTrainReportCallback, prepare_trainer
    from ray.train.torch import TorchTrainer


    class Sums(pl.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(2, 1)
            self.seen = []

        def step(self, batch):
            x = torch.stack([batch["a"], batch["b"]], dim=1).float()
            return torch.nn.functional.mse_loss(self.layer(x).squeeze(1), batch["sum"].float())

        def training_step(self, batch, index):
            self.seen += batch["id"].tolist()
            loss = self.step(batch)
            self.log("loss", loss)
            return loss

        def validation_step(self, batch, index):
            self.log("val_loss", self.step(batch), sync_dist=True)

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.1)


    class MyRayTrainReportCallback(Callback):
        def on_train_epoch_end(self, trainer, pl_module):
            metrics = trainer.callback_metrics
            metrics = {k: v.item() for k, v in metrics.items()}
            train.report(metrics=metrics)


    class EveryThirdEpoch(Callback):
        def on_train_epoch_end(self, trainer, pl_module):
            if trainer.current_epoch % 3 != 0:
                return
            with TemporaryDirectory() as tmpdir:
                metrics = trainer.callback_metrics
                metrics = {k: v.item() for k, v in metrics.items()}
                metrics["epoch"] = trainer.current_epoch
                metrics["custom_metric"] = 123
                ckpt_path = os.path.join(tmpdir, "ckpt.pt")
                trainer.save_checkpoint(ckpt_path, weights_only=False)
                checkpoint = Checkpoint.from_directory(tmpdir)
                ray.train.report(metrics=metrics, checkpoint=checkpoint)


    def train_func_per_worker(config):
        train_ds = train.get_dataset_shard("train")
        val_ds = train.get_dataset_shard("validation")
        train_dataloader = train_ds.iter_torch_batches(batch_size=16)
        val_dataloader = val_ds.iter_torch_batches(batch_size=16)
        model = Sums()
        trainer = pl.Trainer(
            max_epochs=config["epochs"],
            accelerator="auto",
            devices="auto",
            strategy=RayDDPStrategy(),
            plugins=[RayLightningEnvironment()],
            callbacks=[callback() for callback in config["callbacks"]],
            enable_progress_bar=False,
            logger=False,
        )
        trainer = prepare_trainer(trainer)
        trainer.fit(model, train_dataloaders=train_dataloader, val_dataloaders=val_dataloader)
        everyone = [None, None]
        torch.distributed.all_gather_object(everyone, model.seen)
        return everyone


    if __name__ == "__main__":
        draw = random.Random(0)
        for name, count in (("train", 96), ("validation", 32)):
            with open(f"./{name}.csv", "w") as file:
                file.write("id,a,b,sum\\n")
                for number in range(count):
                    a, b = draw.random(), draw.random()
                    file.write(f"{number},{a},{b},{a + b}\\n")
        train_data = ray.data.read_csv("./train.csv")
        val_data = ray.data.read_csv("./validation.csv")

        def fit(epochs, *callbacks):
            return TorchTrainer(
                train_func_per_worker,
                train_loop_config={"epochs": epochs, "callbacks": callbacks},
                datasets={"train": train_data, "validation": val_data},
                scaling_config=ScalingConfig(num_workers=2),
            ).fit()

        result = fit(2, MyRayTrainReportCallback)
        first, second = result.return_value
        assert len(first) == len(second) == 96, "48 rows of each epoch"
        assert sorted(first + second) == sorted(2 * list(range(96)))
        assert len(result.metrics_dataframe) == 2 and result.checkpoint is None
        assert {"loss", "val_loss"} <= set(result.metrics)

        result = fit(7, EveryThirdEpoch)
        assert list(result.metrics_dataframe["epoch"]) == [0, 3, 6]
        assert result.metrics["custom_metric"] == 123
        with result.checkpoint.as_directory() as directory:
            assert torch.load(os.path.join(directory, "ckpt.pt"), weights_only=False)["epoch"] == 6
        print("done")
"""

# Metrics over the rows of all ranks, by TorchMetrics, in a loop of torch.
METRICS = """
    import ray.train.torch
    import torch
    from ray import train
    from ray.train import ScalingConfig
    from ray.train.torch import TorchTrainer
    from torch.utils.data import DataLoader, TensorDataset
    from torchmetrics import MeanMetric, R2Score


    def train_func(config):
        x = torch.linspace(-1, 1, 64).unsqueeze(1)
        rows = TensorDataset(x, 3 * x + 1)
        loader = ray.train.torch.prepare_data_loader(DataLoader(rows, batch_size=8))
        model = ray.train.torch.prepare_model(torch.nn.Linear(1, 1))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
        device = ray.train.torch.get_device()
        mean_loss, r2, seen = MeanMetric().to(device), R2Score().to(device), MeanMetric().to(device)
        for epoch in range(config["num_epochs"]):
            for X, y in loader:
                pred = model(X)
                loss = torch.nn.functional.mse_loss(pred, y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                mean_loss(loss)
                r2(pred.squeeze(1), y.squeeze(1))
                seen(X.mean())
            train.report({"loss": mean_loss.compute().item(), "r2": r2.compute().item(), "seen": seen.compute().item()})
            mean_loss.reset(), r2.reset(), seen.reset()


    trainer = TorchTrainer(
        train_func, train_loop_config={"num_epochs": 8}, scaling_config=ScalingConfig(num_workers=2)
    )
    result = trainer.fit()
    assert abs(result.metrics["seen"]) < 1e-6, "the mean over the rows of both ranks"
    assert result.metrics["r2"] > 0.9, result.metrics
    print("done")
"""


@pytest.fixture
def time_limit():
    """In place of that of conftest.py: the process that ``for_ray`` starts has its own."""


SCRIPTS = {"guide": GUIDE, "own callbacks": OWN_CALLBACKS, "metrics": METRICS}


@pytest.mark.parametrize("code", SCRIPTS.values(), ids=SCRIPTS)
def test_what_the_guides_show_of_lightning_runs_as_it_is(tmp_path, code):
    for_ray.run(tmp_path, code)

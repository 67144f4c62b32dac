"""What Ray Train's guide shows of experiment trackers in training functions, as scripts that are
run as they are; what the real libraries have written is read back.
"""

import json
import zipfile

import for_ray
import pytest
import wandb_file

pytestmark = pytest.mark.heavy
# MLflow asks for it where runs are in a folder, as the guide has them.
FILES = {"MLFLOW_ALLOW_FILE_STORE": "true", "WANDB_SILENT": "true", "COMET_START_ONLINE": "false"}

# W&B and MLflow in rank 0, as the guide has it. With W&B a rank is killed once; W&B's run has the
# id of Ray's trial, and so stays one.
NATIVE = """
    import os
    import signal
    import tempfile

    import mlflow
    import ray
    import ray.train.torch
    import torch
    import wandb
    from ray import train
    from ray.train import Checkpoint, FailureConfig, RunConfig, ScalingConfig
    from ray.train.torch import TorchTrainer

    ray.init(runtime_env={"env_vars": {"WANDB_API_KEY": 40 * "a"}})


    def epochs(kill):
        model = ray.train.torch.prepare_model(torch.nn.Linear(4, 1))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        checkpoint = train.get_checkpoint()
        first = checkpoint.to_dict()["epoch"] + 1 if checkpoint else 0
        for epoch in range(first, 4):
            loss = (model(torch.ones(8, 4)) - 3).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            yield {"loss": loss.item(), "epoch": epoch}
            if kill and epoch == 1 and not checkpoint and train.get_context().get_world_rank() == 1:
                os.kill(os.getpid(), signal.SIGKILL)
            state = model.module.state_dict()
            train.report({"loss": loss.item()}, checkpoint=Checkpoint.from_dict({"epoch": epoch, "model": state}))


    def train_with_wandb(config):
        if train.get_context().get_world_rank() == 0:
            assert os.environ["WANDB_API_KEY"] == 40 * "a"
            os.environ["WANDB_MODE"] = "offline"
            wandb.init(
                name="demo", project="fruit", dir=config["dir"], id=ray.train.get_context().get_trial_id()
            )
        for metrics in epochs(kill=True):
            if train.get_context().get_world_rank() == 0:
                wandb.log(metrics)
        if train.get_context().get_world_rank() == 0:
            wandb.finish()


    def train_with_mlflow(config):
        os.environ["DATABRICKS_CONFIG_FILE"] = config["databricks_config_file"]
        mlflow.set_tracking_uri(f"file:{config['dir']}")
        mlflow.set_experiment(experiment_id=config["experiment_id"])
        mlflow.start_run()
        for metrics in epochs(kill=False):
            if train.get_context().get_world_rank() == 0:
                mlflow.log_metrics(metrics, step=metrics["epoch"])
        mlflow.end_run()


    two = ScalingConfig(num_workers=2)
    os.mkdir("wandb_runs")
    trainer = TorchTrainer(
        train_with_wandb,
        train_loop_config={"dir": os.path.abspath("wandb_runs")},
        scaling_config=two,
        run_config=RunConfig(failure_config=FailureConfig(max_failures=3)),
    )
    result = trainer.fit()
    assert result.metrics["training_iteration"] == 4
    print("TRIAL", result.metrics["trial_id"])

    store = os.path.abspath("mlflow_runs")
    mlflow.set_tracking_uri(f"file:{store}")
    config = {"databricks_config_file": "none", "dir": store, "experiment_id": mlflow.create_experiment("fruit")}
    TorchTrainer(train_with_mlflow, train_loop_config=config, scaling_config=two).fit()
    runs = mlflow.search_runs(experiment_names=["fruit"], output_format="list")
    assert len(runs) == 2 and {run.info.status for run in runs} == {"FINISHED"}, runs
    (run,) = [run for run in runs if run.data.metrics]
    history = mlflow.MlflowClient().get_metric_history(run.info.run_id, "loss")
    assert [each.step for each in history] == [0, 1, 2, 3]
    print("done")
"""

# Lightning's own loggers, in rank 0; Comet's without Lightning, too.
LOGGERS = """
    import os

    import comet_ml
    import lightning.pytorch as pl
    import ray
    import torch
    import wandb
    from lightning.pytorch.loggers import CometLogger, MLFlowLogger, TensorBoardLogger, WandbLogger
    from ray import train
    from ray.train import ScalingConfig
    from ray.train.lightning import RayDDPStrategy, RayLightningEnvironment
    from ray.train.torch import TorchTrainer
    from torch.utils.data import DataLoader, TensorDataset

    X = torch.randn(64, 3)
    dataloader = DataLoader(TensorDataset(X, (X.sum(dim=1) > 0).long()), batch_size=8, shuffle=True)


    class TwoClasses(pl.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(3, 2)

        def training_step(self, batch, batch_idx):
            x, y = batch
            loss = torch.nn.functional.cross_entropy(self.layer(x), y)
            self.log("train_loss", loss, on_step=True, on_epoch=False)
            return loss

        def configure_optimizers(self):
            return torch.optim.Adam(self.parameters(), lr=0.01)


    def made_logger(kind, folder):
        if kind == "wandb":
            return WandbLogger(name="demo", project="fruit", save_dir=folder, offline=True)
        if kind == "mlflow":
            return MLFlowLogger(experiment_name="fruit", tracking_uri=f"file:{folder}")
        if kind == "comet":
            return CometLogger(api_key="no-key", project="fruit", offline_directory=folder)
        return TensorBoardLogger(name="demo", save_dir=folder)


    def train_func(config):
        logger = None
        if train.get_context().get_world_rank() == 0:
            logger = made_logger(config["kind"], config["save_dir"])
        together = {"strategy": RayDDPStrategy(), "plugins": [RayLightningEnvironment()]} if config["together"] else {}
        ptl_trainer = pl.Trainer(
            max_epochs=2, accelerator="cpu", devices="auto", logger=logger, log_every_n_steps=1,
            enable_checkpointing=False, enable_progress_bar=False, **together,
        )
        ptl_trainer.fit(TwoClasses(), train_dataloaders=dataloader)
        if train.get_context().get_world_rank() == 0 and config["kind"] == "wandb":
            wandb.finish()
        if train.get_context().get_world_rank() == 0 and config["kind"] == "comet":
            logger.experiment.end()
        return ptl_trainer.world_size, ptl_trainer.global_step


    for kind in ("wandb", "mlflow", "comet", "tensorboard"):
        os.mkdir(kind)
        config = {"kind": kind, "save_dir": os.path.abspath(kind), "together": kind != "comet"}
        trainer = TorchTrainer(train_func, train_loop_config=config, scaling_config=ScalingConfig(num_workers=2))
        assert trainer.fit().return_value == ((2, 8) if config["together"] else (1, 16))
    print("done")
"""


@pytest.fixture
def time_limit():
    """In place of that of conftest.py: the process that ``for_ray`` starts has its own."""


def of_wandb(path):
    """The run's id and name, and what was logged, in order."""
    found = list(wandb_file.records(path))
    (run,) = [record.run for record in found if record.WhichOneof("record_type") == "run"][:1]
    logged = [
        {"/".join(item.nested_key) or item.key: json.loads(item.value_json) for item in record.history.item}
        for record in found
        if record.WhichOneof("record_type") == "history"
    ]
    return run.run_id, run.display_name, logged


def test_the_guide_s_trackers_in_training_functions_run_as_they_are(tmp_path):
    output = for_ray.run(tmp_path, NATIVE, **FILES)
    trial = output.partition("TRIAL ")[2].split()[0]
    attempts = sorted((tmp_path / "wandb_runs/wandb").glob("offline-run-*/run-*.wandb"))
    assert [path.name for path in attempts] == [f"run-{trial}.wandb"] * 2, "the same run in both attempts"
    identity, name, logged = of_wandb(attempts[-1])
    assert (identity, name) == (trial, "demo")
    assert [line["epoch"] for line in logged][-2:] == [2, 3]


def test_lightning_s_loggers_run_as_they_are(tmp_path):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    for_ray.run(tmp_path, LOGGERS, **FILES)
    (path,) = (tmp_path / "wandb/wandb").glob("offline-run-*/run-*.wandb")
    _, name, logged = of_wandb(path)
    assert name == "demo"
    assert len([line for line in logged if "train_loss" in line]) == 8
    metrics = [line for file in (tmp_path / "mlflow").rglob("metrics/train_loss") for line in file.open()]
    assert len(metrics) == 8
    (path,) = (tmp_path / "comet").glob("*.zip")
    with zipfile.ZipFile(path) as archive:
        messages = [json.loads(line) for line in archive.read("messages.json").decode().splitlines()]
    names = [each["payload"]["metric"]["metricName"] for each in messages if each["type"] == "metric_msg"]
    assert names.count("train_loss") == 16
    events = EventAccumulator(str(tmp_path / "tensorboard/demo/version_0"))
    events.Reload()
    assert len(events.Scalars("train_loss")) == 8

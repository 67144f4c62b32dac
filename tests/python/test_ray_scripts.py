"""Scripts as people write them for Ray Train, unchanged: each is run by ``headway run --as-ray``,
on small data.
"""

import os
import subprocess
import sys
import textwrap

import pytest
from conftest import PACKAGES

# Every rank writes model.pt; the result is what rank 0 reports. The module for torch is used
# without an import of it.
REGRESSION = """
    import argparse, os, tempfile
    import torch
    import ray
    import ray.train as train
    from ray.train import Checkpoint, RunConfig, ScalingConfig


    class Line(torch.utils.data.Dataset):
        def __len__(self):
            return 64

        def __getitem__(self, index):
            x = torch.tensor([index / 64])
            return x, 3 * x + 1


    def loop(config):
        loader = train.torch.prepare_data_loader(torch.utils.data.DataLoader(Line(), batch_size=8, shuffle=True))
        model = train.torch.prepare_model(torch.nn.Linear(1, 1))
        optimizer = torch.optim.SGD(model.parameters(), lr=config.get("lr", 0.1))
        losses = []
        for epoch in range(config["epochs"]):
            if train.get_context().get_world_size() > 1:
                loader.sampler.set_epoch(epoch)
            for x, y in loader:
                loss = torch.nn.functional.mse_loss(model(x), y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            losses.append(loss.item())
            with tempfile.TemporaryDirectory() as directory:
                torch.save(model.state_dict(), os.path.join(directory, "model.pt"))
                train.report({"loss": loss.item()}, checkpoint=Checkpoint.from_directory(directory))
        return losses


    if __name__ == "__main__":
        parser = argparse.ArgumentParser()
        parser.add_argument("--address")
        parser.add_argument("--epochs", type=int)
        arguments = parser.parse_args()
        ray.init(address=arguments.address)
        trainer = train.torch.TorchTrainer(
            train_loop_per_worker=loop,
            train_loop_config={"epochs": arguments.epochs},
            scaling_config=ScalingConfig(num_workers=2, use_gpu=False),
            run_config=RunConfig(storage_path=None),
        )
        result = trainer.fit()
        assert len(result.return_value) == result.metrics["training_iteration"] == arguments.epochs
        assert result.metrics["loss"] == result.return_value[-1]
        with result.checkpoint.as_directory() as directory:
            assert set(torch.load(os.path.join(directory, "model.pt"))) == {"module.weight", "module.bias"}
        ray.shutdown()
        print("done")
"""

# The validation set is an object that JSON does not have; a separate trainer validates, and its
# metrics are returned.
VALIDATION = """
    import os, sys, tempfile
    import torch
    import ray.train
    import ray.train.torch
    from ray.train.v2.api.report_config import ValidationConfig, ValidationTaskConfig


    class Samples:
        def __init__(self, count):
            self.count = count

        def batches(self, size):
            generator = torch.Generator().manual_seed(1)
            for _ in range(0, self.count, size):
                yield torch.rand(size, 4, generator=generator), torch.randint(3, (size,), generator=generator)


    def model_of(checkpoint):
        model = torch.nn.Linear(4, 3)
        with checkpoint.as_directory() as directory:
            model.load_state_dict(torch.load(os.path.join(directory, "model.pt")))
        return model.eval()


    def evaluate(config):
        model, total = model_of(config["checkpoint"]), 0.0
        with torch.no_grad():
            for x, y in config["samples"].batches(16):
                total += torch.nn.functional.cross_entropy(model(x), y).item()
        storage = ray.train.get_context().get_storage()
        ray.train.report(
            metrics={"score": total},
            checkpoint=ray.train.Checkpoint(storage.build_checkpoint_path_from_name("placeholder")),
            checkpoint_upload_mode=ray.train.CheckpointUploadMode.NO_UPLOAD,
        )


    def validate(checkpoint, samples, epoch):
        result = ray.train.torch.TorchTrainer(
            evaluate,
            train_loop_config={"checkpoint": checkpoint, "samples": samples},
            scaling_config=ray.train.ScalingConfig(num_workers=2),
            run_config=ray.train.RunConfig(name=f"{os.environ['RUN']}_validation_epoch_{epoch}"),
        ).fit()
        return result.metrics


    def validate_as_before(checkpoint, config):
        return validate(checkpoint, config["dataset"], config["epoch"])


    def loop(config):
        model = ray.train.torch.prepare_model(torch.nn.Linear(4, 3))
        for epoch in range(2):
            if ray.train.get_context().get_world_rank() > 0:
                ray.train.report({}, None)
                continue
            directory = tempfile.mkdtemp()
            torch.save(model.module.state_dict(), os.path.join(directory, "model.pt"))
            if config["form"] == "older":
                asked = dict(validate_fn=validate_as_before, validate_config={"dataset": Samples(64), "epoch": epoch})
            else:
                asked = dict(validation=ValidationTaskConfig(fn_kwargs={"epoch": epoch}))
            ray.train.report(
                {"loss": 1.0, "epoch": epoch},
                checkpoint=ray.train.Checkpoint.from_directory(directory),
                checkpoint_upload_mode=ray.train.CheckpointUploadMode.ASYNC,
                **asked,
            )


    if __name__ == "__main__":
        form = sys.argv[1]
        os.environ["RUN"] = form
        task = ValidationTaskConfig(fn_kwargs={"samples": Samples(64)})
        result = ray.train.torch.TorchTrainer(
            loop,
            train_loop_config={"form": form},
            scaling_config=ray.train.ScalingConfig(num_workers=2),
            run_config=ray.train.RunConfig(name=form),
            validation_config=ValidationConfig(fn=validate, task_config=task) if form == "newer" else None,
        ).fit()
        for epoch, (checkpoint, metrics) in enumerate(result.best_checkpoints):
            assert metrics.pop("score") > 0
            assert metrics == {"loss": 1.0, "epoch": epoch}, metrics
        print("done")
"""

OLDER = """
    from pprint import pprint
    from ray.air import session, FailureConfig, RunConfig, ScalingConfig
    from ray.air.result import Result
    from ray.train.torch import TorchTrainer


    def train_func(config):
        for i in range(config["num_epochs"]):
            session.report({"epoch": i, "rank": session.get_world_rank()})


    result = TorchTrainer(
        train_func,
        train_loop_config={"num_epochs": 2},
        scaling_config=ScalingConfig(num_workers=2),
        run_config=RunConfig(failure_config=FailureConfig(max_failures=0, fail_fast=True)),
    ).fit()
    assert isinstance(result, Result)
    pprint(result.metrics)
    assert result.metrics["config"] == {"num_epochs": 2} and result.metrics["done"]
    assert list(result.metrics_dataframe["epoch"]) == [0, 1]
    assert (result.checkpoint, result.best_checkpoints, result.error) == (None, [], None)
    assert result.log_dir == result.path
    print("done")
"""


@pytest.mark.parametrize(
    ("code", "arguments"),
    [
        pytest.param(REGRESSION, ["--epochs", "3"], id="regression"),
        pytest.param(VALIDATION, ["newer"], id="validation"),
        pytest.param(VALIDATION, ["older"], id="validation, older form"),
        pytest.param(OLDER, [], id="session"),
    ],
)
def test_a_script_for_ray_runs_as_it_is(tmp_path, code, arguments):
    path = tmp_path / "for_ray.py"
    path.write_text(textwrap.dedent(code))
    environment = dict(os.environ, PYTHONPATH=PACKAGES, HEADWAY_STORAGE=str(tmp_path / "results"))
    command = [sys.executable, "-m", "headway", "run", "--as-ray", path, *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=110, check=False)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "done"), done.stdout + done.stderr

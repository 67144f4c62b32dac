"""Scripts that tune with Ray, as Ray's guides have them, run by ``headway run --as-ray``."""

import for_ray
import pytest

pytestmark = pytest.mark.heavy

TORCH = """
import tempfile
import os
import ray
from ray import train, tune
from ray.train import Checkpoint, ScalingConfig
from ray.train.torch import TorchTrainer
from ray.tune.tune_config import TuneConfig
from ray.tune.tuner import Tuner
from ray.tune.schedulers import ASHAScheduler

def train_func(config):
    import torch
    model = train.torch.prepare_model(torch.nn.Linear(1, config.get("hidden", 1)))
    optimizer = torch.optim.SGD(model.parameters(), lr=config["lr"])
    for epoch in range(config["epochs"]):
        loss = (model(torch.ones(4, 1)) - 2).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with tempfile.TemporaryDirectory() as folder:
            checkpoint = None
            if train.get_context().get_world_rank() == 0:
                torch.save(model.state_dict(), os.path.join(folder, "model.pt"))
                checkpoint = Checkpoint.from_directory(folder)
            train.report({"loss": loss.item()}, checkpoint=checkpoint)

trainer = TorchTrainer(
    train_loop_per_worker=train_func,
    train_loop_config={"epochs": 3, "lr": 1.0},
    scaling_config=ScalingConfig(num_workers=2, use_gpu=False, resources_per_worker={"CPU": 0.5}),
)
tuner = Tuner(
    trainer.as_trainable(),
    param_space={"train_loop_config": {"lr": tune.loguniform(1e-4, 1e-1), "hidden": tune.choice([1, 2]), "epochs": 2}},
    tune_config=TuneConfig(num_samples=2, metric="loss", mode="min", scheduler=ASHAScheduler()),
)
tuner.fit()
grid = tuner.get_results()
best = grid.get_best_result(metric="loss", mode="min")
assert best.config["train_loop_config"]["epochs"] == 2
assert best.checkpoint is not None
assert list(grid.get_dataframe()["training_iteration"]) in ([2, 2], [1, 2], [2, 1])
print("done")
"""


def test_a_script_that_tunes_with_ray_runs_as_it_is(tmp_path):
    pytest.importorskip("torch")
    for_ray.run(tmp_path, TORCH)

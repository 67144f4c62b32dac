"""Scripts that tune boosted trees and populations with Ray's names: ``headway run --as-ray``."""

import for_ray
import pytest

pytestmark = pytest.mark.heavy

XGBOOST = """
import numpy
import pandas
import ray
from ray import train, tune
from ray.train import RunConfig, ScalingConfig
from ray.train.xgboost import XGBoostTrainer
from ray.tune import TuneConfig, Tuner

draws = numpy.random.default_rng(0)
table = pandas.DataFrame(draws.normal(size=(400, 4)), columns=list("abcd"))
table["target"] = (table["a"] * table["b"] > 0).astype(int)
datasets = {"train": ray.data.from_pandas(table[:300]), "valid": ray.data.from_pandas(table[300:])}
other = {"train": ray.data.from_pandas(table[:20]), "valid": ray.data.from_pandas(table[300:])}

trainer = XGBoostTrainer(
    label_column="target",
    params={"objective": "binary:logistic", "eval_metric": ["logloss", "error"]},
    num_boost_round=4,
    datasets=datasets,
    scaling_config=ScalingConfig(num_workers=1),
)
grid = Tuner(
    trainer,
    param_space={
        "params": {"max_depth": tune.grid_search([1, 5])},
        "scaling_config": ScalingConfig(num_workers=tune.grid_search([1, 2])),
    },
    tune_config=TuneConfig(metric="valid-logloss", mode="min"),
    run_config=RunConfig(name="trees"),
).fit()
assert len(grid) == 4 and not grid.errors, grid.errors
best = grid.get_best_result()
assert best.config["params"]["max_depth"] == 5, best.config
model = XGBoostTrainer.get_model(best.checkpoint)
assert model.num_boosted_rounds() == 4

grid = Tuner(
    trainer,
    param_space={"datasets": tune.grid_search([datasets, other]), "params": {"max_depth": 5}},
    tune_config=TuneConfig(metric="valid-logloss", mode="min"),
    run_config=RunConfig(name="rows"),
).fit()
losses = [result.metrics["valid-logloss"] for result in grid]
assert losses[0] < losses[1], losses
print("done")
"""

POPULATION = """
import json
import os
import tempfile
from ray import train, tune
from ray.train import Checkpoint, RunConfig, ScalingConfig
from ray.train.torch import TorchTrainer
from ray.tune.schedulers import PopulationBasedTraining

def train_func(config):
    step, value = 1, 0.0
    checkpoint = train.get_checkpoint()
    if checkpoint:
        with checkpoint.as_directory() as folder, open(os.path.join(folder, "state.json")) as file:
            state = json.load(file)
        step, value = state["step"] + 1, state["value"]
    while step <= 8:
        value += config["lr"]
        with tempfile.TemporaryDirectory() as folder:
            saved = None
            if train.get_context().get_world_rank() == 0:
                with open(os.path.join(folder, "state.json"), "w") as file:
                    json.dump({"step": step, "value": value}, file)
                saved = Checkpoint.from_directory(folder)
            train.report({"value": value, "lr": config["lr"]}, checkpoint=saved)
        step += 1

scheduler = PopulationBasedTraining(
    time_attr="training_iteration",
    perturbation_interval=2,
    quantile_fraction=0.5,
    hyperparam_mutations={"train_loop_config": {"lr": tune.uniform(1.0, 2.0)}},
)
grid = tune.Tuner(
    TorchTrainer(train_func, scaling_config=ScalingConfig(num_workers=1)),
    param_space={"train_loop_config": {"lr": tune.grid_search([0.001, 1.0])}},
    tune_config=tune.TuneConfig(metric="value", mode="max", scheduler=scheduler, max_concurrent_trials=1),
    run_config=RunConfig(name="population"),
).fit()
assert not grid.errors, grid.errors
worse = grid[0].metrics_dataframe
assert worse["lr"].iloc[0] == 0.001 and worse["lr"].iloc[-1] >= 0.8, worse
assert worse["value"].iloc[-1] > 4, worse
print("done")
"""


@pytest.mark.parametrize(
    ("script", "needed"), [(XGBOOST, "xgboost"), (POPULATION, "torch")], ids=["trees", "population"]
)
def test_a_script_that_tunes_with_ray_runs_as_it_is(tmp_path, script, needed):
    pytest.importorskip(needed)
    for_ray.run(tmp_path, script)

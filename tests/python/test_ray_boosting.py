"""What Ray Train's guide to XGBoost and LightGBM shows, as scripts that are run as they are."""

import os

import for_ray
import pytest

pytestmark = pytest.mark.skipif(
    os.environ.get("HEADWAY_WORKER_START") == "exec", reason="the same code either way; once is enough"
)

# A table of fruit in a file; the guide's trainer, then one with the checkpoints that it configures.
# The last one is interrupted after a few rounds, and restored.
GUIDE = """
    import csv, random, sys
    import ray
    from ray.train import CheckpointConfig, Result, RunConfig, ScalingConfig
    from ray.train.lightgbm import LightGBMTrainer
    from ray.train.xgboost import XGBoostTrainer

    Trainer, params, metric = {
        "xgboost": (
            XGBoostTrainer, {"objective": "binary:logistic", "eval_metric": ["logloss", "error"]}, "valid-error"
        ),
        "lightgbm": (
            LightGBMTrainer, {"objective": "binary", "metric": ["binary_logloss", "binary_error"]}, "valid-binary_error"
        ),
    }[sys.argv[1]]
    draw = random.Random(0)
    with open("fruit.csv", "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["weight", "red", "ripe"])
        for _ in range(300):
            weight, red = draw.random(), draw.random()
            table.writerow([weight, red, int(weight + red > 1)])

    dataset = ray.data.read_csv("fruit.csv")
    train_dataset, valid_dataset = dataset.train_test_split(test_size=0.3)


    def trainer_of(**options):
        return Trainer(
            scaling_config=ScalingConfig(num_workers=2, use_gpu=False),
            label_column="ripe",
            num_boost_round=8,
            params=params,
            datasets={"train": train_dataset, "valid": valid_dataset},
            **options,
        )


    result = trainer_of().fit()
    assert result.metrics[metric] < 0.2, result.metrics
    assert metric.replace("valid", "train") in result.metrics
    whole = Trainer.get_model(result.checkpoint)

    each_round = CheckpointConfig(checkpoint_frequency=1, num_to_keep=1)
    run_config = RunConfig(name="short", checkpoint_config=each_round, stop={"training_iteration": 5})
    result = trainer_of(run_config=run_config).fit()
    assert len(result.best_checkpoints) == 1
    assert Trainer.can_restore(result.path)
    restored = Trainer.restore(
        result.path, datasets={"train": train_dataset, "valid": valid_dataset},
        run_config=RunConfig(checkpoint_config=each_round),
    )
    result = restored.fit()
    model = Trainer.get_model(Result.from_path(result.path).checkpoint)
    rounds = "num_boosted_rounds" if Trainer is XGBoostTrainer else "current_iteration"
    assert getattr(model, rounds)() == getattr(whole, rounds)() == 8
    print("done")
"""

# The preprocessor is fitted before; the trees are asked about rows that it has transformed too.
PREPROCESSED = """
    import ray
    from ray.data.preprocessors import MinMaxScaler
    from ray.train import RunConfig, ScalingConfig
    from ray.train.xgboost import XGBoostTrainer

    train_dataset = ray.data.from_items([{"x": x, "y": 3 * x} for x in range(0, 64, 2)])
    valid_dataset = ray.data.from_items([{"x": x, "y": 3 * x} for x in range(1, 64, 4)])

    preprocessor = MinMaxScaler(["x"])
    preprocessor.fit(train_dataset)
    train_dataset = preprocessor.transform(train_dataset)
    valid_dataset = preprocessor.transform(valid_dataset)

    trainer = XGBoostTrainer(
        label_column="y",
        params={"objective": "reg:squarederror"},
        scaling_config=ScalingConfig(num_workers=2),
        datasets={"train": train_dataset, "valid": valid_dataset},
        metadata={"scaler": preprocessor.serialize()},
    )
    result = trainer.fit()
    scaler = MinMaxScaler.deserialize(result.checkpoint.get_metadata()["scaler"])
    assert scaler.transform_batch(valid_dataset.to_pandas().assign(x=62.0))["x"].tolist() == [1.0] * 16
    assert result.metrics["valid-rmse"] < result.metrics_dataframe["valid-rmse"].iloc[0]

    # What the guide shows for other machines is described alike; these have no GPU.
    for scaling_config in (
        ScalingConfig(num_workers=4, trainer_resources={"CPU": 0}, resources_per_worker={"CPU": 8}),
        ScalingConfig(num_workers=4, use_gpu=True),
        ScalingConfig(num_workers=16, use_gpu=True),
    ):
        XGBoostTrainer(
            scaling_config=scaling_config,
            params={"tree_method": "gpu_hist", "eval_metric": ["logloss", "error"]},
            label_column="y",
            num_boost_round=20,
            datasets={"train": train_dataset},
            run_config=ray.train.RunConfig(storage_path="s3://bucket/fruit"),
        )
    print("done")
"""


@pytest.mark.parametrize("framework", ["xgboost", "lightgbm"])
def test_the_guide_to_boosting_runs_as_it_is(tmp_path, framework):
    for_ray.run(tmp_path, GUIDE, framework)


def test_preprocessors_come_before_boosting(tmp_path):
    for_ray.run(tmp_path, PREPROCESSED)

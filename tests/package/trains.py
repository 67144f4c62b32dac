"""Two ranks train with a data set, and an experiment has three trials: what an installed wheel must
be able to do. Run in an empty folder by the wheel's Python; the last line is the sum.
"""

import headway.data
import pyarrow
import pyarrow.parquet
from headway import train, tune
from headway.data.expressions import col


def loop(config):
    batches = train.get_dataset_shard("train").iter_batches(batch_size=10)
    train.report({"sum": sum(int(batch["x"].sum()) for batch in batches)}, reduce={"sum": "sum"})


def trial(config):
    tune.report({"loss": config["x"] ** 2})


def main():
    run = train.RunConfig(storage_path="results", verbose=0)
    space = {"x": tune.grid_search([1, 2, 3])}
    tuner = tune.Tuner(trial, param_space=space, tune_config=tune.TuneConfig(metric="loss", mode="min"), run_config=run)
    assert tuner.fit().get_best_result().config == {"x": 1}

    pyarrow.parquet.write_table(pyarrow.table({"x": list(range(100)), "s": ["a", "b"] * 50}), "rows.parquet")
    rows = headway.data.read_parquet("rows.parquet").filter(expr=col("s") == "a")
    scaling = train.ScalingConfig(num_workers=2)
    trainer = train.DataParallelTrainer(
        loop, train_loop_config={}, datasets={"train": rows}, scaling_config=scaling, run_config=run
    )
    print("the sum is", trainer.fit().metrics["sum"])


if __name__ == "__main__":
    main()

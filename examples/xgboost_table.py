"""Gradient boosting of a table: which customers leave. The table is generated and read by
``headway.data``; each of two ranks boosts on its share of the rows, and they build one model.

    python examples/xgboost_table.py

It needs xgboost. HEADWAY_EXAMPLE_KILL=1 kills a rank once (lose_a_rank.py).
"""

import tempfile

import headway.data
import numpy
import pandas
import xgboost
from headway import train
from headway.data.preprocessors import StandardScaler
from headway.train.xgboost import XGBoostTrainer
from lose_a_rank import lose_a_rank

PARAMETERS = {"objective": "binary:logistic", "eval_metric": ["logloss", "error"], "max_depth": 4, "nthread": 1}


def write_customers(path, count=6000):
    """Customers leave who pay much for little use, or who have called support often and are new."""
    random = numpy.random.default_rng(0)
    table = pandas.DataFrame(
        {
            "months": random.integers(1, 60, count),
            "price": random.uniform(5, 50, count),
            "hours": random.gamma(2, 10, count),
            "calls": random.poisson(2, count),
        }
    )
    leaves = (table.price / table.hours > 2) | ((table.calls > 3) & (table.months < 24))
    table["leaves"] = (leaves ^ (random.uniform(size=count) < 0.02)).astype(int)  # Some surprise.
    table.to_parquet(path)


class Lose(xgboost.callback.TrainingCallback):
    """For HEADWAY_EXAMPLE_KILL."""

    def after_iteration(self, model, epoch, evals_log):
        lose_a_rank(now=epoch == 30)


def main():
    with tempfile.TemporaryDirectory() as folder:
        write_customers(f"{folder}/customers.parquet")
        customers = headway.data.read_parquet(f"{folder}/customers.parquet")
        training, test = customers.train_test_split(0.25, shuffle=True, seed=0)
        scaler = StandardScaler(columns=["months", "price", "hours", "calls"])
        trainer = XGBoostTrainer(
            params=PARAMETERS,
            num_boost_round=60,
            label_column="leaves",
            datasets={"train": scaler.fit_transform(training), "test": scaler.transform(test)},
            scaling_config=train.ScalingConfig(num_workers=2),
            run_config=train.RunConfig(
                checkpoint_config=train.CheckpointConfig(checkpoint_frequency=20),  # Rounds.
                failure_config=train.FailureConfig(max_failures=1),
            ),
            metadata={"scaler": scaler.serialize()},  # Each checkpoint has it.
            callbacks=[Lose()],
        )
        result = trainer.fit()

    model = XGBoostTrainer.get_model(result.checkpoint)
    gain = model.get_score(importance_type="gain")
    important = sorted(gain, key=gain.get, reverse=True)
    print(f"The model has {model.num_boosted_rounds()} rounds; what matters most: {', '.join(important)}")
    print(f"Test accuracy: {1 - result.metrics['test-error']:.3f}")


if __name__ == "__main__":
    main()

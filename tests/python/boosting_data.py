"""Rows for XGBoost and LightGBM, what trainers are given of them, and callbacks that kill a rank or
count rounds.
"""

import os
import signal

import headway.data
import lightgbm
import numpy
import pandas
import xgboost
from headway import train

ROUNDS = 20
LABEL = "won"
OF_XGBOOST = {"objective": "binary:logistic", "max_depth": 3, "nthread": 1, "seed": 0}
OF_LIGHTGBM = {
    "objective": "binary",
    "metric": "binary_logloss",
    "num_leaves": 7,
    "num_threads": 1,
    "seed": 0,
    "deterministic": True,
    "verbosity": -1,
}


def frame(rows, seed=0, *, text=False):
    """Three features, a label that the first two decide, and weights."""
    random = numpy.random.default_rng(seed)
    made = pandas.DataFrame(random.normal(size=(rows, 3)).astype("float32"), columns=["a", "b", "c"])
    made[LABEL] = (made["a"] * made["b"] + made["c"] > 0).astype("int64")
    made["weight"] = random.uniform(0.5, 1.5, rows).astype("float32")
    if text:
        made["city"] = random.choice(["Oslo", "Rome", "Bern"], rows)
        made[LABEL] = made[LABEL] ^ (made["city"] == "Rome")
    return made


def features(rows):
    """A frame without what is no feature."""
    return rows.drop(columns=[LABEL, "weight"])


def datasets(train_rows, valid_rows=None):
    given = {"train": train_rows, "valid": valid_rows}
    made = {name: rows.drop(columns="weight") for name, rows in given.items() if rows is not None}
    return {name: headway.data.from_pandas(rows) for name, rows in made.items()}


def logloss(labels, predicted):
    return float(-numpy.mean(numpy.where(labels == 1, numpy.log(predicted), numpy.log(1 - predicted))))


class KillXGBoost(xgboost.callback.TrainingCallback):
    """Rank 1 is killed after a round, once: a file says so."""

    def __init__(self, rounds, mark):
        self.rounds, self.mark = rounds, mark

    def after_iteration(self, model, epoch, evals_log):
        kill(epoch + 1 == self.rounds, self.mark)
        return False


class KillLightGBM:
    def __init__(self, rounds, mark):
        self.rounds, self.mark = rounds, mark

    def __call__(self, env):
        kill(env.iteration + 1 == self.rounds, self.mark)


def kill(now, mark):
    if now and train.get_context().get_world_rank() == 1 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)


def trees(model):
    """What can be compared."""
    if isinstance(model, lightgbm.Booster):
        return model.trees_to_dataframe().drop(columns=["tree_index"]).to_csv()
    return "".join(model.get_dump(with_stats=True))


def rounds_of(model):
    return model.current_iteration() if isinstance(model, lightgbm.Booster) else model.num_boosted_rounds()

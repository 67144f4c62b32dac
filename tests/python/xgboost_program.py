"""A training with XGBoost: as a script by XGBoost alone (xgboost_program.py FILE), whose two ranks
are forked, and as a training function of Headway's.
"""

import os
import signal
import sys

import numpy
import two_ranks
import xgboost
from headway import train
from headway.train.xgboost import ReportCallback
from xgboost.tracker import RabitTracker

ROUNDS = 20
PARAMETERS = {"objective": "binary:logistic", "max_depth": 3, "eta": 0.3, "nthread": 1, "seed": 0}


def rows(rank, world_size):
    """A rank's share of 400 rows."""
    random = numpy.random.default_rng(0)
    features = random.normal(size=(400, 6))
    labels = (features[:, 0] * features[:, 1] + features[:, 2] > 0).astype(int)
    return xgboost.DMatrix(features[rank::world_size], labels[rank::world_size], nthread=1)


def train_share(rank, world_size, rounds=ROUNDS, model=None, callbacks=()):
    share = rows(rank, world_size)
    more = {"evals": [(share, "train")], "callbacks": [*callbacks], "verbose_eval": False}
    return xgboost.train(PARAMETERS, share, rounds, xgb_model=model, **more)


class Kill(xgboost.callback.TrainingCallback):
    """Rank 1 is killed after a round, once; or it waits until its node is."""

    def __init__(self, rounds, waits=False):
        self.rounds = rounds
        self.waits = waits

    def after_iteration(self, model, epoch, evals_log):
        if epoch + 1 == self.rounds:
            if train.get_context().get_world_rank() == 1:
                signal.pause() if self.waits else os.kill(os.getpid(), signal.SIGKILL)
            print("ROUND", self.rounds, flush=True)
        return False


def loop(config):
    """Returns XGBoost's own rank and world size, and the rounds of the model."""
    context = train.get_context()
    checkpoint = train.get_checkpoint()
    model = ReportCallback.get_model(checkpoint) if checkpoint is not None else None
    callbacks = [ReportCallback(**config.get("callback", {"frequency": 5}))]
    if "kill" in config and checkpoint is None:
        callbacks.append(Kill(config["kill"], config.get("waits", False)))
    rounds = config.get("rounds", ROUNDS) - (model.num_boosted_rounds() if model is not None else 0)
    place = xgboost.collective.get_rank(), xgboost.collective.get_world_size()
    assert place == (context.get_world_rank(), context.get_world_size())
    trained = train_share(*place, rounds, model, callbacks)
    return (*place, trained.num_boosted_rounds())


def alone(path):
    """What two ranks build that meet at a tracker without Headway."""
    tracker = RabitTracker(n_workers=2, host_ip="127.0.0.1", sortby="task")
    tracker.start()
    arguments = tracker.worker_args()

    def train_alone(rank):
        with xgboost.collective.CommunicatorContext(**arguments, dmlc_task_id=f"{rank:08d}"):
            return train_share(rank, 2)

    two_ranks.build(path, train_alone)


if __name__ == "__main__":
    alone(sys.argv[1])

"""A training with LightGBM: as a script by LightGBM alone (lightgbm_program.py FILE), whose two
ranks are forked, and as a training function of Headway's.
"""

import os
import signal
import socket
import sys

import lightgbm
import numpy
import two_ranks
from headway import train
from headway.train.lightgbm import ReportCallback, get_network_params

ROUNDS = 20
PARAMETERS = {
    "objective": "binary",
    "metric": "binary_logloss",
    "num_leaves": 7,
    "num_threads": 1,
    "seed": 0,
    "deterministic": True,
    "pre_partition": True,
    "tree_learner": "data",
    "verbosity": -1,
}


def rows(rank, world_size):
    """A rank's share of 400 rows."""
    random = numpy.random.default_rng(0)
    features = random.normal(size=(400, 6))
    labels = (features[:, 0] * features[:, 1] + features[:, 2] > 0).astype(int)
    return lightgbm.Dataset(features[rank::world_size], labels[rank::world_size])


def train_share(rank, world_size, network, rounds=ROUNDS, model=None, callbacks=()):
    share = rows(rank, world_size)
    more = {"valid_sets": [share], "valid_names": ["train"], "callbacks": [*callbacks]}
    return lightgbm.train({**PARAMETERS, **network}, share, rounds, init_model=model, **more)


class Kill:
    """Rank 1 is killed after a round, once; or it waits until its node is."""

    def __init__(self, rounds, waits=False):
        self.rounds = rounds
        self.waits = waits

    def __call__(self, env):
        if env.iteration + 1 == self.rounds:
            if train.get_context().get_world_rank() == 1:
                signal.pause() if self.waits else os.kill(os.getpid(), signal.SIGKILL)
            print("ROUND", self.rounds, flush=True)


def loop(config):
    """Returns the rounds of the model."""
    context = train.get_context()
    checkpoint = train.get_checkpoint()
    model = ReportCallback.get_model(checkpoint) if checkpoint is not None else None
    callbacks = [ReportCallback(**config.get("callback", {"frequency": 5}))]
    if "kill" in config and checkpoint is None:
        callbacks.append(Kill(config["kill"], config.get("waits", False)))
    rounds = config.get("rounds", ROUNDS) - (model.current_iteration() if model is not None else 0)
    network = {} if config.get("alone") else get_network_params()
    place = context.get_world_rank(), context.get_world_size()
    return train_share(*place, network, rounds, model, callbacks).current_iteration()


def alone(path):
    """What two ranks build that meet without Headway."""
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
    ports = [each.getsockname()[1] for each in held]
    machines = ",".join(f"127.0.0.1:{port}" for port in ports)
    for each in held:
        each.close()

    def train_alone(rank):
        return train_share(rank, 2, {"machines": machines, "num_machines": 2, "local_listen_port": ports[rank]})

    two_ranks.build(path, train_alone)


if __name__ == "__main__":
    alone(sys.argv[1])

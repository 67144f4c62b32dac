"""Training with LightGBM; see ``frameworks.py``."""

from __future__ import annotations

import lightgbm
from frameworks import ALONE, OnStep, Place, integration, share

glue = integration("lightgbm")


def train(library: str, place: Place, steps: int, on_step: OnStep) -> None:
    network = place.network if library == ALONE else glue.get_network_params()
    parameters = {
        "objective": "binary",
        "num_threads": 1,
        "tree_learner": "data_parallel",
        "pre_partition": True,
        "verbosity": -1,
    }
    data = lightgbm.Dataset(*share(place.rank))
    lightgbm.train({**parameters, **network}, data, steps, callbacks=[lambda _: on_step()])

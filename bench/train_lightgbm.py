"""Training with LightGBM; see ``frameworks.py``."""

from __future__ import annotations

import importlib

import lightgbm
from frameworks import ALONE, OnStep, Place, share


def train(library: str, place: Place, steps: int, on_step: OnStep) -> None:
    if library == ALONE:
        network = place.network
    else:
        network = importlib.import_module(f"{library}.train.lightgbm").get_network_params()
    parameters = {
        "objective": "binary",
        "num_threads": 1,
        "tree_learner": "data_parallel",
        "pre_partition": True,
        "verbosity": -1,
    }
    data = lightgbm.Dataset(*share(place.rank))
    lightgbm.train({**parameters, **network}, data, steps, callbacks=[lambda _: on_step()])

"""Training with XGBoost; see ``frameworks.py``."""

from __future__ import annotations

import xgboost
from frameworks import OnStep, Place, share


class Steps(xgboost.callback.TrainingCallback):
    def __init__(self, on_step):
        self.on_step = on_step

    def after_iteration(self, *_):
        self.on_step()
        return False


def train(library: str, place: Place, steps: int, on_step: OnStep) -> None:
    """Within XGBoost's communicator, which the library's trainer enters, or the caller."""
    parameters = {"objective": "binary:logistic", "nthread": 1, "max_depth": 6, "tree_method": "hist"}
    data = xgboost.DMatrix(*share(place.rank), nthread=1)
    assert xgboost.collective.get_world_size() == place.ranks
    xgboost.train(parameters, data, steps, callbacks=[Steps(on_step)])

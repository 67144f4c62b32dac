"""Schedulers and searchers by name."""

from __future__ import annotations

import importlib
from typing import Any

from headway._values.arguments import check_str
from headway.tune import schedulers, search
from headway.tune.schedulers.trial_scheduler import TrialScheduler
from headway.tune.search.searcher import Searcher

_SCHEDULERS = {
    "fifo": "FIFOScheduler",
    "async_hyperband": "AsyncHyperBandScheduler",
    "asynchyperband": "AsyncHyperBandScheduler",
    "asha": "ASHAScheduler",
    "median_stopping_rule": "MedianStoppingRule",
    "medianstopping": "MedianStoppingRule",
    "hyperband": "HyperBandScheduler",
    "hb_bohb": "HyperBandForBOHB",
    "pbt": "PopulationBasedTraining",
    "pbt_replay": "PopulationBasedTrainingReplay",
    "pb2": "PB2",
    "resource_changing": "ResourceChangingScheduler",
}
# By name, the module below headway.tune.search and the class.
_SEARCHERS = {
    "variant_generator": ("basic_variant", "BasicVariantGenerator"),
    "random": ("basic_variant", "BasicVariantGenerator"),
    "optuna": ("optuna", "OptunaSearch"),
    "hyperopt": ("hyperopt", "HyperOptSearch"),
    "bayesopt": ("bayesopt", "BayesOptSearch"),
    "nevergrad": ("nevergrad", "NevergradSearch"),
    "ax": ("ax", "AxSearch"),
    "bohb": ("bohb", "TuneBOHB"),
    "hebo": ("hebo", "HEBOSearch"),
    "zoopt": ("zoopt", "ZOOptSearch"),
}


def create_scheduler(scheduler: str, **kwargs: Any) -> TrialScheduler:
    """A scheduler by its name.

    Args:
        scheduler: ``"asha"``, ``"median_stopping_rule"``, ``"fifo"``, and so on.
        kwargs: Its arguments.

    Raises:
        ValueError: there is no such name.

    Example:
        >>> from headway import tune
        >>> tune.create_scheduler("asha", max_t=50).max_t
        50.0
    """
    name = check_str("scheduler", scheduler, "the name of a scheduler").lower()
    if name not in _SCHEDULERS:
        raise ValueError(f"scheduler is {scheduler!r}; allowed: {', '.join(_SCHEDULERS)}")
    found: TrialScheduler = getattr(schedulers, _SCHEDULERS[name])(**kwargs)
    return found


def create_searcher(search_alg: str, **kwargs: Any) -> Searcher:
    """A searcher by its name.

    Args:
        search_alg: ``"random"``, ``"optuna"``, and so on.
        kwargs: Its arguments.

    Raises:
        ValueError: there is no such name.
        ImportError: its library is not installed.

    Example:
        >>> from headway import tune
        >>> searcher = tune.create_searcher("random", random_state=1)
    """
    name = check_str("search_alg", search_alg, "the name of a searcher").lower()
    if name not in _SEARCHERS:
        raise ValueError(f"search_alg is {search_alg!r}; allowed: {', '.join(_SEARCHERS)}")
    module, kind = _SEARCHERS[name]
    found: Searcher = getattr(importlib.import_module(f"{search.__name__}.{module}"), kind)(**kwargs)
    return found

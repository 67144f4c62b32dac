"""Schedulers by name."""

from __future__ import annotations

import importlib
from typing import Any

from headway._values.arguments import check_str
from headway.tune.schedulers.trial_scheduler import TrialScheduler

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
    found: TrialScheduler = getattr(importlib.import_module(__package__), _SCHEDULERS[name])(**kwargs)
    return found

"""What ends trials early."""

from __future__ import annotations

from headway._values.named_arguments import offer
from headway.tune.schedulers.asha import ASHAScheduler, AsyncHyperBandScheduler
from headway.tune.schedulers.hyperband import HyperBandForBOHB, HyperBandScheduler
from headway.tune.schedulers.median_stopping import MedianStoppingRule
from headway.tune.schedulers.trial_scheduler import FIFOScheduler, TrialScheduler

__all__ = [
    "ASHAScheduler",
    "AsyncHyperBandScheduler",
    "FIFOScheduler",
    "HyperBandForBOHB",
    "HyperBandScheduler",
    "MedianStoppingRule",
    "TrialScheduler",
]

offer(globals(), __all__)

"""What ends trials early, and what changes them on the way."""

from __future__ import annotations

from headway._values.named_arguments import offer
from headway.tune.schedulers._create import create_scheduler
from headway.tune.schedulers.asha import ASHAScheduler, AsyncHyperBandScheduler
from headway.tune.schedulers.hyperband import HyperBandForBOHB, HyperBandScheduler
from headway.tune.schedulers.median_stopping import MedianStoppingRule
from headway.tune.schedulers.pb2 import PB2
from headway.tune.schedulers.pbt import PopulationBasedTraining, PopulationBasedTrainingReplay
from headway.tune.schedulers.resource_changing_scheduler import ResourceChangingScheduler
from headway.tune.schedulers.trial_scheduler import FIFOScheduler, TrialScheduler

__all__ = [
    "PB2",
    "ASHAScheduler",
    "AsyncHyperBandScheduler",
    "FIFOScheduler",
    "HyperBandForBOHB",
    "HyperBandScheduler",
    "MedianStoppingRule",
    "PopulationBasedTraining",
    "PopulationBasedTrainingReplay",
    "ResourceChangingScheduler",
    "TrialScheduler",
    "create_scheduler",
]

offer(globals(), __all__)

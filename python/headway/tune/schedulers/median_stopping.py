"""The median stopping rule."""

from __future__ import annotations

from typing import Any

from headway._values.arguments import check_bool, check_int, check_number, check_str
from headway.tune.schedulers.trial_scheduler import FIFOScheduler, described, objective


class MedianStoppingRule(FIFOScheduler):
    """Stops a trial whose best value so far is worse than the median of the others' means.

    Args:
        time_attr: How far a trial is: a metric that grows.
        metric: What is compared. Default: that of ``TuneConfig``.
        mode: ``"min"`` or ``"max"``. Default: that of ``TuneConfig``.
        grace_period: No trial ends before, in units of ``time_attr``.
        min_samples_required: How many trials must have come as far.
        min_time_slice: A trial is compared with those whose newest report is at most so far behind.
        hard_stop: False: a trial pauses instead, and resumes from its newest checkpoint when no
            other trial waits for its place. It is not judged again.

    Example:
        >>> from headway import tune
        >>> config = tune.TuneConfig("loss", "min", scheduler=tune.schedulers.MedianStoppingRule())
    """

    def __init__(
        self,
        time_attr: str = "time_total_s",
        metric: str | None = None,
        mode: str | None = None,
        grace_period: float = 60.0,
        min_samples_required: int = 3,
        min_time_slice: int = 0,
        hard_stop: bool = True,
    ):
        self.time_attr = check_str("time_attr", time_attr, "the name of a metric that grows")
        self.metric, self.mode = objective(metric, mode)
        self.grace_period = _at_least_0("grace_period", grace_period)
        self.min_samples_required = check_int("min_samples_required", min_samples_required, "an integer of at least 1")
        if self.min_samples_required < 1:
            raise ValueError(f"min_samples_required is {min_samples_required!r}; allowed: an integer of at least 1")
        self.min_time_slice = _at_least_0("min_time_slice", min_time_slice)
        self.hard_stop = check_bool("hard_stop", hard_stop)

    def for_core(self) -> dict[str, Any]:
        """As the core reads it."""
        return described(self, "median", MedianStoppingRule)


def _at_least_0(name: str, value: object) -> float:
    number = check_number(name, value, "a number of at least 0")
    if number < 0:
        raise ValueError(f"{name} is {value!r}; allowed: a number of at least 0")
    return number

"""Asynchronous successive halving."""

from __future__ import annotations

from typing import Any

from headway._values.arguments import check_bool, check_int, check_number, check_str
from headway.tune.schedulers.trial_scheduler import FIFOScheduler, described, objective


class AsyncHyperBandScheduler(FIFOScheduler):
    """Stops trials early that are worse than most of those that were as far before (ASHA).

    At milestones (``grace_period``, then ``reduction_factor`` times as far, and so on) a trial
    continues only if it is among the best ``1 / reduction_factor`` of those that came there before
    it. Each decision is the answer to the very report that it is about.

    Args:
        time_attr: How far a trial is: a metric that grows, such as ``training_iteration``.
        metric: What is compared. Default: that of ``TuneConfig``.
        mode: ``"min"`` or ``"max"``. Default: that of ``TuneConfig``.
        max_t: Trials end here.
        grace_period: No trial ends before.
        reduction_factor: Above 1.
        brackets: How many ladders of milestones there are, each starting further on than the one
            before.
        stop_last_trials: Whether trials end at ``max_t``.
        promote: Rather than ending, a trial that is not among the best pauses at the milestone, and
            resumes from its newest checkpoint as soon as it is one of them. A trial needs a
            checkpoint with the report at each milestone; without one it begins again.

    Example:
        >>> from headway import tune
        >>> config = tune.TuneConfig("loss", "min", scheduler=tune.schedulers.ASHAScheduler(max_t=50))
    """

    def __init__(
        self,
        time_attr: str = "training_iteration",
        metric: str | None = None,
        mode: str | None = None,
        max_t: int = 100,
        grace_period: int = 1,
        reduction_factor: float = 4,
        brackets: int = 1,
        stop_last_trials: bool = True,
        promote: bool = False,
    ):
        self.time_attr = check_str("time_attr", time_attr, "the name of a metric that grows")
        self.metric, self.mode = objective(metric, mode)
        self.max_t = _above_0("max_t", max_t)
        self.grace_period = _above_0("grace_period", grace_period)
        if self.max_t < self.grace_period:
            raise ValueError(f"max_t is {max_t!r}; allowed: at least grace_period, which is {grace_period!r}")
        self.reduction_factor = check_number("reduction_factor", reduction_factor, "a number above 1")
        if self.reduction_factor <= 1:
            raise ValueError(f"reduction_factor is {reduction_factor!r}; allowed: a number above 1")
        self.brackets = check_int("brackets", brackets, "an integer of at least 1")
        if self.brackets < 1:
            raise ValueError(f"brackets is {brackets!r}; allowed: an integer of at least 1")
        self.stop_last_trials = check_bool("stop_last_trials", stop_last_trials)
        self.promote = check_bool("promote", promote)

    def for_core(self) -> dict[str, Any]:
        """As the core reads it."""
        return described(self, "asha", AsyncHyperBandScheduler)


#: The shorter name.
ASHAScheduler = AsyncHyperBandScheduler


def _above_0(name: str, value: object) -> float:
    number = check_number(name, value, "a number above 0")
    if number <= 0:
        raise ValueError(f"{name} is {value!r}; allowed: a number above 0")
    return number

"""HyperBand."""

from __future__ import annotations

from typing import Any

from headway._values.arguments import check_bool, check_number, check_str
from headway.tune.schedulers.trial_scheduler import FIFOScheduler, described, objective


class HyperBandScheduler(FIFOScheduler):
    """Compares many trials after a short time, and few trials after a long one (HyperBand).

    New trials fill brackets: a few run to ``max_t``, more of them to ``max_t / reduction_factor``
    first, and so on. A trial that has come to its bracket's time is paused until the others of the
    bracket are there. The best ``1 / reduction_factor`` of them resume from their newest
    checkpoints and run ``reduction_factor`` times as far. The others end.

    A trial without checkpoints begins again where it resumes: report with checkpoints, or set
    ``CheckpointConfig(checkpoint_frequency=1)`` for a ``Trainable``.

    Args:
        time_attr: How far a trial is: a metric that grows, such as ``training_iteration``.
        metric: What is compared. Default: that of ``TuneConfig``.
        mode: ``"min"`` or ``"max"``. Default: that of ``TuneConfig``.
        max_t: Trials end here.
        reduction_factor: Above 1.
        stop_last_trials: Whether trials end at ``max_t``.

    Example:
        >>> from headway import tune
        >>> config = tune.TuneConfig("loss", "min", scheduler=tune.schedulers.HyperBandScheduler(max_t=27))
    """

    _is_bohb = False

    def __init__(
        self,
        time_attr: str = "training_iteration",
        metric: str | None = None,
        mode: str | None = None,
        max_t: int = 81,
        reduction_factor: float = 3,
        stop_last_trials: bool = True,
    ):
        self.time_attr = check_str("time_attr", time_attr, "the name of a metric that grows")
        self.metric, self.mode = objective(metric, mode)
        self.max_t = check_number("max_t", max_t, "a number of at least 1")
        if self.max_t < 1:
            raise ValueError(f"max_t is {max_t!r}; allowed: a number of at least 1")
        self.reduction_factor = check_number("reduction_factor", reduction_factor, "a number above 1")
        if self.reduction_factor <= 1:
            raise ValueError(f"reduction_factor is {reduction_factor!r}; allowed: a number above 1")
        self.stop_last_trials = check_bool("stop_last_trials", stop_last_trials)

    def for_core(self) -> dict[str, Any]:
        """As the core reads it."""
        return {**described(self, "hyperband", HyperBandScheduler), "bohb": self._is_bohb}


class HyperBandForBOHB(HyperBandScheduler):
    """HyperBand in the order that BOHB wants: brackets with most trials first.

    A bracket is compared once it is full, or when nothing else is left to run.

    Args:
        time_attr: As of ``HyperBandScheduler``, like all others.
        metric: What is compared. Default: that of ``TuneConfig``.
        mode: ``"min"`` or ``"max"``. Default: that of ``TuneConfig``.
        max_t: Trials end here.
        reduction_factor: Above 1.
        stop_last_trials: Whether trials end at ``max_t``.

    Example:
        >>> from headway import tune
        >>> config = tune.TuneConfig("loss", "min", scheduler=tune.schedulers.HyperBandForBOHB(max_t=27))
    """

    _is_bohb = True

"""What all schedulers have in common, and the one that decides nothing."""

from __future__ import annotations

from typing import Any

from headway.tune.search.searcher import check_objective


class TrialScheduler:
    """The base of all schedulers: Headway's core decides, these classes describe how.

    Example:
        >>> from headway.tune.schedulers import ASHAScheduler, TrialScheduler
        >>> isinstance(ASHAScheduler(), TrialScheduler)
        True
    """

    metric: str | None = None
    mode: str | None = None

    def for_core(self) -> dict[str, Any]:
        """As the core reads it."""
        raise NotImplementedError(f"{type(self).__name__} is none of Headway's schedulers")


class FIFOScheduler(TrialScheduler):
    """Lets every trial run to its end. It is what schedules when ``TuneConfig.scheduler`` is None.

    Example:
        >>> from headway import tune
        >>> config = tune.TuneConfig(scheduler=tune.schedulers.FIFOScheduler())
    """

    def for_core(self) -> dict[str, Any]:
        """As the core reads it."""
        return {"kind": "fifo"}


def objective(metric: object, mode: object) -> tuple[str | None, str | None]:
    """A scheduler's metric and mode, checked."""
    for name, value in (("metric", metric), ("mode", mode)):
        if isinstance(value, (list, tuple)):
            raise TypeError(f"{name} is {value!r} ({type(value).__name__}); allowed: one, since a scheduler has one")
    check_objective(metric, mode)
    return metric, mode  # type: ignore[return-value]

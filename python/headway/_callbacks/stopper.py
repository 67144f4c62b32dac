"""When a run has got far enough: conditions for ``RunConfig(stop=...)``."""

from __future__ import annotations

import abc
import collections
import math
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from headway._values.arguments import check_int, check_number, check_str, refuse

if TYPE_CHECKING:
    import datetime


class Stopper(abc.ABC):
    """Says after each report whether the run ends. Subclass it; its state is its own.

    Example:
        >>> class Falls(Stopper):
        ...     best = 0.0
        ...     def __call__(self, trial_id, result):
        ...         self.best = max(self.best, result["accuracy"])
        ...         return result["accuracy"] < self.best - 0.1
        ...     def stop_all(self):
        ...         return False
    """

    @abc.abstractmethod
    def __call__(self, trial_id: str, result: dict[str, Any]) -> bool:
        """Whether the run ends with this report."""

    @abc.abstractmethod
    def stop_all(self) -> bool:
        """Whether everything ends, whatever the report was; asked after each one."""


class NoopStopper(Stopper):
    """Never ends anything.

    Example:
        >>> from headway import train, tune
        >>> config = train.RunConfig(stop=tune.NoopStopper())
    """

    def __call__(self, trial_id: str, result: dict[str, Any]) -> bool:
        """False."""
        return False

    def stop_all(self) -> bool:
        """False."""
        return False


class FunctionStopper(Stopper):
    """A function of the trial's id and of a report as a stopper.

    Args:
        function: ``function(trial_id, result)``, true when the run ends.

    Example:
        >>> from headway import tune
        >>> tune.FunctionStopper(lambda trial_id, result: result["loss"] < 0.1)("trial", {"loss": 0.05})
        True
    """

    def __init__(self, function: Callable[[str, dict[str, Any]], bool]):
        if not callable(function):
            refuse("function", function, "a function of a trial's id and a report")
        self._function = function

    def __call__(self, trial_id: str, result: dict[str, Any]) -> bool:
        """What the function says."""
        return self._function(trial_id, result)

    def stop_all(self) -> bool:
        """False."""
        return False


class CombinedStopper(Stopper):
    """Ends a run as soon as one of several stoppers would.

    Args:
        stoppers: Each is asked after each report.

    Example:
        >>> from headway import tune
        >>> either = tune.CombinedStopper(tune.MaximumIterationStopper(100), tune.TimeoutStopper(3600))
        >>> either("trial", {"training_iteration": 1}), either.stop_all()
        (False, False)
    """

    def __init__(self, *stoppers: Stopper):
        for stopper in stoppers:
            if not isinstance(stopper, Stopper):
                refuse("stoppers", stopper, "Stopper objects")
        self._stoppers = stoppers

    def __call__(self, trial_id: str, result: dict[str, Any]) -> bool:
        """Whether one of them says so."""
        # Each is asked: it may count.
        said = [stopper(trial_id, result) for stopper in self._stoppers]
        return any(said)

    def stop_all(self) -> bool:
        """Whether one of them says so."""
        said = [stopper.stop_all() for stopper in self._stoppers]
        return any(said)


class MaximumIterationStopper(Stopper):
    """Ends a run after a number of reports.

    Args:
        max_iter: How many; at least 1.

    Example:
        >>> from headway import tune
        >>> stopper = tune.MaximumIterationStopper(2)
        >>> [stopper("trial", {}) for _ in range(2)]
        [False, True]
    """

    def __init__(self, max_iter: int):
        self._limit = check_int("max_iter", max_iter, "an integer of at least 1")
        if self._limit < 1:
            raise ValueError(f"max_iter is {max_iter}; allowed: an integer of at least 1")
        self._seen: collections.Counter[str] = collections.Counter()

    def __call__(self, trial_id: str, result: dict[str, Any]) -> bool:
        """Whether this was the last report."""
        self._seen[trial_id] += 1
        return self._seen[trial_id] >= self._limit

    def stop_all(self) -> bool:
        """False."""
        return False


class TimeoutStopper(Stopper):
    """Ends a run at the first report after some time, counted from the first report.

    Args:
        timeout: Seconds, or a ``datetime.timedelta``; above 0.

    Example:
        >>> from headway import train, tune
        >>> config = train.RunConfig(stop=tune.TimeoutStopper(8 * 3600))
    """

    def __init__(self, timeout: float | datetime.timedelta):
        seconds = timeout.total_seconds() if hasattr(timeout, "total_seconds") else timeout
        self._seconds = check_number("timeout", seconds, "seconds above 0, or a datetime.timedelta")
        if not 0 < self._seconds < math.inf:
            raise ValueError(f"timeout is {timeout!r}; allowed: seconds above 0, or a datetime.timedelta")
        self._first: float | None = None

    def __call__(self, trial_id: str, result: dict[str, Any]) -> bool:
        """False: it ends everything, not one trial."""
        return False

    def stop_all(self) -> bool:
        """Whether the time is up."""
        now = time.monotonic()
        self._first = now if self._first is None else self._first
        return now - self._first >= self._seconds


def _spread(values: Iterable[float]) -> float:
    import statistics  # Here: few programs need it, and all would wait for it.

    return statistics.pstdev(values)


def _check_mode(mode: object) -> str:
    if mode not in ("min", "max"):
        raise ValueError(f'mode is {mode!r}; allowed: "min" or "max"')
    return str(mode)


class TrialPlateauStopper(Stopper):
    """Ends a run whose metric does not change any more.

    Args:
        metric: A reported metric.
        std: The run ends when the standard deviation of the newest values is below it.
        num_results: How many newest values count.
        grace_period: Reports before the first judgement.
        metric_threshold: Only when the metric has come to this value, as ``mode`` says.
        mode: ``"min"``: at most the threshold; ``"max"``: at least. Needed with a threshold.

    Example:
        >>> from headway import tune
        >>> stopper = tune.TrialPlateauStopper("loss", std=0.01, num_results=3, grace_period=3)
        >>> [stopper("trial", {"loss": loss}) for loss in (0.9, 0.5, 0.5, 0.5)]
        [False, False, False, True]
    """

    def __init__(
        self,
        metric: str,
        std: float = 0.01,
        num_results: int = 4,
        grace_period: int = 4,
        metric_threshold: float | None = None,
        mode: str | None = None,
    ):
        self._metric = check_str("metric", metric, "the name of a metric")
        self._std = check_number("std", std, "a number")
        self._count = check_int("num_results", num_results, "an integer of at least 1")
        self._grace = check_int("grace_period", grace_period, "an integer")
        if self._std < 0 or self._count < 1:
            raise ValueError(f"std, num_results are {std}, {num_results}; allowed: at least 0, at least 1")
        if metric_threshold is not None:
            metric_threshold = check_number("metric_threshold", metric_threshold, "None or a number")
        self._threshold = metric_threshold
        self._mode = _check_mode(mode) if metric_threshold is not None else ""
        self._seen: collections.Counter[str] = collections.Counter()
        self._values: dict[str, collections.deque[float]] = {}

    def __call__(self, trial_id: str, result: dict[str, Any]) -> bool:
        """Whether the metric rests."""
        value = result[self._metric]
        values = self._values.setdefault(trial_id, collections.deque(maxlen=self._count))
        values.append(value)
        self._seen[trial_id] += 1
        if self._seen[trial_id] < self._grace or len(values) < self._count:
            return False
        if self._threshold is not None:
            reached = value <= self._threshold if self._mode == "min" else value >= self._threshold
            if not reached:
                return False
        return _spread(values) < self._std

    def stop_all(self) -> bool:
        """False."""
        return False


class ExperimentPlateauStopper(Stopper):
    """Ends everything when the best values so far are all alike.

    Args:
        metric: A reported metric.
        std: The standard deviation of the best values below which they are alike.
        top: How many best values count; at least 2.
        mode: ``"min"`` (default): lower is better; or ``"max"``.
        patience: So many reports more, in a row, must leave them alike.

    Example:
        >>> from headway import tune
        >>> stopper = tune.ExperimentPlateauStopper("loss", top=2)
        >>> [stopper("trial", {"loss": loss}) for loss in (0.9, 0.5, 0.5)]
        [False, False, True]
    """

    def __init__(self, metric: str, std: float = 0.001, top: int = 10, mode: str = "min", patience: int = 0):
        self._metric = check_str("metric", metric, "the name of a metric")
        self._std = check_number("std", std, "a number above 0")
        self._top = check_int("top", top, "an integer of at least 2")
        self._mode = _check_mode(mode)
        self._patience = check_int("patience", patience, "an integer of at least 0")
        if self._std <= 0 or self._top < 2 or self._patience < 0:
            raise ValueError(
                f"std, top, patience are {std}, {top}, {patience}; allowed: above 0, at least 2, at least 0"
            )
        self._best: list[float] = []
        self._alike = 0

    def __call__(self, trial_id: str, result: dict[str, Any]) -> bool:
        """Whether nothing gets better any more."""
        self._best = sorted([*self._best, result[self._metric]], reverse=self._mode == "max")[: self._top]
        alike = len(self._best) == self._top and _spread(self._best) <= self._std
        self._alike = self._alike + 1 if alike else 0
        return self.stop_all()

    def stop_all(self) -> bool:
        """Whether nothing got better for long enough."""
        return self._alike > self._patience

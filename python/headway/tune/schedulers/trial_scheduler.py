"""What all schedulers have in common, and the one that decides nothing."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from typing import Any

import cloudpickle

from headway.tune.search.searcher import Searcher, check_objective


@dataclass(frozen=True)
class SavePlan:
    """When a trial of a class has a checkpoint beside those that its ``CheckpointConfig`` wants.

    Attributes:
        attr: How far a trial is.
        interval: Each time that it is so much further; 0: only at ``at``.
        start: Not before.
        at: Once it is there.
    """

    attr: str
    interval: float
    start: float = 0.0
    at: tuple[float, ...] = ()


@dataclass
class CopyAsked:
    """A trial goes on as a copy.

    Attributes:
        number: Counts the copies of the experiment, from 1.
        trial_id: The trial's.
        donor_id: That of the trial that it is a copy of; itself, where only its configuration
            changes.
        history: Where the scheduler keeps it, all comparisons: ``trial``, ``time``, ``score`` (more
            is better) and ``config`` of each.
    """

    number: int
    trial_id: str
    donor_id: str
    history: list[dict[str, Any]] = field(default_factory=list)


@dataclass
class Explored:
    """The configuration with which a trial goes on.

    Attributes:
        config: The configuration.
        words: What has changed.
    """

    config: dict[str, Any] = field(default_factory=dict)
    words: str = ""


class TrialScheduler:
    """The base of all schedulers. Headway's core decides by what these classes describe; a subclass
    that overrides one of the methods below decides itself, on the thread that called ``fit()``.

    The first argument of these methods knows the experiment: ``get_trials()``,
    ``get_live_trials()``, ``get_trial(trial_id)``, ``pause_trial(trial)``, ``stop_trial(trial)``.

    Example:
        >>> from headway.tune.schedulers import FIFOScheduler, TrialScheduler
        >>> class Impatient(FIFOScheduler):
        ...     def on_trial_result(self, tune_controller, trial, result):
        ...         return TrialScheduler.STOP if result["loss"] > 10 else TrialScheduler.CONTINUE
    """

    #: What ``on_trial_result`` returns. ``NOOP``: what was done to the trial meanwhile stands.
    CONTINUE = "CONTINUE"
    PAUSE = "PAUSE"
    STOP = "STOP"
    NOOP = "NOOP"

    metric: str | None = None
    mode: str | None = None
    #: Whether trials become copies of others.
    has_copies = False
    _verdict = CONTINUE

    def for_core(self) -> dict[str, Any]:
        """As the core reads it."""
        return {"kind": "fifo"}

    def take_verdict(self, verdict: str) -> None:
        """What the core says of the report that ``on_trial_result`` is called for next.

        Args:
            verdict: One of the constants.
        """
        self._verdict = verdict

    def set_search_properties(self, metric: str | None, mode: str | None, **spec: Any) -> bool:
        """Hears of the metric and the mode of ``TuneConfig``; those that it has itself stay.

        Args:
            metric: The metric.
            mode: ``"min"`` or ``"max"``.
            spec: For what may be added later.
        """
        if self.metric is None:
            self.metric = metric
        if self.mode is None:
            self.mode = mode
        return True

    def check_search(self, search_alg: Searcher | None, total: int | None) -> None:
        """Refuses what does not go with it.

        Args:
            search_alg: That of ``TuneConfig``.
            total: How many trials there will be; None: unknown.
        """

    def complete(self, config: dict[str, Any]) -> dict[str, Any]:
        """Completes a new trial's configuration; returns what was added.

        Args:
            config: The configuration.
        """
        return {}

    def save_plan(self) -> SavePlan | None:
        """When a class has a checkpoint for it."""
        return None

    def explored(self, donor_config: dict[str, Any], asked: CopyAsked) -> Explored:
        """The configuration of a trial that goes on as a copy.

        Args:
            donor_config: That of the trial that it is a copy of.
            asked: Which trials these are.
        """
        return Explored(dict(donor_config))

    def on_trial_add(self, tune_controller: Any, trial: Any) -> None:
        """There is a new trial."""
        raise NotImplementedError(f"{type(self).__name__} has no on_trial_add(tune_controller, trial)")

    def on_trial_result(self, tune_controller: Any, trial: Any, result: dict[str, Any]) -> str:
        """Decides about a report: ``CONTINUE``, ``PAUSE`` or ``STOP``."""
        raise NotImplementedError(f"{type(self).__name__} has no on_trial_result(tune_controller, trial, result)")

    def on_trial_complete(self, tune_controller: Any, trial: Any, result: dict[str, Any]) -> None:
        """A trial that ran has ended by itself, or was stopped."""
        raise NotImplementedError(f"{type(self).__name__} has no on_trial_complete(tune_controller, trial, result)")

    def on_trial_error(self, tune_controller: Any, trial: Any) -> None:
        """A trial has failed."""
        raise NotImplementedError(f"{type(self).__name__} has no on_trial_error(tune_controller, trial)")

    def on_trial_remove(self, tune_controller: Any, trial: Any) -> None:
        """A trial that did not run has ended."""
        raise NotImplementedError(f"{type(self).__name__} has no on_trial_remove(tune_controller, trial)")

    def choose_trial_to_run(self, tune_controller: Any) -> Any:
        """The trial that starts where there is a place: a pending or a paused one, or None."""
        raise NotImplementedError(f"{type(self).__name__} has no choose_trial_to_run(tune_controller)")

    def debug_string(self) -> str:
        """In words."""
        return type(self).__name__

    def save(self, checkpoint_path: str) -> None:
        """Keeps what it has seen in a file.

        Args:
            checkpoint_path: The file.
        """
        with open(checkpoint_path, "wb") as file:
            cloudpickle.dump(vars(self), file)

    def restore(self, checkpoint_path: str) -> None:
        """Takes up what :meth:`save` has kept.

        Args:
            checkpoint_path: The file.
        """
        with open(checkpoint_path, "rb") as file:
            vars(self).update(cloudpickle.load(file))


class FIFOScheduler(TrialScheduler):
    """Lets every trial run to its end. It is what schedules when ``TuneConfig.scheduler`` is None.

    In a subclass of another scheduler, such as ``ASHAScheduler``, ``super().on_trial_result(...)``
    is that one's decision.

    Example:
        >>> from headway import tune
        >>> config = tune.TuneConfig(scheduler=tune.schedulers.FIFOScheduler())
    """

    def on_trial_add(self, tune_controller: Any, trial: Any) -> None:
        """The core knows."""

    def on_trial_result(self, tune_controller: Any, trial: Any, result: dict[str, Any]) -> str:
        """The core's decision."""
        return self._verdict

    def on_trial_complete(self, tune_controller: Any, trial: Any, result: dict[str, Any]) -> None:
        """The core knows."""

    def on_trial_error(self, tune_controller: Any, trial: Any) -> None:
        """The core knows."""

    def on_trial_remove(self, tune_controller: Any, trial: Any) -> None:
        """The core knows."""

    def choose_trial_to_run(self, tune_controller: Any) -> Any:
        """New trials go before paused ones."""
        trials = tune_controller.get_trials()
        waiting = [each for status in ("PENDING", "PAUSED") for each in trials if each.status == status]
        return waiting[0] if waiting else None


def described(scheduler: TrialScheduler, kind: str, own: type) -> dict[str, Any]:
    """The arguments of one of Headway's schedulers, as the core reads them. A subclass may have
    other attributes.

    Args:
        scheduler: The scheduler.
        kind: As the core calls it.
        own: Headway's class.
    """
    names = [name for name in inspect.signature(own).parameters if hasattr(scheduler, name)]
    return {"kind": kind, **{name: getattr(scheduler, name) for name in names}}


def objective(metric: object, mode: object) -> tuple[str | None, str | None]:
    """A scheduler's metric and mode, checked."""
    for name, value in (("metric", metric), ("mode", mode)):
        if isinstance(value, (list, tuple)):
            raise TypeError(f"{name} is {value!r} ({type(value).__name__}); allowed: one, since a scheduler has one")
    check_objective(metric, mode)
    return metric, mode  # type: ignore[return-value]

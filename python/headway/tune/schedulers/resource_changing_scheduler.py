"""Trials whose CPUs and GPUs change while they train."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headway._values.arguments import check_instance, refuse
from headway._values.log import warn
from headway._values.named_arguments import offer
from headway.tune.schedulers.distribute_resources import DistributeResources, DistributeResourcesToTopJob
from headway.tune.schedulers.trial_scheduler import CopyAsked, Explored, FIFOScheduler, SavePlan, TrialScheduler
from headway.tune.search.searcher import Searcher

__all__ = ["DistributeResources", "DistributeResourcesToTopJob", "ResourceChangingScheduler"]

_EVENLY = DistributeResources()


class ResourceChangingScheduler(TrialScheduler):
    """Changes what trials may use, beside another scheduler's decisions.

    A trial whose resources change pauses, and resumes from its newest checkpoint with the new ones:
    report a checkpoint with each report, or set ``CheckpointConfig(checkpoint_frequency=1)`` for a
    ``Trainable``. ``tune.get_context().get_trial_resources()`` says in the trial what it has.

    Args:
        base_scheduler: What decides which trials continue; default: all do.
        resources_allocation_function: Called after each report with an object that knows all
            trials, the trial, its result and this scheduler. Returns a ``PlacementGroupFactory``,
            or None where nothing changes.

    Example:
        >>> from headway.tune.schedulers import ASHAScheduler, ResourceChangingScheduler
        >>> scheduler = ResourceChangingScheduler(ASHAScheduler(max_t=16))
    """

    def __init__(
        self,
        base_scheduler: TrialScheduler | None = None,
        resources_allocation_function: Callable[..., Any] | None = _EVENLY,
    ):
        check_instance("base_scheduler", base_scheduler, TrialScheduler, "None, or a scheduler")
        if resources_allocation_function is None:
            warn("resources_allocation_function is None: no trial's resources change")
        elif not callable(resources_allocation_function):
            refuse("resources_allocation_function", resources_allocation_function, "None, or a function")
        self._base_scheduler: TrialScheduler = base_scheduler or FIFOScheduler()
        self._function = resources_allocation_function
        #: What trials begin with.
        self.base_trial_resources: Any = None

    @property
    def _base_trial_resources(self) -> Any:
        """The name by which Ray's guides read it in a ``resources_allocation_function``."""
        return self.base_trial_resources

    @property
    def metric(self) -> str | None:  # type: ignore[override]
        """That of the base scheduler."""
        return self._base_scheduler.metric

    @property
    def mode(self) -> str | None:  # type: ignore[override]
        """That of the base scheduler."""
        return self._base_scheduler.mode

    @property
    def has_copies(self) -> bool:  # type: ignore[override]
        """As of the base scheduler."""
        return self._base_scheduler.has_copies

    def for_core(self) -> dict[str, Any]:
        """As the core reads it."""
        return self._base_scheduler.for_core()

    def check_search(self, search_alg: Searcher | None, total: int | None) -> None:
        """As the base scheduler does."""
        self._base_scheduler.check_search(search_alg, total)

    def complete(self, config: dict[str, Any]) -> dict[str, Any]:
        """As the base scheduler does."""
        return self._base_scheduler.complete(config)

    def save_plan(self) -> SavePlan | None:
        """As of the base scheduler."""
        return self._base_scheduler.save_plan()

    def explored(self, donor_config: dict[str, Any], asked: CopyAsked) -> Explored:
        """As the base scheduler does."""
        return self._base_scheduler.explored(donor_config, asked)

    def take_verdict(self, verdict: str) -> None:
        """What the core says of the report that is asked about next."""
        self._base_scheduler.take_verdict(verdict)

    def set_search_properties(self, metric: str | None, mode: str | None, **spec: Any) -> bool:
        """Those of ``TuneConfig``."""
        function: Any = self._function
        if isinstance(function, DistributeResourcesToTopJob):
            function.metric = function.metric or self._base_scheduler.metric or metric
            function.mode = function.mode or self._base_scheduler.mode or mode
        return self._base_scheduler.set_search_properties(metric, mode, **spec)

    def on_trial_add(self, tune_controller: Any, trial: Any) -> None:
        """All trials begin with the same."""
        if trial.placement_group_factory is None:
            raise ValueError(
                "a trainer's trials use what its ScalingConfig says; allowed with ResourceChangingScheduler: a "
                "function or a class"
            )
        if self.base_trial_resources is None:
            self.base_trial_resources = trial.placement_group_factory
        elif trial.placement_group_factory != self.base_trial_resources and not tune_controller.has_changed(trial):
            raise RuntimeError(
                f"trial {trial.trial_id} begins with {trial.placement_group_factory}, and the first one began with "
                f"{self.base_trial_resources}; allowed: the same for all trials of a ResourceChangingScheduler"
            )
        self._base_scheduler.on_trial_add(tune_controller, trial)

    def on_trial_result(self, tune_controller: Any, trial: Any, result: dict[str, Any]) -> str:
        """The base scheduler's decision, or a pause for other resources."""
        decision = self._base_scheduler.on_trial_result(tune_controller, trial, result)
        if decision != TrialScheduler.CONTINUE or self._function is None:
            return decision
        new = self._function(tune_controller, trial, result, self)
        if new is None or new == trial.placement_group_factory:
            return decision
        if not isinstance(new, type(self.base_trial_resources)):
            refuse("what resources_allocation_function returns", new, "a PlacementGroupFactory, or None")
        tune_controller.change_resources(trial, new)
        return TrialScheduler.PAUSE

    def on_trial_complete(self, tune_controller: Any, trial: Any, result: dict[str, Any]) -> None:
        """As the base scheduler does."""
        self._base_scheduler.on_trial_complete(tune_controller, trial, result)

    def on_trial_error(self, tune_controller: Any, trial: Any) -> None:
        """As the base scheduler does."""
        self._base_scheduler.on_trial_error(tune_controller, trial)

    def on_trial_remove(self, tune_controller: Any, trial: Any) -> None:
        """As the base scheduler does."""
        self._base_scheduler.on_trial_remove(tune_controller, trial)

    def choose_trial_to_run(self, tune_controller: Any) -> Any:
        """As the base scheduler does."""
        return self._base_scheduler.choose_trial_to_run(tune_controller)

    def debug_string(self) -> str:
        """In words."""
        return f"(ResourceChangingScheduler) {self._base_scheduler.debug_string()}"


offer(globals(), __all__)

"""From a configuration to the run that a trial is."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from headway._runtime.runtime import get_runtime, preload_modules
from headway._values import pickling
from headway._values.arguments import refuse
from headway.train import Checkpoint, DataParallelTrainer, RunConfig, ScalingConfig
from headway.train._config import shown_config
from headway.train.backend import Backend, BackendConfig
from headway.train.data_parallel_trainer import check_reports_its_own
from headway.tune._experiment import resources
from headway.tune._experiment.in_trial import ClassTrial, FunctionTrial
from headway.tune._experiment.resources import PlacementGroupFactory
from headway.tune._experiment.space_filling import merge
from headway.tune._experiment.trainable import Trainable
from headway.tune.schedulers.trial_scheduler import SavePlan, TrialScheduler

_ALLOWED = "a function of a configuration, a subclass of headway.tune.Trainable, or a trainer"
_HOOKS = ("on_start", "on_training_start", "on_shutdown")


class _TrialConfig(BackendConfig):
    """No framework: a function's or a class's own."""

    preload: ClassVar[tuple[str, ...]] = ("headway.tune",)


@dataclass(frozen=True)
class PreparedTrial:
    """A trial's run, which is about to start.

    Attributes:
        trainer: Makes the trainer that the run is of.
        arguments: What ``Experiment.start_trial`` takes.
    """

    trainer: Callable[[], DataParallelTrainer]
    arguments: dict[str, Any]


class TrialStart:
    """Makes the runs of an experiment's trials.

    Args:
        trainable: What the user gave to ``Tuner``.
        run_config: The experiment's.
        path: The experiment's folder.
        from_checkpoint: What trials begin with.
        scheduler: It may want checkpoints.
    """

    def __init__(
        self,
        trainable: Any,
        run_config: RunConfig,
        path: str,
        from_checkpoint: Checkpoint | None = None,
        scheduler: TrialScheduler | None = None,
    ):
        self._trainable = check_trainable(trainable)
        self._from_checkpoint = from_checkpoint
        self._path = path
        self._run_config = replace(
            run_config,
            name=None,
            storage_path=path,
            storage_filesystem=None,
            callbacks=None,
            stop=None,
            progress_reporter=None,
            verbose=0,
            failure_config=replace(run_config.failure_config, fail_fast=False),
        )
        self._newest_scaling: tuple[PlacementGroupFactory, ScalingConfig, dict[str, Any]] | None = None
        self._loop: Any = None
        if not isinstance(trainable, DataParallelTrainer):
            self._loop = self._made_loop(run_config, scheduler.save_plan() if scheduler is not None else None)

    def _made_loop(self, run_config: RunConfig, plan: SavePlan | None) -> Any:
        """Pickled once for all trials."""
        function = resources.plain(self._trainable)
        pickled = pickling.dumps((function,), ("trainable",), "trainable")
        if not _is_class(function):
            return FunctionTrial(pickled)
        config = run_config.checkpoint_config
        saves = function.save_checkpoint is not Trainable.save_checkpoint
        at_end = saves if config.checkpoint_at_end is None else config.checkpoint_at_end
        limits = run_config._stop_limits or {}
        return ClassTrial(pickled, config.checkpoint_frequency or 0, at_end, limits, plan if saves else None)

    @functools.cached_property
    def _preload(self) -> list[str]:
        """What every trial of a function or class imports: its pickle does not show it."""
        return preload_modules(_TrialConfig.preload, resources.plain(self._trainable))

    def check(self) -> None:
        """Refuses what no trial could start with.

        Raises:
            ValueError: checkpoints of a function are those that it reports.
        """
        if isinstance(self._loop, FunctionTrial):
            check_reports_its_own(self._run_config)

    def warm(self) -> None:
        """Has a worker factory import what trials need, while the search makes itself ready."""
        if self._loop is not None and not self._run_config.worker_runtime_env:
            get_runtime().warm(self._preload)

    def resources(self, config: dict[str, Any]) -> PlacementGroupFactory | None:
        """What a trial begins with; None: a trainer says it by itself."""
        if isinstance(self._trainable, DataParallelTrainer):
            return None
        return resources.request_of(self._trainable, config)

    def prepared(
        self,
        config: dict[str, Any],
        trial_id: str,
        folder: str,
        name: str,
        changed: PlacementGroupFactory | None = None,
    ) -> PreparedTrial:
        """A trial's run.

        Args:
            config: The trial's configuration.
            trial_id: Its id.
            folder: The name of its folder.
            name: Its name.
            changed: What it may use, where that is not what it began with.

        Raises:
            TypeError, ValueError: the configuration is none that the trainer takes.
        """
        if self._loop is None:
            trainer = _configured(
                self._trainable, config, replace(self._run_config, name=folder), self._from_checkpoint
            )
            trainer._trial_name = name
            return PreparedTrial(lambda: trainer, self._arguments(trainer, trial_id))
        scaling, scaling_for_core = self._scaling(changed or resources.request_of(self._trainable, config))
        loop = replace(self._loop, name=name)
        spec = {
            **self._template_spec,
            "run": {**self._template_spec["run"], "name": folder},
            "scaling": scaling_for_core,
            "trial_id": trial_id,
            "config": shown_config.as_json(config),
        }
        arguments = {
            **self._template,
            "spec_json": json.dumps(spec),
            "task": pickling.dumps((loop, config), ("trainable", "config")),
        }
        return PreparedTrial(lambda: self._trainer(loop, config, scaling, folder), arguments)

    def _scaling(self, request: PlacementGroupFactory) -> tuple[ScalingConfig, dict[str, Any]]:
        """As a run has it, and as the core reads it: made once for trials that use the same."""
        if self._newest_scaling is None or self._newest_scaling[0] != request:
            scaling = request.scaling()
            self._newest_scaling = request, scaling, scaling.for_core()
        return self._newest_scaling[1:]

    def _trainer(
        self, loop: Any, config: dict[str, Any], scaling: ScalingConfig, folder: str = "trial"
    ) -> DataParallelTrainer:
        """A function's or a class's."""
        return DataParallelTrainer(
            loop,
            train_loop_config=config,
            backend_config=_TrialConfig(),
            scaling_config=scaling,
            run_config=replace(self._run_config, name=folder),
            resume_from_checkpoint=self._from_checkpoint,
        )

    def _arguments(self, trainer: DataParallelTrainer, trial_id: str) -> dict[str, Any]:
        spec = trainer._spec()
        spec.update(trial_id=trial_id, trainer=name_of(self._trainable), stop=None)
        arguments = trainer._start_arguments(spec)
        del arguments["trainer"]
        if trainer.validation_config is not None:
            arguments["validation"] = trainer.validation_config._dumps()
        return {**arguments, "hooks": has_hooks(trainer)}

    @functools.cached_property
    def _template(self) -> dict[str, Any]:
        """What all trials of a function or of a class have in common: these are checked and made
        once.
        """
        _ = self._preload  # From now on, that of all runs with this framework.
        return self._arguments(self._trainer(self._loop, {}, ScalingConfig()), "")

    @functools.cached_property
    def _template_spec(self) -> dict[str, Any]:
        spec: dict[str, Any] = json.loads(self._template["spec_json"])
        return spec


def check_trainable(trainable: Any) -> Any:
    """``Tuner``'s first argument."""
    if isinstance(trainable, DataParallelTrainer):
        if trainable.scaling_config.num_workers == 0:
            raise ValueError("ScalingConfig.num_workers of the trainer is 0 with a Tuner; allowed: at least 1")
        return trainable
    kind = resources.plain(trainable)
    if not callable(trainable) or (isinstance(kind, type) and not issubclass(kind, Trainable)):
        refuse("trainable", trainable, _ALLOWED)
    return trainable


def name_of(trainable: Any) -> str:
    """What the trials' folders begin with."""
    if isinstance(trainable, DataParallelTrainer):
        return type(trainable).__name__
    plain = resources.plain(trainable)
    name = getattr(trainable, resources.NAME, None) or getattr(plain, "__name__", None) or type(plain).__name__
    return "lambda" if name == "<lambda>" else str(name)


def has_hooks(trainer: DataParallelTrainer) -> bool:
    """Whether the framework does anything in the driver."""
    backend = trainer.backend_config.backend_cls
    return any(getattr(backend, name) is not getattr(Backend, name) for name in _HOOKS)


def _is_class(trainable: Any) -> bool:
    return isinstance(trainable, type) and issubclass(trainable, Trainable)


def _configured(
    trainer: DataParallelTrainer, config: dict[str, Any], run_config: RunConfig, checkpoint: Checkpoint | None
) -> DataParallelTrainer:
    """A trainer with the values of a configuration over its own arguments."""
    arguments = {**trainer._parts(), "datasets": trainer.datasets, "dataset_config": trainer.dataset_config}
    if trainer._parameters is not None:
        # Its training function is made of these.
        del arguments["train_loop_per_worker"], arguments["train_loop_config"]
        arguments.update(trainer._parameters)
    if checkpoint is not None:
        arguments["resume_from_checkpoint"] = checkpoint
    for name, value in config.items():
        own = arguments.get(name)
        if isinstance(own, ScalingConfig) and isinstance(value, Mapping):
            value = replace(own, **value)
        elif isinstance(own, Mapping) and isinstance(value, Mapping):
            value = merge(own, value)
        arguments[name] = value
    return type(trainer)(**{**arguments, "run_config": run_config})

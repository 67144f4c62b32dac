"""From a configuration to the run that a trial is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from headway._values import pickling
from headway._values.arguments import refuse
from headway.train import Checkpoint, DataParallelTrainer, RunConfig, ScalingConfig
from headway.train.backend import Backend
from headway.train.data_parallel_trainer import check_reports_its_own
from headway.tune._experiment import resources
from headway.tune._experiment.in_trial import ClassTrial, FunctionTrial
from headway.tune._experiment.resources import PlacementGroupFactory
from headway.tune._experiment.space_filling import merge
from headway.tune._experiment.trainable import Trainable
from headway.tune.schedulers.trial_scheduler import SavePlan, TrialScheduler

_ALLOWED = "a function of a configuration, a subclass of headway.tune.Trainable, or a trainer"
_HOOKS = ("on_start", "on_training_start", "on_shutdown")


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

    def check(self) -> None:
        """Refuses what no trial could start with.

        Raises:
            ValueError: checkpoints of a function are those that it reports.
        """
        if isinstance(self._loop, FunctionTrial):
            check_reports_its_own(self._run_config)

    def resources(self, config: dict[str, Any]) -> PlacementGroupFactory | None:
        """What a trial begins with; None: a trainer says it by itself."""
        if isinstance(self._trainable, DataParallelTrainer):
            return None
        return resources.request_of(self._trainable, config)

    def trainer(
        self,
        config: dict[str, Any],
        folder: str = "trial",
        name: str = "",
        changed: PlacementGroupFactory | None = None,
    ) -> DataParallelTrainer:
        """The trial's trainer.

        Args:
            config: The trial's configuration.
            folder: The name of its folder.
            name: Its name.
            changed: What it may use, where that is not what it began with.

        Raises:
            TypeError, ValueError: the configuration is none that the trainer takes.
        """
        run_config = replace(self._run_config, name=folder)
        if isinstance(self._trainable, DataParallelTrainer):
            trainer = _configured(self._trainable, config, run_config, self._from_checkpoint)
            trainer._trial_name = name
            return trainer
        return DataParallelTrainer(
            replace(self._loop, name=name),
            train_loop_config=config,
            scaling_config=(changed or resources.request_of(self._trainable, config)).scaling(),
            run_config=run_config,
            resume_from_checkpoint=self._from_checkpoint,
        )

    def arguments(self, trainer: DataParallelTrainer, trial_id: str, config: dict[str, Any]) -> dict[str, Any]:
        """What ``Experiment.start_trial`` takes."""
        spec = trainer._spec()
        spec.update(trial_id=trial_id, trainer=name_of(self._trainable), stop=None)
        arguments = trainer._start_arguments(spec)
        del arguments["trainer"]
        if trainer.validation_config is not None:
            arguments["validation"] = trainer.validation_config._dumps()
        return {**arguments, "hooks": has_hooks(trainer)}


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

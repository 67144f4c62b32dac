"""``tune.run``: an experiment by one call."""

from __future__ import annotations

import datetime
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from headway._callbacks.callback import Callback
from headway._callbacks.progress_reporter import ProgressReporter
from headway._storage import locations
from headway._values.arguments import check_bool, check_instance, refuse
from headway._values.log import notice
from headway.train import Checkpoint, CheckpointConfig, DataParallelTrainer, FailureConfig, RunConfig, SyncConfig
from headway.tune._experiment.analysis import ExperimentAnalysis
from headway.tune._experiment.experiment import Experiment
from headway.tune._experiment.registry import resolved
from headway.tune._experiment.resources import with_resources
from headway.tune._experiment.resume import ResumeConfig, parsed
from headway.tune._experiment.tune_config import TuneConfig
from headway.tune._experiment.tuner import Tuner
from headway.tune.schedulers import create_scheduler
from headway.tune.schedulers.trial_scheduler import TrialScheduler
from headway.tune.search import create_searcher
from headway.tune.search.errors import TuneError
from headway.tune.search.searcher import Searcher


def run(
    run_or_experiment: Any,
    *,
    name: str | None = None,
    metric: str | None = None,
    mode: str | None = None,
    stop: Any = None,
    time_budget_s: float | datetime.timedelta | None = None,
    config: dict[str, Any] | None = None,
    resources_per_trial: Any = None,
    num_samples: int = 1,
    storage_path: str | os.PathLike[str] | None = None,
    storage_filesystem: Any = None,
    search_alg: Searcher | str | None = None,
    scheduler: TrialScheduler | str | None = None,
    checkpoint_config: CheckpointConfig | None = None,
    verbose: int | None = None,
    progress_reporter: ProgressReporter | None = None,
    log_to_file: bool | str | tuple[str, str] = False,
    trial_name_creator: Callable[[Any], str] | None = None,
    trial_dirname_creator: Callable[[Any], str] | None = None,
    sync_config: SyncConfig | None = None,
    export_formats: Sequence[str] | None = None,
    max_failures: int = 0,
    fail_fast: bool | str = False,
    restore: str | os.PathLike[str] | None = None,
    resume: bool | str | None = None,
    resume_config: ResumeConfig | None = None,
    reuse_actors: bool = False,
    raise_on_failed_trial: bool = True,
    callbacks: Sequence[Callback] | None = None,
    max_concurrent_trials: int | None = None,
) -> ExperimentAnalysis:
    """Runs an experiment: what ``Tuner(...).fit()`` does, with all arguments in one place.

    Args:
        run_or_experiment: A function of a configuration, a subclass of :class:`Trainable`, a
            trainer, a name of ``register_trainable``, or an :class:`Experiment`.
        name: The experiment's.
        metric: What is optimised.
        mode: ``"min"`` or ``"max"``.
        stop: As ``RunConfig.stop``.
        time_budget_s: As ``TuneConfig.time_budget_s``.
        config: The search space.
        resources_per_trial: As :func:`with_resources` takes them.
        num_samples: How many trials, times the points of the grids.
        storage_path: Where the experiment's folder is.
        storage_filesystem: What ``storage_path`` is on.
        search_alg: A searcher, or its name: see :func:`create_searcher`.
        scheduler: A scheduler, or its name: see :func:`create_scheduler`.
        checkpoint_config: As ``RunConfig.checkpoint_config``.
        verbose: As ``RunConfig.verbose``.
        progress_reporter: As ``RunConfig.progress_reporter``.
        log_to_file: As ``RunConfig.log_to_file``.
        trial_name_creator: As ``TuneConfig.trial_name_creator``.
        trial_dirname_creator: As ``TuneConfig.trial_dirname_creator``.
        sync_config: As ``RunConfig.sync_config``.
        export_formats: Of an older API; None.
        max_failures: Each trial's budget of restarts; -1 without end.
        fail_fast: As ``FailureConfig.fail_fast``.
        restore: A checkpoint that all trials begin with.
        resume: ``True`` or ``"LOCAL"`` resumes the experiment of this name, ``"AUTO"`` does if
            there is one; ``"AUTO+ERRORED"``, ``"AUTO+RESTART_ERRORED"`` failed trials, too.
        resume_config: What is resumed, in place of the words of ``resume``.
        reuse_actors: Without effect: each trial has its own process.
        raise_on_failed_trial: Whether a failed trial is an error at the end.
        callbacks: As ``RunConfig.callbacks``.
        max_concurrent_trials: As ``TuneConfig.max_concurrent_trials``.

    Returns:
        The experiment's trials.

    Raises:
        TuneError: a trial has failed, and ``raise_on_failed_trial`` is True.

    Example:
        >>> from headway import tune
        >>> def trial(config):
        ...     tune.report({"loss": (config["x"] - 1) ** 2})
        >>> analysis = tune.run(
        ...     trial, config={"x": tune.grid_search([0, 1, 2])}, metric="loss", mode="min", verbose=0
        ... )
        >>> analysis.best_config
        {'x': 1}
    """
    return _run(dict(locals()))


def run_experiments(
    experiments: Experiment | Sequence[Experiment] | Mapping[str, Mapping[str, Any]],
    *,
    scheduler: TrialScheduler | None = None,
    verbose: int | None = None,
    progress_reporter: ProgressReporter | None = None,
    resume: bool | str | None = None,
    resume_config: ResumeConfig | None = None,
    reuse_actors: bool = False,
    raise_on_failed_trial: bool = True,
    concurrent: bool = True,
    callbacks: Sequence[Callback] | None = None,
) -> list[Any]:
    """Runs experiments, one after the other, and returns their trials.

    Args:
        experiments: An :class:`Experiment`, a list of them, or a dict from names to dicts of their
            arguments.
        scheduler: As :func:`run` takes it; so are those below.
        verbose: The same.
        progress_reporter: The same.
        resume: The same.
        resume_config: The same.
        reuse_actors: The same.
        raise_on_failed_trial: The same.
        concurrent: Without effect: the trials of one experiment run side by side.
        callbacks: The same as for :func:`run`.

    Example:
        >>> from headway import tune
        >>> def trial(config):
        ...     tune.report({"loss": config["x"]})
        >>> spec = {"run": trial, "config": {"x": tune.grid_search([1, 2])}}
        >>> [each.last_result["loss"] for each in tune.run_experiments({"first": spec}, verbose=0)]
        [1, 2]
    """
    check_bool("concurrent", concurrent)
    trials: list[Any] = []
    for each in _experiments(experiments):
        analysis = run(
            each,
            scheduler=scheduler,
            verbose=verbose,
            progress_reporter=progress_reporter,
            resume=resume,
            resume_config=resume_config,
            reuse_actors=reuse_actors,
            raise_on_failed_trial=raise_on_failed_trial,
            callbacks=callbacks,
        )
        trials += analysis.trials
    return trials


def _run(arguments: dict[str, Any]) -> ExperimentAnalysis:
    what = arguments["run_or_experiment"]
    if isinstance(what, Experiment):
        arguments = {**arguments, "name": what.name, **what.spec}
    else:
        arguments = {**arguments, "run": what}
    if arguments["export_formats"]:
        raise ValueError(
            f"export_formats is {arguments['export_formats']!r}; allowed: None. Export the model from its checkpoint"
        )
    check_bool("raise_on_failed_trial", arguments["raise_on_failed_trial"])
    tune_config, run_config = _tune_config(arguments), _run_config(arguments)
    trainable = _with_resources(resolved(arguments["run"]), arguments["resources_per_trial"])
    tuner = Tuner(trainable, param_space=arguments["config"], tune_config=tune_config, run_config=run_config)
    tuner._from_checkpoint = _checkpoint(arguments["restore"])
    _resume(tuner, run_config, arguments["resume"], arguments["resume_config"])
    grid = tuner.fit()
    analysis = ExperimentAnalysis(
        grid._records.location, default_metric=tune_config.metric, default_mode=tune_config.mode
    )
    replaced = {record.trial_id for record in grid._list if record.replaced}
    failed = [trial for trial in analysis.trials if trial.status == "ERROR" and trial.trial_id not in replaced]
    if failed and arguments["raise_on_failed_trial"]:
        names = ", ".join(map(str, failed))
        raise TuneError(f"{len(failed)} of {len(grid)} trials failed: {names}") from grid.errors[-1]
    return analysis


def _tune_config(arguments: dict[str, Any]) -> TuneConfig:
    search, scheduler = arguments["search_alg"], arguments["scheduler"]
    names = ("metric", "mode", "num_samples", "max_concurrent_trials", "time_budget_s", "reuse_actors")
    creators = ("trial_name_creator", "trial_dirname_creator")
    return TuneConfig(
        search_alg=create_searcher(search) if isinstance(search, str) else search,
        scheduler=create_scheduler(scheduler) if isinstance(scheduler, str) else scheduler,
        **{name: arguments[name] for name in (*names, *creators)},
    )


def _run_config(arguments: dict[str, Any]) -> RunConfig:
    fail_fast, callbacks = arguments["fail_fast"], arguments["callbacks"]
    if not isinstance(fail_fast, bool) and fail_fast != "raise":
        refuse("fail_fast", fail_fast, 'True, False or "raise"')
    names = ("name", "storage_path", "storage_filesystem", "checkpoint_config", "sync_config", "verbose", "stop")
    return RunConfig(
        failure_config=FailureConfig(max_failures=arguments["max_failures"], fail_fast=fail_fast),
        log_to_file=arguments["log_to_file"] or None,
        callbacks=list(callbacks) if callbacks is not None else None,
        progress_reporter=arguments["progress_reporter"],
        **{name: arguments[name] for name in names},
    )


def _experiments(experiments: Any) -> list[Experiment]:
    if isinstance(experiments, Experiment):
        return [experiments]
    if isinstance(experiments, Mapping):
        return [Experiment.from_json(name, spec) for name, spec in experiments.items()]
    allowed = "an Experiment, a list of them, or a dict from names to dicts of arguments"
    if isinstance(experiments, str) or not isinstance(experiments, Sequence):
        refuse("experiments", experiments, allowed)
    for index, each in enumerate(experiments):
        if not isinstance(each, Experiment):
            refuse(f"experiments[{index}]", each, "an Experiment")
    return list(experiments)


def _with_resources(trainable: Any, resources: Any) -> Any:
    if resources is None:
        return trainable
    if isinstance(trainable, DataParallelTrainer):
        raise ValueError("resources_per_trial is given with a trainer; allowed: None, its ScalingConfig has them")
    return with_resources(trainable, resources)


def _checkpoint(restore: Any) -> Checkpoint | None:
    if restore is None:
        return None
    if isinstance(restore, Checkpoint):
        return restore
    if not isinstance(restore, (str, os.PathLike)):
        refuse("restore", restore, "None, or a checkpoint's folder")
    path = os.path.abspath(os.path.expanduser(restore))
    if not os.path.isdir(path):
        raise FileNotFoundError(f"restore is {path!r}, which is no folder")
    return Checkpoint.from_directory(path)


def _resume(tuner: Tuner, run_config: RunConfig, resume: Any, resume_config: Any) -> None:
    when, what = parsed(resume)
    check_instance("resume_config", resume_config, ResumeConfig, "a ResumeConfig or None")
    if resume_config is not None:
        when, what = ("auto" if when == "never" else when), resume_config
    if when == "never":
        return
    if run_config.name is None:
        raise ValueError(f"resume is {resume!r} without a name; allowed: with the name of an experiment")
    path = locations.join(run_config._location, run_config.name)
    if Tuner.can_restore(path):
        tuner._resume_in(path, what)
    elif when == "must":
        raise ValueError(
            f'resume is {resume!r}, and {locations.shown(path)} holds no experiment; allowed: "AUTO", or resume=False'
        )
    else:
        notice(f"{locations.shown(path)} holds no experiment yet; a new one begins")

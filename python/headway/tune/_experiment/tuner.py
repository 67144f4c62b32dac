"""``Tuner``: many trials of one trainable."""

from __future__ import annotations

import itertools
import json
import os
from dataclasses import replace
from typing import Any

from headway import _core
from headway import _session as worker_session
from headway._runtime.environment import without_secrets
from headway._runtime.runtime import get_runtime
from headway._storage import locations
from headway._values.arguments import check_bool, check_instance
from headway._values.log import notice
from headway.train import Checkpoint, DataParallelTrainer, RunConfig
from headway.train._run.uncaught import interrupted
from headway.tune._experiment import saved_tuner
from headway.tune._experiment.callbacks import ExperimentCallbacks
from headway.tune._experiment.folder import ExperimentFolder
from headway.tune._experiment.front_scheduler import chooses, decides
from headway.tune._experiment.loop import ExperimentLoop, abandon
from headway.tune._experiment.records import Records
from headway.tune._experiment.registry import resolved
from headway.tune._experiment.result_grid import ResultGrid
from headway.tune._experiment.resume import ResumeConfig
from headway.tune._experiment.search_state import SearchState
from headway.tune._experiment.trial_start import TrialStart, name_of
from headway.tune._experiment.tune_config import TuneConfig, check_space
from headway.tune.schedulers.trial_scheduler import FIFOScheduler, TrialScheduler


class Tuner:
    """Tries configurations of a training function, a class or a trainer: each trial is a run.

    Args:
        trainable: A function of a configuration, a subclass of :class:`Trainable`, or a trainer.
        param_space: The search space. With a trainer its keys are the trainer's arguments, such as
            ``{"train_loop_config": {"lr": tune.loguniform(1e-4, 1)}}``.
        tune_config: How the experiment searches.
        run_config: Where results go, and each trial's failures and checkpoints. Default: the
            trainer's, if it is one.

    Example:
        >>> from headway import tune
        >>> def trial(config):
        ...     tune.report({"loss": (config["x"] - 1) ** 2})
        >>> tuner = tune.Tuner(trial, param_space={"x": tune.uniform(0, 3)})
        >>> tuner.fit().get_best_result("loss", "min").config  # doctest: +SKIP
        {'x': 1.02}
    """

    def __init__(
        self,
        trainable: Any,
        *,
        param_space: dict[str, Any] | None = None,
        tune_config: TuneConfig | None = None,
        run_config: RunConfig | None = None,
    ):
        trainable = self._trainable = resolved(trainable)
        self._space = check_space(param_space)
        self._tune_config: TuneConfig = (
            check_instance("tune_config", tune_config, TuneConfig, "a TuneConfig or None") or TuneConfig()
        )
        check_instance("run_config", run_config, RunConfig, "a RunConfig or None")
        own = trainable.run_config if isinstance(trainable, DataParallelTrainer) else None
        self._run_config: RunConfig = run_config or own or RunConfig()
        #: What of an earlier driver's trials is resumed; None for a new experiment.
        self._restores: dict[str, bool] | None = None
        #: The states of those that are tried once more.
        self._restarts: set[str] = set()
        # How many trials other searches had suggested before this one.
        self._first = 0
        self._from_checkpoint: Checkpoint | None = None
        self._location: str | None = None
        #: What a restored tuner goes on without.
        self._missing = saved_tuner.Missing()
        self.restore = _not_of_an_object  # type: ignore[method-assign]

    @classmethod
    def can_restore(cls, path: str | os.PathLike[str], storage_filesystem: Any = None) -> bool:
        """Whether there is an experiment that ``restore`` can resume.

        Args:
            path: The experiment's folder.
            storage_filesystem: What ``path`` is on. Default: it is local, or a URL.

        Example:
            >>> from headway import tune
            >>> tune.Tuner.can_restore("/nowhere")
            False
        """
        return saved_tuner.FILE_NAME in locations.files_in(_located(path, storage_filesystem))

    @classmethod
    def restore(
        cls,
        path: str | os.PathLike[str],
        trainable: Any,
        resume_unfinished: bool = True,
        resume_errored: bool = False,
        restart_errored: bool = False,
        param_space: dict[str, Any] | None = None,
        storage_filesystem: Any = None,
    ) -> Tuner:
        """The tuner of the experiment in a folder; its ``fit()`` resumes it.

        Args:
            path: The experiment's folder, which may have been moved.
            trainable: What the tuner had.
            resume_unfinished: Whether trials that had not ended resume from their newest
                checkpoints.
            resume_errored: Whether those that had failed do.
            restart_errored: Whether those are tried again from the start.
            param_space: The search space again, where it holds what could not be stored; with the
                same keys.
            storage_filesystem: What ``path`` is on. Default: it is local, or a URL.

        Raises:
            FileNotFoundError: there is no experiment in ``path``.
            ValueError: another trainable, or other keys.

        Example:
            >>> from headway import tune
            >>> if tune.Tuner.can_restore("~/headway_results/sweep"):  # doctest: +SKIP
            ...     tuner = tune.Tuner.restore("~/headway_results/sweep", trial)
        """
        location = _located(path, storage_filesystem)
        saved = saved_tuner.read(location)
        check_bool("resume_unfinished", resume_unfinished)
        check_bool("resume_errored", resume_errored)
        check_bool("restart_errored", restart_errored)
        if resume_errored and restart_errored:
            raise ValueError("resume_errored and restart_errored are True; allowed: one of them")
        trainable = resolved(trainable)
        if name_of(trainable) != saved.trainable:
            raise ValueError(
                f"trainable is {name_of(trainable)!r}; allowed: that of the experiment, {saved.trainable!r}"
            )
        space = check_space(param_space) if param_space is not None else saved.part("param_space")
        if sorted(map(str, space)) != saved.keys:
            raise ValueError(f"param_space has the keys {sorted(map(str, space))}; allowed: those before, {saved.keys}")
        run_config = replace(
            saved.part("run_config"),
            name=locations.name_of(location),
            storage_path=locations.parent(location),
            callbacks=saved.callbacks(),
        )
        saved.warn_of_variables()
        tuner = cls(trainable, param_space=space, tune_config=saved.part("tune_config"), run_config=run_config)
        tuner._restores = {"unfinished": resume_unfinished, "errored": resume_errored}
        tuner._restarts = {"errored"} if restart_errored else set()
        tuner._location = location
        tuner._missing = saved.missing
        tuner._first = saved.first
        return tuner

    def _resume_in(self, path: str, config: ResumeConfig) -> None:
        """``fit()`` resumes the experiment in a folder, with this tuner's own settings."""
        saved = saved_tuner.read(path)
        if name_of(self._trainable) != saved.trainable:
            raise ValueError(f"trainable is {name_of(self._trainable)!r}; allowed: that of {path}, {saved.trainable!r}")
        if sorted(map(str, self._space)) != saved.keys:
            raise ValueError(
                f"config has the keys {sorted(map(str, self._space))}; allowed: those before, {saved.keys}"
            )
        kind = ResumeConfig.ResumeType
        self._restores = {"unfinished": config.unfinished is kind.RESUME, "errored": config.errored is kind.RESUME}
        self._restarts = config.restarted()
        self._location = path
        self._first = saved.first

    def fit(self) -> ResultGrid:
        """Runs the experiment to its end.

        Trials that fail do not raise: ``ResultGrid.errors`` has why.

        Raises:
            FileExistsError: the experiment has a driver already.
            TuneError: the experiment itself failed, as with a journal that no one can write.
            KeyboardInterrupt: Ctrl-C. What the trials had reported is kept; ``restore`` resumes
                them.
        """
        worker_session.check_may_fit()
        folder = self._folder()
        folder.begin()
        path = folder.local
        start = TrialStart(self._trainable, self._run_config, folder.location, self._from_checkpoint)
        start.warm()
        records = _records_of(folder)
        # As the user gave them: suggesting changes a searcher.
        parts = saved_tuner.pickled(self._parts(), self._missing)
        callbacks = ExperimentCallbacks(self._run_config, records, name_of(self._trainable))
        search = SearchState(self._space, self._tune_config, path)
        if self._restores is None:
            self._first = len(records)
        search.first = self._first
        if self._restores is not None:
            search.restore(records, **self._restores)
        elif len(records):
            notice(
                f"{locations.shown(folder.location)} has {len(records)} trials of an earlier experiment; new ones run "
                "beside them"
            )
        scheduler = self._tune_config.scheduler
        if scheduler is not None:
            self._check_scheduler(scheduler, search.total)
        start = TrialStart(self._trainable, self._run_config, folder.location, self._from_checkpoint, scheduler)
        self._restart(search, records)
        self._check_first(start)
        elsewhere = folder.location if locations.is_remote(folder.location) else ""
        experiment = get_runtime().start_experiment(json.dumps(self._spec(path, search)), elsewhere)
        try:
            saved_tuner.write(path, name_of(self._trainable), sorted(map(str, self._space)), self._first, parts)
            folder.start()
            loop = ExperimentLoop(
                experiment, self._trainable, start, search, records, self._tune_config, self._run_config, callbacks
            )
        except BaseException as error:
            abandon(experiment, error)
            raise
        try:
            loop.serve()
        except KeyboardInterrupt as error:
            interrupted(error, locations.shown(folder.location))
            raise
        finally:
            folder.close()
        grid = ResultGrid(records, self._tune_config.metric, self._tune_config.mode)
        failed = [each for each in records if each.state == "errored" and not each.replaced]
        if self._run_config.failure_config.fail_fast == "raise" and failed:
            raise grid.errors[-1]
        return grid

    def get_results(self) -> ResultGrid:
        """The results so far, of an experiment that has run or was restored.

        Raises:
            RuntimeError: it has not run.
        """
        if self._location is None:
            raise RuntimeError("the experiment has not run; call fit() first")
        folder = ExperimentFolder(self._location)
        folder.fetch()
        records = Records.read(folder.local, folder.location)
        return ResultGrid(records, self._tune_config.metric, self._tune_config.mode)

    def _folder(self) -> ExperimentFolder:
        if self._location is None:
            name = self._run_config.name
            if name is None:
                name = _core.default_run_name(name_of(self._trainable), _core.new_trial_id())
            self._location = locations.join(self._run_config._location, name)
        return ExperimentFolder(self._location)

    def _restart(self, search: SearchState, records: Records) -> None:
        again = [each for each in records if each.state in self._restarts and not each.replaced]
        search.restarts = [(each.trial_id, records.config(each)) for each in again]

    def _check_scheduler(self, scheduler: TrialScheduler, total: int | None) -> None:
        """Refuses what does not go with a scheduler."""
        scheduler.check_search(self._tune_config.search_alg, total)
        if decides(scheduler):
            scheduler.set_search_properties(self._tune_config.metric, self._tune_config.mode)

    def _check_first(self, start: TrialStart) -> None:
        """What no trial could be started with is refused before anything starts."""
        if not isinstance(self._trainable, DataParallelTrainer):
            start.check()

    def _parts(self) -> dict[str, Any]:
        environment = self._run_config.worker_runtime_env
        kept = without_secrets(environment)
        run_config = replace(
            self._run_config,
            name=None,
            storage_path="/",
            storage_filesystem=None,
            worker_runtime_env=kept,
            callbacks=None,
        )
        missing = {*self._missing.parts, *self._missing.failures}
        names = (name for name in map(saved_tuner.name_of_callback, itertools.count()) if name not in missing)
        callbacks = dict(zip(names, self._run_config.callbacks or [], strict=False))
        variables = {*((environment or {}).get("env_vars") or {}), *self._missing.variables}
        return {
            "param_space": self._space,
            "tune_config": self._tune_config,
            "run_config": run_config,
            saved_tuner.VARIABLES: sorted(variables),
            **callbacks,
        }

    def _spec(self, path: str, search: SearchState) -> dict[str, Any]:
        config, run_config = self._tune_config, self._run_config
        scheduler = config.scheduler or FIFOScheduler()
        return {
            "path": path,
            "metric": config.metric,
            "mode": config.mode,
            "scheduler": scheduler.for_core(),
            "overrules": decides(scheduler),
            "chooses": chooses(scheduler),
            "stop": run_config._stop_limits,
            "max_concurrent": config.max_concurrent_trials,
            "prepares": search.prepares(config.max_concurrent_trials),
            "time_budget_s": config.time_budget(),
            "fail_fast": bool(run_config.failure_config.fail_fast),
            "asks": callable(run_config.stop),
            "strict": os.environ.get("TUNE_DISABLE_STRICT_METRIC_CHECKING") != "1",
            "needs": search.needs,
            "restore": self._restores or {"unfinished": False, "errored": False},
        }


def _records_of(folder: ExperimentFolder) -> Records:
    try:
        return Records.read(folder.local, folder.location)
    except FileNotFoundError:
        return Records(folder.local, folder.location)


def _located(path: str | os.PathLike[str], storage_filesystem: Any) -> str:
    location = locations.location_of(path, storage_filesystem, filesystem_argument="storage_filesystem")
    return location if locations.is_remote(location) else locations.local_path(location)


def _not_of_an_object(*args: Any, **kwargs: Any) -> Tuner:
    raise AttributeError("restore is called on the class: Tuner.restore(path, trainable)")

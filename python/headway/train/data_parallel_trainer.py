"""The trainer that runs one function in every worker."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from headway import _core
from headway import _session as worker_session
from headway._callbacks.trial import Trial
from headway._checkpoint.checkpoint import Checkpoint
from headway._runtime.environment import without_secrets
from headway._runtime.runtime import get_runtime, join_address, preload_modules, worker_environment
from headway._storage import locations
from headway._values import pickling
from headway._values.arguments import check_instance
from headway._values.metrics import to_json
from headway._worker.in_context import InContext, TrialName
from headway.train._config import shown_config
from headway.train._config.config import RunConfig, ScalingConfig
from headway.train._local.fit import LocalRun
from headway.train._run import saved_trainer
from headway.train._run.callback_calls import CallbackCalls
from headway.train._run.display import Display
from headway.train._run.group_run import GroupRun
from headway.train._run.handle import RunHandle, StartedRun, serve_beside
from headway.train._run.loop import RunLoop
from headway.train._run.result import Result
from headway.train._run.surroundings import surroundings
from headway.train._run.user_callback import TrainRunContext
from headway.train._training_function.signature import BuiltInLoop, check_loop_config, loop_arguments
from headway.train._training_function.trainer_datasets import check_columns, check_datasets, modules_for, with_datasets
from headway.train._validation.config import WITHOUT_CONFIG, ValidationConfig
from headway.train.backend import BackendConfig
from headway.train.base_trainer import BaseTrainer

if TYPE_CHECKING:
    import pyarrow.fs
    from typing_extensions import Self

TrainLoop = Callable[[], Any] | Callable[[dict[str, Any]], Any]


class ReturnValue(Protocol):
    """Where the value is that rank 0's training function returned."""

    def load_return_value(self) -> Any:
        """It."""


class DataParallelTrainer(BaseTrainer):
    """Runs a training function in every worker of a group, restarts the group when it fails, and
    keeps what it reports.

    Args:
        train_loop_per_worker: The training function: no argument, or one (the configuration). It
            may be a lambda, a closure, or defined in ``__main__`` or a notebook.
        train_loop_config: Passed to the function; default: an empty dict if it takes one.
        backend_config: A framework's set-up; see :class:`headway.train.backend.BackendConfig`.
        scaling_config: How many workers with what; default: one worker.
        run_config: Where results go, failures, checkpoints.
        datasets: By name; each rank gets its share by ``get_dataset_shard(name)``. A function
            without arguments that returns a data set is called by ``fit()``.
        dataset_config: How they are split over ranks; default: all are split.
        metadata: A dict that JSON has, such as how a preprocessor was fitted. It is what
            ``get_context().get_metadata()`` gives, and stands in every checkpoint's manifest and in
            ``run.json``.
        resume_from_checkpoint: What ``get_checkpoint()`` gives before the run has a checkpoint.
        validation_config: How checkpoints are validated beside the training, where a ``report``
            asks for it.

    Raises:
        TypeError, ValueError: a bad argument, before any process starts.

    Example:
        >>> from headway import train
        >>> def loop(config):
        ...     train.report({"doubled": 2 * config["x"]})
        >>> trainer = train.DataParallelTrainer(loop, train_loop_config={"x": 21})
        >>> trainer.fit().metrics["doubled"]  # doctest: +SKIP
        42
    """

    def __init__(
        self,
        train_loop_per_worker: TrainLoop,
        *,
        train_loop_config: Mapping[str, Any] | None = None,
        backend_config: BackendConfig | None = None,
        scaling_config: ScalingConfig | None = None,
        run_config: RunConfig | None = None,
        datasets: Mapping[str, Any] | None = None,
        dataset_config: Any = None,
        metadata: Mapping[str, Any] | None = None,
        resume_from_checkpoint: Checkpoint | None = None,
        validation_config: ValidationConfig | None = None,
    ):
        self.datasets, self.dataset_config = check_datasets(datasets, dataset_config)
        self.train_loop_per_worker = train_loop_per_worker
        self.train_loop_config = check_loop_config(train_loop_config)
        self._args = loop_arguments(train_loop_per_worker, self.train_loop_config)
        self.backend_config: BackendConfig = (
            check_instance("backend_config", backend_config, BackendConfig, "a BackendConfig or None")
            or BackendConfig()
        )
        self.scaling_config: ScalingConfig = (
            check_instance("scaling_config", scaling_config, ScalingConfig, "a ScalingConfig or None")
            or ScalingConfig()
        )
        self.run_config: RunConfig = (
            check_instance("run_config", run_config, RunConfig, "a RunConfig or None") or RunConfig()
        )
        if not isinstance(train_loop_per_worker, BuiltInLoop):
            check_reports_its_own(self.run_config)
        self.metadata: dict[str, Any] = json.loads(to_json({} if metadata is None else metadata, "metadata"))
        self.resume_from_checkpoint: Checkpoint | None = check_instance(
            "resume_from_checkpoint", resume_from_checkpoint, Checkpoint, "a headway.train.Checkpoint or None"
        )
        self.validation_config: ValidationConfig | None = check_instance(
            "validation_config", validation_config, ValidationConfig, "a ValidationConfig or None"
        )

    #: Which argument of the constructor has the framework's set-up.
    _backend_argument: ClassVar[str] = "backend_config"
    _trial_name: str | None = None  # What a tuner calls the trial that the run is.
    _with_datasets: Any = None  # Holds the run's data sets.
    _parameters: dict[str, Any] | None = None  # What trains where there is no training function.

    @classmethod
    def restore(
        cls,
        path: str | os.PathLike[str],
        train_loop_per_worker: TrainLoop | None = None,
        train_loop_config: Mapping[str, Any] | None = None,
        *,
        backend_config: BackendConfig | None = None,
        scaling_config: ScalingConfig | None = None,
        run_config: RunConfig | None = None,
        datasets: Mapping[str, Any] | None = None,
        dataset_config: Any = None,
        metadata: Mapping[str, Any] | None = None,
        storage_filesystem: pyarrow.fs.FileSystem | None = None,
        resume_from_checkpoint: Checkpoint | None = None,
        validation_config: ValidationConfig | None = None,
    ) -> Self:
        """The trainer of the run in a folder, as it was stored when the run started.

        Its ``fit()`` resumes the run in its folder, from its newest checkpoint, with a fresh budget
        of failures.

        Args:
            path: The run's folder, which may have been moved: a path (a relative one counts from
                the working directory now), a URL, or with ``storage_filesystem`` a path on that.
            train_loop_per_worker: Instead of the function that the run had.
            train_loop_config: Instead of its configuration.
            backend_config: Instead of the framework's set-up.
            scaling_config: Instead of how many workers there were.
            run_config: Instead of the run's; but the name and the storage path are the folder's.
            datasets: Those of the run, which are not stored: given again.
            dataset_config: As for the constructor.
            metadata: Instead of the trainer's.
            storage_filesystem: A ``pyarrow.fs`` filesystem that ``path`` is on.
            resume_from_checkpoint: What ``get_checkpoint()`` gives while the run has no checkpoint.
            validation_config: Instead of the trainer's. What was asked for and not validated yet is
                validated by it.

        Raises:
            FileNotFoundError: ``path`` holds no run that can be restored.
            RuntimeError: something that was stored can't be loaded here (for example, its module is
                gone); the message names it, and it may be given anew.
            ValueError: the run of another kind of trainer, or of a newer Headway.

        Example:
            >>> from headway.train import DataParallelTrainer
            >>> path = "~/headway_results/digits"
            >>> if DataParallelTrainer.can_restore(path):  # doctest: +SKIP
            ...     trainer = DataParallelTrainer.restore(path)
        """
        location = locations.location_of(path, storage_filesystem, filesystem_argument="storage_filesystem")
        saved = saved_trainer.SavedTrainer(location, cls.__name__)
        given: dict[str, Any] = {
            "train_loop_per_worker": train_loop_per_worker,
            "train_loop_config": train_loop_config,
            cls._backend_argument: backend_config,
            "scaling_config": scaling_config,
            "metadata": metadata,
            "resume_from_checkpoint": resume_from_checkpoint,
            "validation_config": validation_config,
        }
        arguments = {name: saved.part(name) if value is None else value for name, value in given.items()}
        check_instance("run_config", run_config, RunConfig, "a RunConfig or None")
        name = locations.name_of(location)
        if run_config is not None and run_config.name not in (None, name):
            raise ValueError(f"run_config.name is {run_config.name!r}; allowed: None, or the folder's own: {name!r}")
        in_folder = replace(
            run_config or saved.part("run_config"),
            name=name,
            storage_path=locations.parent(location),
            storage_filesystem=None,  # It is part of the location.
        )
        return cls(
            **arguments,
            run_config=in_folder,
            datasets=saved.checked_datasets(datasets),
            dataset_config=dataset_config,
        )

    def _parts(self) -> dict[str, Any]:
        """What :meth:`restore` makes a trainer of."""
        return {
            "train_loop_per_worker": self.train_loop_per_worker,
            "train_loop_config": self.train_loop_config,
            self._backend_argument: self.backend_config,
            "scaling_config": self.scaling_config,
            # ``restore`` is given its location, possibly with the credentials of its owner.
            "run_config": replace(
                self.run_config,
                name=None,
                storage_path="/",
                storage_filesystem=None,
                worker_runtime_env=without_secrets(self.run_config.worker_runtime_env),
            ),
            "metadata": self.metadata,
            "resume_from_checkpoint": self.resume_from_checkpoint,
            "validation_config": self.validation_config,
            "datasets": list(self.datasets),
        }

    def fit(self) -> Result:
        """Runs the training to its end. Where ``RunConfig`` names an existing run, resumes it.

        A run that had not finished (killed, failed, stopped) resumes from its newest checkpoint, in
        the same folder. One that is complete does too, so that a script that runs twice does not
        train twice. A notice says so, with the checkpoint and the reason, before anything happens.

        Returns:
            The complete result: every worker has ended, and its output and files are in place.

        Raises:
            WorkerGroupError: the group failed more often than ``FailureConfig.max_failures``
                allows. The message begins with the failed rank's own exception and frames, or how
                its process ended. An ``NCCLHangError`` when ranks had hung in a collective of torch
                for ``FailureConfig.hang_fail_s``.
            PreemptionError: this process received SIGTERM, or nodes were taken away more often than
                ``FailureConfig.max_preemption_failures`` allows.
            ControllerError: a callback raised; the message names it.
            ValueError: no machine has the resources, or a data set's files lack columns it names.
            OSError: the storage path cannot be written, or holds a ``run.json`` of something else.
            FileExistsError: the run has a driver already, which is named. Where one of these three
                is raised, nothing was started.
            KeyboardInterrupt: Ctrl-C. The workers have ended; what was reported so far is kept.
        """
        return self._begin().serve()

    def start(self) -> RunHandle:
        """Starts the run and returns at once; ``fit()`` is ``start().wait()``, on the calling
        thread.

        A thread of this process serves the run: backends' hooks and callbacks are called on it, and
        it prints what ``fit()`` prints. With ``num_workers=0`` it runs the training function too.
        The run ends with this process.

        Returns:
            What waits for the run, stops it, and yields its events.

        Raises:
            Exception: what ``fit()`` raises before anything is started; the rest is raised by
                ``wait()``.

        Example:
            >>> from headway import train
            >>> def loop():
            ...     train.report({"loss": 0.5})
            >>> handle = train.DataParallelTrainer(loop, run_config=train.RunConfig(verbose=0)).start()
            >>> handle.wait().metrics["loss"]
            0.5
        """
        return serve_beside(self._begin())

    def _begin(self) -> StartedRun:
        worker_session.check_may_fit()
        spec = self._spec()
        callbacks = self._callbacks(spec)
        resume = spec["resume_from_checkpoint"]
        if resume is not None and not locations.is_remote(resume) and not os.path.isdir(resume):
            raise FileNotFoundError(f"resume_from_checkpoint is {resume!r}, which is no directory")
        if self.scaling_config.num_workers == 0:
            return LocalRun(self, spec, callbacks)
        runtime = get_runtime()
        validation = self.validation_config._dumps() if self.validation_config is not None else None
        arguments = self._start_arguments(spec)
        check_columns(self._with_datasets, self.datasets)
        run = runtime.start_run(validation=validation, **arguments)
        loop = RunLoop(
            run,
            self.backend_config.backend_cls(),
            self.backend_config,
            Display(self.run_config, self.train_loop_config),
            callbacks,
        )
        raises_cause = self.run_config.failure_config.fail_fast == "raise"
        return GroupRun(run, loop, lambda end: self._result(end, loop, run.path), raises_cause=raises_cause)

    def _start_arguments(self, spec: dict[str, Any]) -> dict[str, Any]:
        """What a runtime takes to start the run; a tuner's trials start with them too."""
        names = ("train_loop_per_worker", "train_loop_config")
        environment = worker_environment(self.run_config.worker_runtime_env, spec["preload"])
        return {
            "spec_json": json.dumps(spec),
            "task": pickling.dumps((self._function(), *self._args), names[: 1 + len(self._args)]),
            "trainer": saved_trainer.dumps(type(self).__name__, self._parts()),
            **environment.start_arguments({**surroundings(), **self._worker_side(spec)}),
        }

    def _function(self) -> Callable[..., Any]:
        """What each rank calls: the training function, with data sets, in a context."""
        context = self.backend_config.train_func_context
        function = with_datasets(self.train_loop_per_worker, self.datasets, self.dataset_config)
        self._with_datasets = function
        if self._trial_name is not None:
            function = InContext(function, TrialName(self._trial_name))
        return function if context is nullcontext else InContext(function, context)

    def _spec(self) -> dict[str, Any]:
        trial_id = _core.new_trial_id()
        given = self.run_config.name
        name = _core.default_run_name(type(self).__name__, trial_id) if given is None else given
        return {
            "run": {"name": name, "storage_path": self.run_config._location},
            "scaling": self.scaling_config.for_core(),
            "failure": self.run_config.failure_config.for_core(),
            "checkpoint": self.run_config.checkpoint_config.retention(),
            "trainer": type(self).__name__,
            "trial_id": trial_id,
            "local_ranks": 1,
            "preload": preload_modules(
                self.backend_config.preload, self.train_loop_per_worker, modules_for(self.datasets)
            ),
            "config": shown_config.as_json(self.train_loop_config),
            "sync": asdict(self.run_config.sync_config),
            "metadata": self.metadata,
            "log_to_file": self.run_config.log_to_file is not False,
            "log_names": self.run_config._log_names,
            "enter_working_directory": _core.works_in_trial_dir(),
            "resume_from_checkpoint": resume._location if (resume := self.resume_from_checkpoint) is not None else None,
            "collectives": self.backend_config.collectives,
            "validation": self.validation_config._spec() if self.validation_config is not None else WITHOUT_CONFIG,
        }

    def _worker_side(self, spec: dict[str, Any]) -> dict[str, Any]:
        """What this run's workers need beside their surroundings."""
        return {
            "filesystems": _filesystems_for_workers(spec),
            "placement_strategy": self.scaling_config.placement_strategy,
            "preload": spec["preload"],
            "validates": self.validation_config is not None,
            "nodes_may_join": join_address() is not None,
        }

    def _callbacks(self, spec: dict[str, Any]) -> CallbackCalls | None:
        context = TrainRunContext(self.run_config, self.train_loop_config, self.scaling_config, self.backend_config)
        trial = Trial(spec["trial_id"], spec["run"]["name"], type(self).__name__, self.train_loop_config, "")
        calls = CallbackCalls(context, trial)
        spec["callback_lag_max"] = calls.lag_max()
        spec["stop"] = self.run_config._stop_limits
        return calls if calls.lag_max() is not None else None

    def _result(self, end: _core.Finished, loop: ReturnValue, path: str) -> Result:
        return Result._at(
            path,
            checkpoints=[(kept.name, kept.metrics) for kept in end.outcome.checkpoints],
            config=self.train_loop_config,
            done=True,
            # As the driver has it: storage may be out of reach by now.
            last=json.loads(end.last_report_json) if end.last_report_json else None,
            return_value=loop.load_return_value(),
            dropped_checkpoints=end.outcome.dropped_checkpoints,
        )


def _filesystems_for_workers(spec: dict[str, Any]) -> list[tuple[str, str]]:
    """The Python filesystems that workers need for what the run names, each with its scheme."""
    named = (spec["run"]["storage_path"], spec["resume_from_checkpoint"])
    return [(scheme, base64.b64encode(pickled).decode()) for scheme, pickled in locations.registrations(named)]


def check_reports_its_own(run_config: RunConfig) -> None:
    """Refuses what only trainers with a training loop inside can do."""
    config = run_config.checkpoint_config
    for name in ("checkpoint_frequency", "checkpoint_at_end"):
        if value := getattr(config, name):
            raise ValueError(
                f"CheckpointConfig.{name} is {value!r} with a training function, which reports its own checkpoints; "
                "allowed: the default (report a checkpoint whenever one is wanted)"
            )

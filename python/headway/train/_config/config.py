"""What a run is asked to do. Types are checked here; ranges and combinations by the core, as for
C++.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any

from headway import _core
from headway._callbacks.callback import Callback
from headway._callbacks.progress_reporter import ProgressReporter
from headway._callbacks.train_callback import TrainCallback
from headway._runtime.environment import check_runtime_env
from headway._storage import locations
from headway._values.arguments import (
    check_bool,
    check_instance,
    check_int,
    check_label_selector,
    check_number,
    check_resources,
    check_str,
    is_utf8,
)
from headway.train._config.run_options import (
    LoggingConfig,
    StopCondition,
    check_callbacks,
    check_fail_fast,
    check_log_to_file,
    check_reporter,
    check_stop,
)
from headway.train._config.scaling_amounts import ScalingAmounts
from headway.train._config.sync_config import SyncConfig

if TYPE_CHECKING:
    import pyarrow.fs


@dataclass
class ScalingConfig(ScalingAmounts):
    """How many workers, and what each may use.

    Attributes:
        num_workers: Worker processes, one rank each. 0 is local mode: the training function runs in
            this very process (under a debugger, in a notebook), or, under ``torchrun``, in its
            processes as their ranks. A pair, ``(2, 8)``, is an elastic group: it starts with as
            many workers as there is capacity for within that range, shrinks when a node goes, and
            grows when there is capacity for more; each time from the newest checkpoint.
        use_gpu: Whether each worker gets a GPU (one, unless ``resources_per_worker`` says how
            many).
        resources_per_worker: Amounts by name, such as ``{"CPU": 4, "GPU": 1}``. They are hard
            limits: a run waits until they are free, and one that can never have them is refused.
            Without ``"CPU"``, a worker counts as one CPU, as advice only: more workers than CPUs
            start with a warning.
        trainer_resources: What the run holds beside its workers, for work that this process does;
            nothing by default. Hard limits too.
        placement_strategy: ``"PACK"`` (default): as few nodes as it takes; ``"SPREAD"``: one worker
            a node in turn; ``"STRICT_PACK"``: one node, or none; ``"STRICT_SPREAD"``: no two
            workers on one node.
        accelerator_type: Workers go to nodes with GPUs of this type, such as ``"A100"``: those that
            have the resource ``"accelerator_type:A100"``.
        label_selector: Workers go to nodes whose labels match: ``{"region": "eu"}``, with values
            ``"eu"``, ``"!eu"``, ``"in(eu, us)"`` or ``"!in(eu, us)"``. A list has one for each
            worker, by rank.
        elastic_resize_monitor_interval_s: Of an elastic group: seconds, at least, from its start
            until it is ended so that a larger one goes on. It then ends with its next committed
            checkpoint, or after another such interval.

    Raises:
        TypeError, ValueError: naming the argument, what was given, what is allowed.

    Example:
        >>> ScalingConfig(num_workers=2, resources_per_worker={"CPU": 2}).num_workers
        2
        >>> ScalingConfig(num_workers=(1, 4)).min_workers
        1
    """

    num_workers: int | tuple[int, int] = 1
    use_gpu: bool = False
    resources_per_worker: Mapping[str, float] | None = None
    trainer_resources: Mapping[str, float] | None = None
    placement_strategy: str = "PACK"
    accelerator_type: str | None = None
    label_selector: Mapping[str, str] | Sequence[Mapping[str, str]] | None = None
    elastic_resize_monitor_interval_s: float = 60.0

    def __post_init__(self) -> None:
        if self._searched():
            return  # A Tuner draws what is open; what it has drawn is checked.
        self.num_workers = _check_workers(self.num_workers)
        argument = "ScalingConfig.elastic_resize_monitor_interval_s"
        check_number(argument, self.elastic_resize_monitor_interval_s, "seconds, at least 0")
        check_bool("ScalingConfig.use_gpu", self.use_gpu)
        if self.resources_per_worker is not None:
            self.resources_per_worker = check_resources("ScalingConfig.resources_per_worker", self.resources_per_worker)
        if self.trainer_resources is not None:
            self.trainer_resources = check_resources("ScalingConfig.trainer_resources", self.trainer_resources)
        check_str("ScalingConfig.placement_strategy", self.placement_strategy, '"PACK", "SPREAD" or the like')
        if self.accelerator_type is not None:
            check_str("ScalingConfig.accelerator_type", self.accelerator_type, 'None or a type of GPUs, such as "A100"')
        _core.check_scaling_config(json.dumps(self.for_core()))

    def for_core(self) -> dict[str, Any]:
        """As the core reads it."""
        if self._searched():
            raise ValueError(
                f"scaling_config is {self!r:.200}; allowed: a search space in param_space of a Tuner alone"
            )
        return {
            **asdict(self),
            "num_workers": self.max_workers,
            "min_workers": self.min_workers if self.elasticity_enabled else None,
            "label_selector": check_label_selector(self.label_selector),
        }

    def _searched(self) -> dict[str, Any]:
        """What it says, where a part of it is a search space; else nothing."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        if not any(_is_open(value) for value in values.values()):
            return {}
        return {each.name: values[each.name] for each in fields(self) if values[each.name] is not each.default}


def _is_open(value: Any) -> bool:
    """Whether a Tuner draws it."""
    if isinstance(value, Mapping):
        return "grid_search" in value or any(map(_is_open, value.values()))
    return callable(getattr(value, "sample", None))


def _check_workers(given: Any) -> int | tuple[int, int]:
    argument, allowed = "ScalingConfig.num_workers", "an integer of at least 1, 0 (local mode), or a tuple (min, max)"
    if not isinstance(given, tuple):
        return check_int(argument, given, allowed)
    if len(given) != 2:
        raise ValueError(f"{argument} is {given!r}; allowed: {allowed}")
    return check_int(f"{argument}[0]", given[0], "an integer"), check_int(f"{argument}[1]", given[1], "an integer")


@dataclass
class FailureConfig:
    """How many failures of each kind a run survives, and how long somebody may be waited for.

    Each restart resumes from the newest committed checkpoint. An elastic group that grows has not
    failed.

    Attributes:
        max_failures: Restarts after the training function raised, a worker process ended or a node
            was lost, before the run is given up: 0 (none) by default, -1 for no limit.
        fail_fast: True says once more that there is no restart, and goes with ``max_failures=0``
            alone. ``"raise"`` has ``fit()`` raise what the training function raised, as it was,
            instead of a ``WorkerGroupError``.
        hang_warn_s: Seconds after which a warning names whom others wait for (in ``report``, in a
            collective, in a hook), at which call, and with which stack; None or 0: never. Default:
            ``HEADWAY_HANG_WARN_S`` of the environment, else 30. A long step alone is no reason.
            Headway's own, like the next.
        hang_fail_s: Seconds after which the attempt is ended for it, which counts as a failure;
            None or 0: never.
            Default: ``HEADWAY_HANG_FAIL_S`` of the environment, else None.
        controller_failure_limit: Restarts, in a run that has trained already, of groups that came
            to no training again: a worker ended, or a node went, while they started. -1 (default)
            for no limit; they wait longer each time.
        max_preemption_failures: Restarts because nodes were taken away with notice (see
            :func:`headway.train.get_preemption_info`): -1 (default) for no limit, 0 for none.
        preemption_grace_s: Seconds that ranks on other nodes may go on after the deadline of a node
            that is taken away, to store what they have; 0 (default): none.

    Example:
        >>> FailureConfig(max_failures=3, hang_warn_s=60, hang_fail_s=600).hang_fail_s
        600.0
    """

    max_failures: int = 0
    fail_fast: bool | str = False
    hang_warn_s: float | None = field(default_factory=lambda: _core.seconds_of_environment("HEADWAY_HANG_WARN_S", 30.0))
    hang_fail_s: float | None = field(default_factory=lambda: _core.seconds_of_environment("HEADWAY_HANG_FAIL_S", None))
    controller_failure_limit: int = -1
    max_preemption_failures: int = -1
    preemption_grace_s: float = 0.0

    def __post_init__(self) -> None:
        allowed_count = "-1 (no limit), 0 (no restart) or a positive integer"
        self.max_failures = check_int("FailureConfig.max_failures", self.max_failures, allowed_count)
        check_fail_fast(self.fail_fast, self.max_failures)
        allowed = "None or 0 (never), or seconds"
        if self.hang_warn_s is not None:
            self.hang_warn_s = check_number("FailureConfig.hang_warn_s", self.hang_warn_s, allowed)
        if self.hang_fail_s is not None:
            self.hang_fail_s = check_number("FailureConfig.hang_fail_s", self.hang_fail_s, allowed)
        for name in ("controller_failure_limit", "max_preemption_failures"):
            setattr(self, name, check_int(f"FailureConfig.{name}", getattr(self, name), allowed_count))
        check_number("FailureConfig.preemption_grace_s", self.preemption_grace_s, "seconds, at least 0")
        _core.check_failure_config(json.dumps(self.for_core()))

    def for_core(self) -> dict[str, Any]:
        """As the core reads it."""
        return {name: value for name, value in asdict(self).items() if name != "fail_fast"}


@dataclass
class CheckpointConfig:
    """Which checkpoints are kept.

    Attributes:
        num_to_keep: How many; None keeps all. The newest is kept beside them whatever its score,
            since a restart resumes from it. A checkpoint is deleted only after a newer one is
            committed.
        checkpoint_score_attribute: The reported metric that ranks them, ``/`` between nested keys
            (``"eval/loss"``); None ranks the newer higher. A missing or NaN score ranks last.
        checkpoint_score_order: ``"max"`` (default) or ``"min"``.
        checkpoint_frequency: For trainers that run the training loop themselves: a checkpoint every
            so many iterations; 0 (default) or None: none. A trainer with a training function
            refuses it: that function reports its own.
        checkpoint_at_end: For the same trainers: a checkpoint of the end, too.
        on_upload_failure: When a checkpoint cannot be stored, after all retries: ``"raise"``
            (default) fails its report in every rank. ``"warn"`` drops the checkpoint with a
            warning: its report counts without it, training continues, and
            ``Result.dropped_checkpoints`` counts it.

    Example:
        >>> keep = CheckpointConfig(num_to_keep=2, checkpoint_score_attribute="eval/loss", checkpoint_score_order="min")
        >>> keep.num_to_keep
        2
    """

    num_to_keep: int | None = None
    checkpoint_score_attribute: str | None = None
    checkpoint_score_order: str = "max"
    checkpoint_frequency: int | None = 0
    checkpoint_at_end: bool | None = None
    on_upload_failure: str = "raise"

    def __post_init__(self) -> None:
        if self.num_to_keep is not None:
            allowed = "None (keep all) or an integer of at least 1"
            self.num_to_keep = check_int("CheckpointConfig.num_to_keep", self.num_to_keep, allowed)
        if self.checkpoint_score_attribute is not None:
            allowed = "None or the key of a reported metric"
            check_str("CheckpointConfig.checkpoint_score_attribute", self.checkpoint_score_attribute, allowed)
        check_str("CheckpointConfig.checkpoint_score_order", self.checkpoint_score_order, '"max" or "min"')
        check_str("CheckpointConfig.on_upload_failure", self.on_upload_failure, '"raise" or "warn"')
        if self.checkpoint_frequency is not None:
            allowed = "None or an integer of at least 0"
            frequency = check_int("CheckpointConfig.checkpoint_frequency", self.checkpoint_frequency, allowed)
            if frequency < 0:
                raise ValueError(f"CheckpointConfig.checkpoint_frequency is {frequency}; allowed: {allowed}")
        if self.checkpoint_at_end is not None:
            check_bool("CheckpointConfig.checkpoint_at_end", self.checkpoint_at_end)
        _core.check_checkpoint_config(json.dumps(self.retention()))

    def retention(self) -> dict[str, Any]:
        """What decides which checkpoints are kept, as the core reads it."""
        fields = ("num_to_keep", "checkpoint_score_attribute", "checkpoint_score_order", "on_upload_failure")
        return {name: getattr(self, name) for name in fields}


@dataclass
class RunConfig:
    """Where a run's results go, and how it deals with failures and checkpoints.

    Attributes:
        name: The run's folder below ``storage_path``; default: the trainer's name with date and
            time.
        storage_path: Where runs lie: a folder on a local or mounted file system (stored as an
            absolute path), or a URL (``s3://bucket/path?region=...``, ``gs://``, ``hdfs://``);
            default: ``HEADWAY_STORAGE`` or ``RAY_STORAGE`` of the environment, else
            ``~/headway_results``. With ``storage_filesystem`` a path on it, without ``s3://``.
        storage_filesystem: A ``pyarrow.fs.FileSystem``, also one around fsspec's
            (``PyFileSystem(FSSpecHandler(...))``); it is sent to the workers pickled. Default: what
            the path says.
        failure_config: See :class:`FailureConfig`.
        checkpoint_config: See :class:`CheckpointConfig`.
        sync_config: See :class:`SyncConfig`.
        verbose: 0 shows warnings only. 1 (default) shows a table of the reports, each rank's
            output, and what happens to the run. 2 shows reports in full instead of the table: a
            line a metric, the automatic ones too; so does 3, which older scripts have. False is 0,
            and True is 1.
        log_to_file: Whether each rank's output is kept in ``logs/rank_<r>.log`` too; yes by
            default. A name ``x`` keeps it in ``logs/rank_<r>.x``; a pair of names keeps standard
            output and standard error apart.
        callbacks: Objects of :class:`headway.train.UserCallback` and :class:`headway.tune.Callback`
            (loggers are some); they hear what happens, in this process.
        logging_config: How much the run says of itself; see :class:`LoggingConfig`.
        stop: When the run has got far enough: it ends as finished. A dict from metrics (``/``
            between nested keys, the automatic ones too) to numbers: over at the first report in
            which one of them is at least that. Or a function of the trial's id and of a report, or
            a :class:`headway.tune.Stopper`: over when it says True; ranks wait in ``report`` for
            its word. The ranks get SIGTERM, and half a second to leave.
        progress_reporter: How reports are shown: :class:`headway.tune.CLIReporter` says which
            columns the table has, a subclass of :class:`headway.tune.ProgressReporter` shows them
            in its own way.
        worker_runtime_env: What workers' environment has that this process's has not: a dict with
            ``env_vars``, ``working_dir``, ``py_modules`` and ``pip``, over that of
            :func:`headway.init`.
        local_dir: Of an older API, to be left out: ``storage_path`` says where results go.

    Example:
        >>> from headway import train
        >>> run = train.RunConfig(
        ...     name="digits",
        ...     storage_path="/tmp/results",
        ...     failure_config=train.FailureConfig(max_failures=3),
        ...     stop={"accuracy": 0.99},
        ... )
        >>> run.name
        'digits'
    """

    name: str | None = None
    storage_path: str | os.PathLike[str] | None = None
    storage_filesystem: pyarrow.fs.FileSystem | None = None
    failure_config: FailureConfig = field(default_factory=FailureConfig)
    checkpoint_config: CheckpointConfig = field(default_factory=CheckpointConfig)
    sync_config: SyncConfig = field(default_factory=SyncConfig)
    verbose: int | None = None
    log_to_file: bool | str | tuple[str, str] | None = None
    callbacks: list[TrainCallback | Callback] | None = None
    logging_config: LoggingConfig = field(default_factory=LoggingConfig)
    stop: StopCondition | None = None
    progress_reporter: ProgressReporter | None = None
    worker_runtime_env: Mapping[str, Any] | None = None
    local_dir: str | None = None

    def __post_init__(self) -> None:
        self._check_output()
        self._explain_older_names()
        self.callbacks = check_callbacks(self.callbacks)
        self._stop_limits = check_stop(self.stop)
        check_reporter(self.progress_reporter)
        environment = check_runtime_env("RunConfig.worker_runtime_env", self.worker_runtime_env)
        self.worker_runtime_env = environment.as_dict() or None
        self.logging_config = (
            check_instance("RunConfig.logging_config", self.logging_config, LoggingConfig, "a LoggingConfig or None")
            or LoggingConfig()
        )
        if self.name is not None:
            check_str("RunConfig.name", self.name, "None or a folder name")
        self._location = self._locate()
        self.failure_config = (
            check_instance("RunConfig.failure_config", self.failure_config, FailureConfig, "a FailureConfig or None")
            or FailureConfig()
        )
        self.checkpoint_config = (
            check_instance(
                "RunConfig.checkpoint_config", self.checkpoint_config, CheckpointConfig, "a CheckpointConfig or None"
            )
            or CheckpointConfig()
        )
        self.sync_config = (
            check_instance("RunConfig.sync_config", self.sync_config, SyncConfig, "a SyncConfig or None")
            or SyncConfig()
        )
        name = self.name if self.name is not None else "unnamed"
        if not is_utf8(name):
            raise ValueError(f"RunConfig.name is {name!r}; allowed: text that UTF-8 has")
        _core.check_run_config(json.dumps({"name": name, "storage_path": self._location}))

    def _locate(self) -> str:
        """Settles ``storage_path``; the location that the core takes."""
        if self.storage_path is None:
            if self.storage_filesystem is not None:
                raise ValueError(
                    "RunConfig.storage_path is None with a storage_filesystem; allowed: a path on that filesystem, "
                    "such as 'bucket/path'"
                )
            self.storage_path = locations.default_storage()
        argument = "RunConfig.storage_path"
        location = locations.location_of(
            self.storage_path,
            self.storage_filesystem,
            argument=argument,
            filesystem_argument="RunConfig.storage_filesystem",
        )
        if self.storage_filesystem is None or not locations.is_remote(location):
            self.storage_path = location
        return location

    def _check_output(self) -> None:
        allowed = "0 (warnings), 1 (progress and output), 2 or 3 (reports in full)"
        given = int(self.verbose) if isinstance(self.verbose, bool) else self.verbose
        self.verbose = check_int("RunConfig.verbose", 1 if given is None else given, allowed)
        if self.verbose not in (0, 1, 2, 3):
            raise ValueError(f"RunConfig.verbose is {self.verbose}; allowed: {allowed}")
        self.log_to_file, self._log_names = check_log_to_file(self.log_to_file)

    def _explain_older_names(self) -> None:
        instead = "storage_path says where results go, HEADWAY_STAGING_DIR where ranks work meanwhile"
        if self.local_dir is not None:
            raise ValueError(f"RunConfig.local_dir is {self.local_dir!r}; allowed: None ({instead})")
        if os.environ.get("RAY_AIR_LOCAL_CACHE_DIR"):
            warnings.warn(f"RAY_AIR_LOCAL_CACHE_DIR has no effect: {instead}", stacklevel=4)

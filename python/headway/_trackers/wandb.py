"""Weights & Biases: the callback, and the set-up within a training function."""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import uuid
from collections.abc import Sequence
from typing import Any, ClassVar

from headway._storage import locations
from headway._trackers import wandb_login
from headway._trackers.callback import TrackerCallback
from headway._trackers.keys import read_key
from headway._trackers.rank import place
from headway._trackers.tracker import TrackedRun, Tracker
from headway._values import log
from headway._values.arguments import check_bool, check_instance, check_number, check_texts
from headway._values.named_arguments import offer
from headway._values.packages import check_installed

_PROJECT = "WANDB_PROJECT_NAME"
_GROUP = "WANDB_GROUP_NAME"


class WandbLoggerCallback(TrackerCallback):
    """Logs a run to Weights & Biases: its reports, its configuration, and where its checkpoints
    are.

    The driver does it, on a separate thread. The W&B run goes on when ranks are restarted, and when
    ``fit()`` is called again with the run's name. A failure of W&B is a warning, and so is a
    missing login, before anything starts.

    Args:
        project: W&B's project. Default: ``WANDB_PROJECT_NAME``, else ``WANDB_PROJECT``; without
            any, ``fit()`` raises ValueError.
        group: W&B's group. Default: ``WANDB_GROUP_NAME``, else the tuner's experiment, else the
            run's name.
        api_key_file: A file with the API key.
        api_key: The API key. Default: ``WANDB_API_KEY``, else what ``wandb login`` has stored. It
            is not stored with the run.
        excludes: Metrics and entries of the configuration that are not logged; ``"eval"`` leaves
            out ``eval/loss``, too.
        log_config: Also log the configuration with each report.
        upload_checkpoints: Store each checkpoint as an artifact: the files of one on a local disk,
            a reference to one on remote storage. Default: only its place is logged.
        save_checkpoints: An older name of ``upload_checkpoints``.
        upload_timeout: Seconds that the end of the run waits for uploads, with
            ``upload_checkpoints``. Otherwise ``HEADWAY_TRACKER_END_S`` says how many.
        video_kwargs: Of an older API; reports contain no videos.
        image_kwargs: Of an older API; reports contain no images.
        kwargs: For ``wandb.init``, such as ``entity``, ``tags`` or ``mode="offline"``.

    Example:
        >>> from headway import train
        >>> from headway.air.integrations.wandb import WandbLoggerCallback
        >>> config = train.RunConfig(callbacks=[WandbLoggerCallback(project="digits", tags=["first"])])
    """

    label: ClassVar[str] = "W&B"
    module: ClassVar[str] = "wandb"
    package: ClassVar[str] = "wandb"

    def __init__(
        self,
        project: str | None = None,
        group: str | None = None,
        api_key_file: str | None = None,
        api_key: str | None = None,
        excludes: Sequence[str] | None = None,
        log_config: bool = False,
        upload_checkpoints: bool = False,
        save_checkpoints: bool = False,
        upload_timeout: float = 1800,
        video_kwargs: dict[str, Any] | None = None,
        image_kwargs: dict[str, Any] | None = None,
        **kwargs: Any,
    ):
        self.project = check_instance("project", project, str, "None or the name of a project")
        self.group = check_instance("group", group, str, "None or the name of a group")
        self.api_key_file = check_instance("api_key_file", api_key_file, str, "None or the path of a file")
        self.api_key = check_instance("api_key", api_key, str, "None or an API key")
        self.excludes = check_texts("excludes", excludes if excludes is not None else [], "None or a list of names")
        self.log_config = check_bool("log_config", log_config)
        self.upload_checkpoints = check_bool("upload_checkpoints", upload_checkpoints)
        self.upload_checkpoints |= check_bool("save_checkpoints", save_checkpoints)
        self.upload_timeout = check_number("upload_timeout", upload_timeout, "seconds, above 0")
        if not 0 < self.upload_timeout < 1e9:
            raise ValueError(f"upload_timeout is {upload_timeout!r}; allowed: seconds, above 0")
        check_instance("video_kwargs", video_kwargs, dict, "None or a dict")
        check_instance("image_kwargs", image_kwargs, dict, "None or a dict")
        self.kwargs = kwargs

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "api_key": None}

    def _check(self) -> None:
        super()._check()
        if self._project() is None:
            raise ValueError(f"WandbLoggerCallback has no project; give project=..., or set the variable {_PROJECT}")
        if read_key(self.api_key, self.api_key_file) is None and (host := wandb_login.missing_login(self.kwargs)):
            log.warn(f"W&B: {wandb_login.words(host)}; without it the run trains, and is not logged there")

    def _project(self) -> str | None:
        return self.project or os.environ.get(_PROJECT) or os.environ.get("WANDB_PROJECT") or None

    def _upload_limit_s(self) -> float:
        return self.upload_timeout if self.upload_checkpoints else 0.0

    def _tracker(self) -> tuple[str, Tracker]:
        project = self._project()
        arguments = {"project": project, **self.kwargs}
        if group := self.group or os.environ.get(_GROUP):
            arguments["group"] = group
        key = f"wandb:{arguments.get('entity') or ''}/{project}"
        return key, _WandbTracker(self, read_key(self.api_key, self.api_key_file), arguments)


class _WandbTracker(Tracker):
    def __init__(self, callback: WandbLoggerCallback, api_key: str | None, arguments: dict[str, Any]):
        self._callback = callback
        self._api_key = api_key
        self._arguments = arguments
        self._config: dict[str, Any] = {}
        self._run: Any = None

    def open(self, run: TrackedRun, earlier: str | None) -> str:
        import wandb

        _start_service(wandb)
        self._config = {name: value for name, value in run.config.items() if not self._is_excluded(name)}
        arguments = {
            "id": earlier or uuid.uuid4().hex[:8],
            "name": run.name,
            "group": run.group or run.name,
            "config": self._config,
            "resume": "allow",
            # Beside a run that the user's script may have.
            "reinit": "create_new",
            "allow_val_change": True,
            **self._arguments,
        }
        if "dir" not in arguments and "WANDB_DIR" not in os.environ and run.is_local:
            arguments["dir"] = run.path
        given = arguments.pop("settings", None)
        # What this process prints is the run's logs anyway; W&B would replace sys.stdout for it.
        settings = {"console": "off", **given} if isinstance(given, dict) else given or {"console": "off"}
        if self._api_key is not None:
            settings = _with_key(settings, self._api_key)
        elif arguments.get("mode", os.environ.get("WANDB_MODE")) not in wandb_login.WITHOUT_LOGIN:
            _check_login(wandb)
        self._run = wandb.init(settings=settings, **arguments)
        return str(self._run.id)

    def log(self, step: int, metrics: dict[str, Any]) -> None:
        kept = {name: value for name, value in metrics.items() if not self._is_excluded(name)}
        if self._callback.log_config:
            kept["config"] = self._config
        self._run.log(kept, step=step)

    def checkpoint(self, step: int, location: str, shown: str) -> None:
        self._run.log({"checkpoint": shown}, step=step)
        if not self._callback.upload_checkpoints:
            return
        import wandb

        artifact = wandb.Artifact(re.sub(r"[^\w.-]", "-", f"checkpoint_{self._run.name}"), type="model")
        if not locations.is_remote(location):
            path = locations.local_path(location)
            if not os.path.isdir(path):  # num_to_keep has deleted it meanwhile.
                return
            artifact.add_dir(path)
        else:
            artifact.add_reference(shown, checksum=False)
        self._run.log_artifact(artifact, aliases=["latest", locations.name_of(location)])

    def close(self, *, failed: bool) -> None:
        self._run.finish(exit_code=1 if failed else 0)
        atexit.unregister(_end_service)

    def _is_excluded(self, name: str) -> bool:
        return any(name == each or name.startswith(f"{each}/") for each in self._callback.excludes)


def _start_service(wandb: Any) -> None:
    """Starts W&B's process, which serves this one."""
    had_service = "WANDB_SERVICE" in os.environ
    wandb.setup()
    if not had_service:
        # Workers of later runs inherit this environment, on other machines too: what they start is
        # not to look for this process's service.
        os.environ.pop("WANDB_SERVICE", None)
    # W&B's own hook, which is called after this one, waits for its server without a limit.
    atexit.register(_end_service, wandb)


def _check_login(wandb: Any) -> None:
    """W&B would ask for a key at the terminal, and wait for it."""
    if not _has_login(wandb):
        raise RuntimeError(wandb_login.words(wandb.setup().settings.base_url))


def _has_login(wandb: Any) -> bool:
    """Whether W&B finds one by itself, such as that of ``wandb.login`` in this process."""
    from wandb.sdk.lib import wbauth

    host = wandb.setup().settings.base_url
    return wbauth.authenticate_session(host=host, source="headway", prompt=False) is not None


def _with_key(settings: Any, api_key: str) -> Any:
    """Settings of ``wandb.init``, a dict or an object, with a key."""
    if isinstance(settings, dict):
        return {**settings, "api_key": api_key}
    settings = settings.model_copy()
    settings.api_key = api_key
    return settings


def _end_service(wandb: Any) -> None:
    """At the process's end, for a run whose tracker was left: what is unsent stays on the disk."""
    # What W&B has no public names for may have others in another version: then it waits.
    with contextlib.suppress(Exception):
        connection = wandb.setup()._connection
        connection._cleanup()
        connection._proc._process.kill()


def setup_wandb(
    config: dict[str, Any] | None = None,
    api_key: str | None = None,
    api_key_file: str | None = None,
    rank_zero_only: bool = True,
    **kwargs: Any,
) -> Any:
    """Starts a W&B run in a training function, for what the function logs itself.

    In rank 0 it resumes the same W&B run in each attempt. In other ranks it returns a run that logs
    nothing. Outside of a training function it is ``wandb.init``. In a rank without a login it is a
    warning, and the run is logged into files.

    Args:
        config: The run's configuration at W&B.
        api_key: The API key. Default: ``WANDB_API_KEY``, else what ``wandb login`` has stored on
            the worker's machine.
        api_key_file: A file with the API key.
        rank_zero_only: False: every rank has a W&B run, which is named after it.
        kwargs: For ``wandb.init``. The defaults of ``project`` and ``group`` are those of
            :class:`WandbLoggerCallback`.

    Returns:
        The ``wandb.Run``.

    Raises:
        ImportError: wandb is not installed.
        TypeError, ValueError, OSError: an argument is not allowed, or the file cannot be read.

    Example:
        >>> from headway.air.integrations.wandb import setup_wandb
        >>> def loop(config):
        ...     run = setup_wandb(config, project="digits")
        ...     run.log({"loss": 0.5})
        ...     run.finish()
    """
    check_instance("config", config, dict, "None or a dict")
    check_instance("api_key", api_key, str, "None or an API key")
    check_instance("api_key_file", api_key_file, str, "None or the path of a file")
    check_bool("rank_zero_only", rank_zero_only)
    key = read_key(api_key, api_key_file)
    here = place()
    check_installed("setup_wandb()", WandbLoggerCallback.module, WandbLoggerCallback.package)
    import wandb

    if here is not None and here.rank != 0 and rank_zero_only:
        return wandb.init(mode="disabled")
    arguments: dict[str, Any] = {"config": config}
    if project := os.environ.get(_PROJECT):
        arguments["project"] = project
    if group := os.environ.get(_GROUP):
        arguments["group"] = group
    if here is not None:
        suffix = f"-rank-{here.rank}" if not rank_zero_only else ""
        arguments = {
            "group": here.run_name,
            **arguments,
            "id": here.trial_id + suffix,
            "name": here.run_name + suffix,
            "resume": "allow",
            "allow_val_change": True,
        }
    arguments |= kwargs
    if key is not None:
        arguments["settings"] = _with_key(arguments.get("settings") or {}, key)
    elif here is not None and (host := wandb_login.missing_login(arguments)) and not _has_login(wandb):
        # W&B would ask at a terminal, which a rank has not, and fail the rank.
        log.warn(f"setup_wandb(): {wandb_login.words(host)}; now it logs into files, and `wandb sync` sends them")
        arguments["mode"] = "offline"
    return wandb.init(**arguments)


offer(globals(), ("WandbLoggerCallback", "setup_wandb"), place="headway.air.integrations.wandb")

"""Comet: the callback that logs a run."""

from __future__ import annotations

import os
import uuid
from collections.abc import Sequence
from typing import Any, ClassVar

from headway._storage import locations
from headway._storage.run_files import flat
from headway._trackers.callback import TrackerCallback
from headway._trackers.tracker import TrackedRun, Tracker
from headway._trackers.values import numbers_of
from headway._values.arguments import check_bool, check_texts
from headway._values.named_arguments import offer

_UPLOAD_S = 1800.0
# What Comet would do to the whole process of the driver: replace its output, read its arguments.
_QUIET = {
    "auto_output_logging": False,
    "auto_param_logging": False,
    "auto_metric_logging": False,
    "log_code": False,
    "log_graph": False,
    "log_git_patch": False,
    "parse_args": False,
}


class CometLoggerCallback(TrackerCallback):
    """Logs a run to Comet: its reports, its configuration, and where its checkpoints are.

    The driver does it, on a separate thread. The experiment goes on when ranks are restarted, and
    when ``fit()`` is called again with the run's name. A failure of Comet is a warning.

    Args:
        online: False: log into an archive, in ``offline_directory``, ``COMET_OFFLINE_DIRECTORY`` or
            the folder ``comet`` of the run; ``comet upload`` sends it later.
        tags: Tags of the experiment.
        save_checkpoints: Upload each checkpoint's files; of one on remote storage a reference.
            Default: only its place is logged.
        experiment_kwargs: For ``comet_ml.Experiment``, such as ``project_name``, ``workspace`` or
            ``api_key``. Default of the key: ``COMET_API_KEY`` or Comet's own configuration. It is
            not stored with the run.

    Example:
        >>> from headway import train
        >>> from headway.air.integrations.comet import CometLoggerCallback
        >>> config = train.RunConfig(callbacks=[CometLoggerCallback(tags=["first"], project_name="digits")])
    """

    label: ClassVar[str] = "Comet"
    module: ClassVar[str] = "comet_ml"
    package: ClassVar[str] = "comet_ml"

    def __init__(
        self,
        online: bool = True,
        tags: Sequence[str] | None = None,
        save_checkpoints: bool = False,
        **experiment_kwargs: Any,
    ):
        self.online = check_bool("online", online)
        self.tags = check_texts("tags", tags if tags is not None else [], "None or a list of text")
        self.save_checkpoints = check_bool("save_checkpoints", save_checkpoints)
        self.experiment_kwargs = experiment_kwargs

    def __getstate__(self) -> dict[str, Any]:
        kept = {name: value for name, value in self.experiment_kwargs.items() if name != "api_key"}
        return {**super().__getstate__(), "experiment_kwargs": kept}

    def _upload_limit_s(self) -> float:
        return _UPLOAD_S if self.save_checkpoints else 0.0

    def _tracker(self) -> tuple[str, Tracker]:
        names = (self.experiment_kwargs.get(name) or "" for name in ("workspace", "project_name"))
        return f"comet:{'/'.join(names)}", _CometTracker(self)


class _CometTracker(Tracker):
    def __init__(self, callback: CometLoggerCallback):
        self._callback = callback
        self._experiment: Any = None

    def open(self, run: TrackedRun, earlier: str | None) -> str:
        import comet_ml

        callback = self._callback
        arguments = {**_QUIET, **callback.experiment_kwargs}
        if not callback.online and run.is_local and "COMET_OFFLINE_DIRECTORY" not in os.environ:
            arguments.setdefault("offline_directory", os.path.join(run.path, "comet"))
        if earlier is None:
            kind = comet_ml.Experiment if callback.online else comet_ml.OfflineExperiment
            arguments.setdefault("experiment_key", uuid.uuid4().hex)
        else:
            kind = comet_ml.ExistingExperiment if callback.online else comet_ml.ExistingOfflineExperiment
            arguments["previous_experiment"] = earlier
        self._experiment = kind(**arguments)
        if earlier is None:
            self._experiment.set_name(run.name)
            self._experiment.log_other("Created from", "Headway")
        self._experiment.add_tags(callback.tags)
        self._experiment.log_parameters(flat(run.config))
        return str(self._experiment.get_key())

    def log(self, step: int, metrics: dict[str, Any]) -> None:
        numbers = numbers_of(metrics)
        self._experiment.log_metrics(numbers, step=step)
        self._experiment.log_others({name: value for name, value in metrics.items() if name not in numbers})

    def checkpoint(self, step: int, location: str, shown: str) -> None:
        self._experiment.log_other("checkpoint", shown)
        if not self._callback.save_checkpoints:
            return
        if locations.is_remote(location):
            self._experiment.log_remote_asset(shown, step=step)
        # num_to_keep may have deleted it meanwhile.
        elif os.path.isdir(path := locations.local_path(location)):
            self._experiment.log_asset_folder(path, step=step, log_file_name=True, recursive=True)

    def close(self, *, failed: bool) -> None:
        self._experiment.log_other("status", "failed" if failed else "finished")
        self._experiment.end()


offer(globals(), ("CometLoggerCallback",), place="headway.air.integrations.comet")

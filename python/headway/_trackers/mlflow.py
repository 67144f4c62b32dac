"""MLflow: the callback that logs a run."""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar
from urllib.parse import urlsplit, urlunsplit

from headway._storage import locations
from headway._storage.run_files import flat
from headway._trackers.callback import TrackerCallback
from headway._trackers.tracker import TrackedRun, Tracker
from headway._trackers.values import numbers_of
from headway._values.arguments import check_bool, check_instance, check_labels
from headway._values.named_arguments import offer

_UPLOAD_S = 1800.0
# MLflow's own limits.
_PARAMS_IN_BATCH = 100
_VALUE_CHARS = 6000
TOKEN = "MLFLOW_TRACKING_TOKEN"


class MLflowLoggerCallback(TrackerCallback):
    """Logs a run to MLflow: its reports, its configuration, and where its checkpoints are.

    The driver does it, on a separate thread. The MLflow run goes on when ranks are restarted, and
    when ``fit()`` is called again with the run's name. A failure of MLflow is a warning.

    Args:
        tracking_uri: Where MLflow keeps runs, such as ``"http://host:5000"`` or
            ``"sqlite:///runs.db"``. Default: ``MLFLOW_TRACKING_URI``.
        registry_uri: Where MLflow keeps models. Default: ``tracking_uri``.
        experiment_name: MLflow's experiment; it is made if it is not there. Default:
            ``MLFLOW_EXPERIMENT_NAME``, else ``MLFLOW_EXPERIMENT_ID``, else the run's name.
        tags: Tags of the MLflow run.
        tracking_token: A token for the server. Default: ``MLFLOW_TRACKING_TOKEN``. It is not
            stored with the run.
        save_artifact: Upload the run's folder at its end. Default: the places of checkpoints are
            tags.
        log_params_on_trial_end: Log the configuration at the end in place of the start.

    Example:
        >>> from headway import train
        >>> from headway.air.integrations.mlflow import MLflowLoggerCallback
        >>> logger = MLflowLoggerCallback("sqlite:///runs.db", experiment_name="digits", tags={"team": "a"})
        >>> config = train.RunConfig(callbacks=[logger])
    """

    label: ClassVar[str] = "MLflow"
    module: ClassVar[str] = "mlflow"
    package: ClassVar[str] = "mlflow"

    def __init__(
        self,
        tracking_uri: str | None = None,
        *,
        registry_uri: str | None = None,
        experiment_name: str | None = None,
        tags: dict[str, str] | None = None,
        tracking_token: str | None = None,
        save_artifact: bool = False,
        log_params_on_trial_end: bool = False,
    ):
        self.tracking_uri = check_instance("tracking_uri", tracking_uri, str, "None or a URI")
        self.registry_uri = check_instance("registry_uri", registry_uri, str, "None or a URI")
        name = check_instance("experiment_name", experiment_name, str, "None or the name of an experiment")
        self.experiment_name = name
        self.tags = check_labels("tags", tags if tags is not None else {})
        self.tracking_token = check_instance("tracking_token", tracking_token, str, "None or a token")
        self.save_artifact = check_bool("save_artifact", save_artifact)
        self.log_params_on_trial_end = check_bool("log_params_on_trial_end", log_params_on_trial_end)

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "tracking_token": None}

    def _upload_limit_s(self) -> float:
        return _UPLOAD_S if self.save_artifact else 0.0

    def _tracker(self) -> tuple[str, Tracker]:
        place = _without_login(self.tracking_uri or os.environ.get("MLFLOW_TRACKING_URI", ""))
        return f"mlflow:{place}/{self.experiment_name or ''}", _MLflowTracker(self)


class _MLflowTracker(Tracker):
    def __init__(self, callback: MLflowLoggerCallback):
        self._callback = callback
        self._params: dict[str, Any] = {}
        self._run: TrackedRun
        self._client: Any = None
        self._run_id = ""

    def open(self, run: TrackedRun, earlier: str | None) -> str:
        import mlflow

        callback = self._callback
        if callback.tracking_token is not None:
            os.environ[TOKEN] = callback.tracking_token
        self._run, self._params = run, run.config
        self._client = mlflow.MlflowClient(callback.tracking_uri, callback.registry_uri)
        if earlier is None or not resume(self._client, earlier):
            tags = {"trial_name": run.name, **callback.tags}
            experiment = self._experiment(run)
            earlier = self._client.create_run(experiment, tags=tags, run_name=run.name).info.run_id
        self._run_id = str(earlier)
        if not callback.log_params_on_trial_end:
            log_params(self._client, self._run_id, self._params)
        return self._run_id

    def _experiment(self, run: TrackedRun) -> str:
        name = self._callback.experiment_name or os.environ.get("MLFLOW_EXPERIMENT_NAME")
        if name is None and (identity := os.environ.get("MLFLOW_EXPERIMENT_ID")):
            return identity
        return experiment_of(self._client, name or run.group or run.name)

    def log(self, step: int, metrics: dict[str, Any]) -> None:
        from mlflow.entities import Metric

        # As Ray's: who counts steps of an environment, for example, has them as MLflow's steps.
        own = metrics.get("timesteps_total")
        step = own if isinstance(own, int) and own > 0 else step
        now = int(time.time() * 1000)
        values = [Metric(allowed_name(name), value, now, step) for name, value in numbers_of(metrics).items()]
        self._client.log_batch(self._run_id, metrics=values)

    def checkpoint(self, step: int, location: str, shown: str) -> None:
        self._client.set_tag(self._run_id, "checkpoint", shown)

    def close(self, *, failed: bool) -> None:
        try:
            if self._callback.log_params_on_trial_end:
                log_params(self._client, self._run_id, self._params)
            if self._callback.save_artifact:
                self._upload()
        finally:
            self._client.set_terminated(self._run_id, "FAILED" if failed else "FINISHED")

    def _upload(self) -> None:
        if self._run.is_local:
            self._client.log_artifacts(self._run_id, self._run.path)
            return
        with tempfile.TemporaryDirectory() as folder:
            locations.download(self._run.location, folder)
            self._client.log_artifacts(self._run_id, folder)


def resume(client: Any, run_id: str) -> bool:
    """Sets a run to running again; False when somebody has deleted it."""
    from mlflow.exceptions import MlflowException

    try:
        found = client.get_run(run_id)
    except MlflowException as error:
        if error.error_code == "RESOURCE_DOES_NOT_EXIST":
            return False
        raise
    if found.info.lifecycle_stage != "active":
        return False
    client.update_run(run_id, status="RUNNING")
    return True


def experiment_of(client: Any, name: str, artifact_location: str | None = None) -> str:
    """The id of the experiment of a name, which is made if it is not there."""
    from mlflow.exceptions import MlflowException

    found = client.get_experiment_by_name(name)
    if found is not None:
        return str(found.experiment_id)
    try:
        return str(client.create_experiment(name, artifact_location=artifact_location))
    except MlflowException as error:
        if error.error_code != "RESOURCE_ALREADY_EXISTS":
            raise
        # Another run has made it meanwhile.
        return str(client.get_experiment_by_name(name).experiment_id)


def log_params(client: Any, run_id: str, config: Mapping[str, Any]) -> None:
    """Logs a configuration's entries under flat names. Those that are there stay: MLflow refuses
    another value.
    """
    from mlflow.entities import Param

    there = client.get_run(run_id).data.params
    named = {allowed_name(name): str(value)[:_VALUE_CHARS] for name, value in flat(dict(config)).items()}
    params = [Param(name, value) for name, value in named.items() if name not in there]
    for batch in _batches(params):
        client.log_batch(run_id, params=batch)


def _batches(params: list[Any]) -> Iterator[list[Any]]:
    for start in range(0, len(params), _PARAMS_IN_BATCH):
        yield params[start : start + _PARAMS_IN_BATCH]


def allowed_name(name: str) -> str:
    """A name with what MLflow allows in names."""
    return re.sub(r"[^/\w.\- :]", "_", name)[:250]


def _without_login(uri: str) -> str:
    parts = urlsplit(uri)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


offer(globals(), ("MLflowLoggerCallback",), place="headway.air.integrations.mlflow")

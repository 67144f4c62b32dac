"""MLflow within a training function."""

from __future__ import annotations

import os
from typing import Any

from headway._trackers.mlflow import TOKEN, MLflowLoggerCallback, experiment_of, log_params
from headway._trackers.rank import Place, place
from headway._values.arguments import check_bool, check_instance, check_labels
from headway._values.named_arguments import offer
from headway._values.packages import check_installed


def setup_mlflow(
    config: dict[str, Any] | None = None,
    tracking_uri: str | None = None,
    registry_uri: str | None = None,
    experiment_id: str | None = None,
    experiment_name: str | None = None,
    tracking_token: str | None = None,
    artifact_location: str | None = None,
    run_name: str | None = None,
    create_experiment_if_not_exists: bool = False,
    tags: dict[str, str] | None = None,
    rank_zero_only: bool = True,
) -> Any:
    """Starts an MLflow run in a training function, for what the function logs itself.

    In rank 0 it resumes the same MLflow run in each attempt. Outside of a training function it
    starts a run.

    Args:
        config: Logged as the run's parameters.
        tracking_uri: Where MLflow keeps runs. Default: ``MLFLOW_TRACKING_URI``.
        registry_uri: Where MLflow keeps models. Default: ``tracking_uri``.
        experiment_id: The experiment, by its id. Default: ``experiment_name``, else
            ``MLFLOW_EXPERIMENT_ID``, else ``MLFLOW_EXPERIMENT_NAME``.
        experiment_name: The experiment, by its name.
        tracking_token: A token for the server. Default: ``MLFLOW_TRACKING_TOKEN``.
        artifact_location: Where a new experiment keeps files.
        run_name: The MLflow run's name. Default: the run's.
        create_experiment_if_not_exists: Make an experiment that is not there.
        tags: Tags of the MLflow run.
        rank_zero_only: False: every rank has an MLflow run.

    Returns:
        The module ``mlflow`` with an active run. In other ranks than 0 an object whose functions
        do nothing.

    Raises:
        ImportError: mlflow is not installed.
        TypeError, ValueError: an argument is not allowed, or there is no such experiment.

    Example:
        >>> from headway.air.integrations.mlflow import setup_mlflow
        >>> def loop(config):
        ...     mlflow = setup_mlflow(config, experiment_name="digits", create_experiment_if_not_exists=True)
        ...     mlflow.log_metric("loss", 0.5, step=1)
        ...     mlflow.end_run()
    """
    check_instance("config", config, dict, "None or a dict")
    texts = {
        "tracking_uri": tracking_uri,
        "registry_uri": registry_uri,
        "experiment_id": experiment_id,
        "experiment_name": experiment_name,
        "tracking_token": tracking_token,
        "artifact_location": artifact_location,
        "run_name": run_name,
    }
    for name, text in texts.items():
        check_instance(name, text, str, "None or text")
    check_bool("create_experiment_if_not_exists", create_experiment_if_not_exists)
    tags = check_labels("tags", tags if tags is not None else {})
    check_bool("rank_zero_only", rank_zero_only)
    here = place()
    if here is not None and here.rank != 0 and rank_zero_only:
        return _Nothing()
    check_installed("setup_mlflow()", MLflowLoggerCallback.module, MLflowLoggerCallback.package)
    import mlflow

    if tracking_token is not None:
        os.environ[TOKEN] = tracking_token
    mlflow.set_tracking_uri(tracking_uri or os.environ.get("MLFLOW_TRACKING_URI"))
    mlflow.set_registry_uri(registry_uri)
    client = mlflow.MlflowClient()
    experiment = _experiment(
        client, experiment_id, experiment_name, artifact_location, makes=create_experiment_if_not_exists
    )
    mlflow.set_experiment(experiment_id=experiment)
    _start(mlflow, client, experiment, here, run_name, tags)
    log_params(client, mlflow.active_run().info.run_id, config or {})
    return mlflow


def _experiment(client: Any, identity: str | None, name: str | None, artifacts: str | None, *, makes: bool) -> str:
    if identity is None and name is None:
        identity = os.environ.get("MLFLOW_EXPERIMENT_ID")
        name = os.environ.get("MLFLOW_EXPERIMENT_NAME")
    if identity is not None:
        return str(client.get_experiment(identity).experiment_id)
    if name is None:
        raise ValueError("setup_mlflow() has no experiment; give experiment_name=... or experiment_id=...")
    if not makes and client.get_experiment_by_name(name) is None:
        raise ValueError(
            f"experiment_name is {name!r}, which is no experiment at {client.tracking_uri}; allowed: one that exists, "
            "or create_experiment_if_not_exists=True"
        )
    return experiment_of(client, name, artifacts)


def _start(
    mlflow: Any, client: Any, experiment: str, here: Place | None, run_name: str | None, tags: dict[str, str]
) -> None:
    """Resumes the MLflow run of this rank, or starts one."""
    if here is None:
        mlflow.start_run(run_name=run_name, tags=tags)
        return
    own = {"trial_id": here.trial_id, "trial_name": here.run_name, "rank": str(here.rank)}
    found = client.search_runs(
        [experiment], f"tags.trial_id = '{here.trial_id}' and tags.rank = '{here.rank}'", max_results=1
    )
    if found:
        mlflow.start_run(run_id=found[0].info.run_id)
    else:
        mlflow.start_run(run_name=run_name or here.run_name, tags={**own, **tags})


class _Nothing:
    """In place of the module: each of its functions does nothing, ``with`` included."""

    def __getattr__(self, name: str) -> _Nothing:
        if name.startswith("__"):  # Not what copying or pickling asks for.
            raise AttributeError(name)
        return self

    def __call__(self, *args: Any, **kwargs: Any) -> _Nothing:
        return self

    def __enter__(self) -> _Nothing:
        return self

    def __exit__(self, *error: object) -> None:
        return None


offer(globals(), ("setup_mlflow",), place="headway.air.integrations.mlflow")

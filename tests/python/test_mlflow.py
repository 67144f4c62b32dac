"""MLflow, the real library over an SQLite file: what it has written is read back by its client."""

import pickle

import pytest
from headway.air.integrations.mlflow import MLflowLoggerCallback

TRAIN = """
import os
from headway import train
from headway.air.integrations.mlflow import MLflowLoggerCallback, setup_mlflow

STORE = "sqlite:///" + os.path.abspath("runs.db")


def loop(config):
    saved = train.get_checkpoint()
    for step in range(saved.to_dict()["step"] + 1 if saved else 0, config["steps"]):
        checkpoint = train.Checkpoint.from_dict({"step": step}) if train.get_context().get_world_rank() == 0 else None
        train.report({"loss": 1 / (step + 1), "eval": {"best@1": step}, "note": "x"}, checkpoint=checkpoint)
        if step == config["fails_at"] and (saved is None or config.get("always")):
            raise ValueError("fails once")


def fit(callback, loop=loop, workers=2, max_failures=1, **config):
    return train.DataParallelTrainer(
        loop,
        train_loop_config={"steps": 2, "fails_at": -1, "model": {"layers": [1, 2]}, **config},
        scaling_config=train.ScalingConfig(num_workers=workers),
        run_config=train.RunConfig(
            name="digits", callbacks=[callback] if callback else [],
            failure_config=train.FailureConfig(max_failures),
        ),
    ).fit()
"""


def client_and_runs(script, experiment):
    """MLflow's client, and the runs of the experiment in the order of their starts."""
    import mlflow

    client = mlflow.MlflowClient(f"sqlite:///{script.folder}/runs.db")
    identity = client.get_experiment_by_name(experiment).experiment_id
    return client, client.search_runs([identity], order_by=["attributes.start_time"])


def history(client, run, metric):
    return [(each.step, each.value) for each in client.get_metric_history(run.info.run_id, metric)]


def test_the_token_is_not_stored_with_the_run():
    stored = pickle.dumps(MLflowLoggerCallback("http://host", tracking_token="secret"))
    assert b"secret" not in stored
    assert pickle.loads(stored).tracking_uri == "http://host"


@pytest.mark.heavy
def test_a_run_with_a_restart_and_a_later_driver_is_one_mlflow_run_whose_steps_go_on(script):
    code = (
        TRAIN + 'fit(MLflowLoggerCallback(STORE, experiment_name="mine", tags={"team": "a"}), steps=%d, fails_at=0)\n'
    )
    for steps in (2, 3):
        status, output = script.run(code % steps, limit_s=55)
        assert (status, "not logged" in output) == (0, False), output
    client, (run,) = client_and_runs(script, "mine")
    assert (run.info.run_name, run.info.status) == ("digits", "FINISHED")
    assert run.data.params == {"steps": "2", "fails_at": "0", "model/layers": "[1, 2]"}
    assert run.data.tags["team"] == "a"
    assert run.data.tags["checkpoint"] == str(script.folder / "storage/digits/checkpoint_000002")
    assert history(client, run, "loss") == [(1, 1.0), (2, 0.5), (3, 1 / 3)]
    assert history(client, run, "eval/best_1") == [(1, 0.0), (2, 1.0), (3, 2.0)]
    assert [step for step, _ in history(client, run, "training_iteration")] == [1, 2, 3]
    assert client.list_artifacts(run.info.run_id) == []


@pytest.mark.heavy
def test_a_failed_run_is_failed_and_its_folder_is_uploaded_where_asked_for(script):
    code = TRAIN + (
        "callback = MLflowLoggerCallback(STORE, save_artifact=True, log_params_on_trial_end=True)\n"
        "try:\n    fit(callback, workers=1, max_failures=0, fails_at=1, always=True)\n"
        "except train.WorkerGroupError as error:\n    print(error)\n"
    )
    status, output = script.run(code, limit_s=110)
    assert (status, "not logged" in output) == (0, False), output
    client, (run,) = client_and_runs(script, "digits")
    assert run.info.status == "FAILED"
    assert run.data.params["always"] == "True"
    names = {each.path for each in client.list_artifacts(run.info.run_id)}
    assert {"result.json", "params.json", "checkpoint_000000", "checkpoint_000001"} <= names


@pytest.mark.heavy
def test_a_run_that_somebody_has_deleted_at_mlflow_is_a_new_one(script):
    code = TRAIN + "fit(MLflowLoggerCallback(STORE), steps=%d)\n"
    assert script.run(code % 2)[0] == 0
    client, (run,) = client_and_runs(script, "digits")
    client.delete_run(run.info.run_id)
    assert script.run(code % 3)[0] == 0
    _, (again,) = client_and_runs(script, "digits")
    assert again.info.run_id != run.info.run_id
    assert history(client, again, "loss") == [(3, 1 / 3)]


@pytest.mark.heavy
@pytest.mark.parametrize("rank_zero_only", [True, False])
def test_setup_mlflow_in_a_training_function_is_one_run_over_restarts(script, rank_zero_only):
    code = TRAIN + (
        "import mlflow\n"
        'mlflow.MlflowClient(STORE).create_experiment("mine")\n'
        "def own(config):\n"
        f'    mlflow = setup_mlflow(config, STORE, experiment_name="mine", rank_zero_only={rank_zero_only})\n'
        '    mlflow.log_metric("mine", train.get_context().get_world_rank() + 1)\n'
        "    loop(config)\n"
        "    with mlflow.start_run(nested=True):\n"
        '        mlflow.log_param("inner", 1)\n'
        "    mlflow.end_run()\n"
        "fit(None, own, fails_at=0)\n"
    )
    status, output = script.run(code, limit_s=110)
    assert status == 0, output
    client, runs = client_and_runs(script, "mine")
    outer = sorted(
        (run for run in runs if "mlflow.parentRunId" not in run.data.tags), key=lambda run: run.data.tags["rank"]
    )
    ranks = [0] if rank_zero_only else [0, 1]
    assert [(run.info.run_name, run.data.tags["rank"]) for run in outer] == [("digits", str(rank)) for rank in ranks]
    assert history(client, outer[0], "mine") == [(0, 1.0), (0, 1.0)]
    assert outer[0].data.params["steps"] == "2"
    assert len(runs) == 2 * len(ranks)


@pytest.mark.heavy
def test_an_experiment_that_is_not_there_is_an_error(script):
    code = TRAIN + (
        "for options in ({}, {'experiment_name': 'none'}):\n"
        "    try:\n        setup_mlflow(tracking_uri=STORE, **options)\n"
        "    except ValueError as error:\n        print(error)\n"
    )
    status, output = script.run(code, limit_s=110)
    assert status == 0, output
    assert "has no experiment; give experiment_name=..." in output
    assert "experiment_name is 'none', which is no experiment at sqlite:///" in output


@pytest.mark.heavy
def test_a_server_that_never_answers_holds_up_neither_the_run_nor_the_end_of_the_process(script):
    code = (
        "import socket\n"
        'server = socket.create_server(("127.0.0.1", 0))\n' + TRAIN + "port = server.getsockname()[1]\n"
        'fit(MLflowLoggerCallback(f"http://127.0.0.1:{port}"))\n'
    )
    status, output = script.run(code, limit_s=40, HEADWAY_TRACKER_END_S="0.5")
    assert status == 0, output
    assert "warning: MLflow had not taken everything 0.5 s after the run's end" in output
    assert script.processes() == {}

"""Comet, the real library without a server: what it has written is read back."""

import json
import pickle
import zipfile

import pytest
from headway.air.integrations.comet import CometLoggerCallback

TRAIN = """
from headway import train
from headway.air.integrations.comet import CometLoggerCallback


def loop(config):
    saved = train.get_checkpoint()
    for step in range(saved.to_dict()["step"] + 1 if saved else 0, config["steps"]):
        train.report({"loss": 1 / (step + 1), "eval": {"accuracy": step}, "note": f"step {step}"},
                     checkpoint=train.Checkpoint.from_dict({"step": step}))
        if step == config["fails_at"] and saved is None:
            raise ValueError("fails once")


def fit(callback, max_failures=1, **config):
    return train.DataParallelTrainer(
        loop,
        train_loop_config={"steps": 2, "fails_at": -1, "model": {"layers": 2}, **config},
        run_config=train.RunConfig(
            name="digits", callbacks=[callback], failure_config=train.FailureConfig(max_failures)
        ),
    ).fit()
"""


def archives(script):
    """What Comet's archives of the run have: the experiment, and its messages, the oldest first."""
    found = []
    files = (script.folder / "storage/digits/comet").glob("*.zip")
    for path in sorted(files, key=lambda path: path.stat().st_mtime_ns):
        with zipfile.ZipFile(path) as archive:
            experiment = json.loads(archive.read("experiment.json"))
            lines = archive.read("messages.json").decode().splitlines()
        found.append((experiment, [json.loads(line) for line in lines]))
    return found


def metrics(messages, name):
    logged = [each["payload"]["metric"] for each in messages if each["type"] == "metric_msg"]
    return [(each["step"], each["metricValue"]) for each in logged if each["metricName"] == name]


def others(messages):
    """The newest text by its name."""
    logged = [each["payload"] for each in messages if each["type"] == "log_other"]
    return {each["key"]: each["value"] for each in logged}


def test_the_key_is_not_stored_with_the_run():
    stored = pickle.dumps(CometLoggerCallback(api_key="secret", project_name="digits"))
    assert b"secret" not in stored
    assert pickle.loads(stored).experiment_kwargs == {"project_name": "digits"}


@pytest.mark.heavy
def test_a_run_with_a_restart_and_a_later_driver_is_one_experiment_whose_steps_go_on(script):
    code = TRAIN + 'fit(CometLoggerCallback(online=False, tags=["a"], project_name="p"), steps=%d, fails_at=0)\n'
    for steps in (2, 3):
        status, output = script.run(code % steps)
        assert (status, "not logged" in output) == (0, False), output
    (first, messages), (second, later) = archives(script)
    assert first["project_name"] == "p"
    assert first["tags"] == ["a"]
    assert second["offline_id"] == first["offline_id"]
    assert metrics(messages, "loss") == [(1, 1.0), (2, 0.5)]
    assert metrics(messages, "eval/accuracy") == [(1, 0.0), (2, 1.0)]
    assert metrics(later, "loss") == [(3, 1 / 3)]
    texts = others(messages)
    assert (texts["Name"], texts["note"], texts["status"]) == ("digits", "step 1", "finished")
    assert texts["checkpoint"] == str(script.folder / "storage/digits/checkpoint_000001")
    params = [each["payload"]["param"] for each in messages if each["type"] == "parameter_msg"]
    assert {each["paramName"]: each["paramValue"] for each in params}["model/layers"] == 2


@pytest.mark.heavy
def test_checkpoints_are_uploaded_where_asked_for_and_a_failed_run_is_failed(script):
    code = TRAIN + (
        "try:\n    fit(CometLoggerCallback(online=False, save_checkpoints=True), max_failures=0, fails_at=1)\n"
        "except train.WorkerGroupError as error:\n    print(error)\n"
    )
    status, output = script.run(code)
    assert (status, "not logged" in output) == (0, False), output
    ((_, messages),) = archives(script)
    assert others(messages)["status"] == "failed"
    uploads = [each["payload"] for each in messages if each["type"] == "file_upload"]
    names = {each["additional_params"].get("fileName") for each in uploads}
    assert {f"checkpoint_00000{number}/.headway.json" for number in (0, 1)} <= names


@pytest.mark.heavy
def test_a_login_that_is_missing_is_a_warning(script, tmp_path):
    status, output = script.run(TRAIN + "fit(CometLoggerCallback())\n", HOME=str(tmp_path))
    assert status == 0, output
    assert "warning: nothing of this run is logged to Comet: ValueError: Comet.ml requires an API key" in output


@pytest.mark.heavy
def test_a_server_that_never_answers_holds_up_neither_the_run_nor_the_end_of_the_process(script):
    code = (
        "import os, socket\n"
        'server = socket.create_server(("127.0.0.1", 0))\n'
        'os.environ["COMET_URL_OVERRIDE"] = f"http://127.0.0.1:{server.getsockname()[1]}/clientlib"\n'
        + TRAIN
        + f'fit(CometLoggerCallback(api_key="{"x" * 25}"))\n'
    )
    status, output = script.run(code, limit_s=40, HEADWAY_TRACKER_END_S="0.5")
    assert status == 0, output
    assert "warning: Comet had not taken everything 0.5 s after the run's end" in output
    assert script.processes() == {}

"""Aim, the real library over a directory: what it has written is read back by its repository."""

import subprocess
import sys

import pytest

TRAIN = """
import os
from headway import train
from headway.tune.logger.aim import AimLoggerCallback


def loop(config):
    saved = train.get_checkpoint()
    for step in range(saved.to_dict()["step"] + 1 if saved else 0, config["steps"]):
        train.report({"loss": 1 / (step + 1), "eval": {"accuracy": step}, "note": "x"},
                     checkpoint=train.Checkpoint.from_dict({"step": step}))
        if step == config["fails_at"] and saved is None:
            raise ValueError("fails once")
        if step == config.get("driver_dies_at"):
            os.kill(config["driver"], 9)





def fit(callback, max_failures=1, **config):
    return train.DataParallelTrainer(
        loop,
        train_loop_config={"steps": 2, "fails_at": -1, "model": {"layers": 2}, "driver": os.getpid(), **config},
        run_config=train.RunConfig(
            name="digits", callbacks=[callback], failure_config=train.FailureConfig(max_failures)
        ),
    ).fit()
"""


def read(repo):
    """Each run of a repository, with its metrics by name: [(step, value), ...]."""
    aim = pytest.importorskip("aim")
    # `aim up` does it by itself.
    code = "from aim.cli.cli import cli_entry_point; cli_entry_point()"
    command = [sys.executable, "-c", code, "storage", "--repo", repo, "reindex"]
    subprocess.run(command, input="y\n", text=True, check=True, capture_output=True)
    found = []
    for run in aim.Repo(str(repo)).iter_runs():
        frames = {metric.name: metric.dataframe() for metric in run.metrics()}
        metrics = {name: sorted(zip(frame["step"], frame["value"], strict=True)) for name, frame in frames.items()}
        found.append((run, metrics))
    return found


@pytest.mark.heavy
def test_a_run_with_a_restart_and_a_later_driver_is_one_aim_run_whose_steps_go_on(script):
    pytest.importorskip("aim")
    code = TRAIN + "fit(AimLoggerCallback(), steps=%d, fails_at=0)\n"
    for steps in (2, 3):
        status, output = script.run(code % steps)
        assert (status, "not logged" in output) == (0, False), output
    ((run, metrics),) = read(script.folder / "storage")
    assert (run.name, run.experiment, run["status"]) == ("digits", "digits", "finished")
    assert run["hparams"]["model/layers"] == 2
    assert run["checkpoint"] == str(script.folder / "storage/digits/checkpoint_000002")
    assert metrics["ray/tune/loss"] == [(1, 1.0), (2, 0.5), (3, 1 / 3)]
    assert metrics["ray/tune/eval/accuracy"] == [(1, 0.0), (2, 1.0), (3, 2.0)]


@pytest.mark.heavy
def test_a_failed_run_is_failed_and_only_named_metrics_are_logged(script):
    pytest.importorskip("aim")
    code = TRAIN + (
        "try:\n"
        '    fit(AimLoggerCallback("here", "mine", ["loss"]), max_failures=0, fails_at=0)\n'
        "except train.WorkerGroupError as error:\n    print(error)\n"
    )
    (script.folder / "here").mkdir()
    status, output = script.run(code)
    assert (status, "not logged" in output) == (0, False), output
    ((run, metrics),) = read(script.folder / "here")
    assert (run.experiment, run["status"]) == ("mine", "failed")
    assert metrics == {"ray/tune/loss": [(1, 1.0)]}


@pytest.mark.heavy
def test_a_driver_that_was_killed_leaves_a_run_that_the_next_one_resumes(script):
    pytest.importorskip("aim")
    code = TRAIN + "fit(AimLoggerCallback(), steps=3, driver_dies_at=%d)\n"
    assert script.run(code % 1)[0] == 137
    status, output = script.run(code % -1)
    assert (status, "not logged" in output) == (0, False), output
    ((run, metrics),) = read(script.folder / "storage")
    assert run["status"] == "finished"
    assert metrics["ray/tune/loss"][-1] == (3, 1 / 3)

"""What other programs read of a run's reports: progress.csv and TensorBoard's events."""

import glob
import json
import math
import os
import re
import signal

import pandas
import pytest
from headway import train
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.backend.event_processing.event_file_loader import EventFileLoader


def event_files(folder):
    return sorted(glob.glob(os.path.join(glob.escape(folder), "events.out.tfevents.*")))


def scalars(folder):
    """Tag to [(step, value)], as TensorBoard itself shows it."""
    events = EventAccumulator(folder)
    events.Reload()
    return {tag: [(each.step, each.value) for each in events.Scalars(tag)] for tag in events.Tags()["scalars"]}


def test_pandas_reads_every_report_and_the_columns_that_came_later(fit):
    def loop():
        train.report({"loss": 0.5, "name": 'a "b", c\nd', "eval": {"f1": 1, "by": {"cat": float("nan")}}})
        train.report({"loss": float("inf"), "ok": True})
        train.report({"loss": 2, "eval": {"f1": 3}, "late": [1, 2]})

    result = fit(loop)
    table = pandas.read_csv(os.path.join(result.path, "progress.csv"))
    assert list(table["training_iteration"]) == [1, 2, 3]
    assert list(table["loss"]) == [0.5, math.inf, 2]
    assert table["name"][0] == 'a "b", c\nd'
    assert table["eval/f1"][0] == 1
    assert table["eval/f1"][2] == 3
    assert table["eval/by/cat"].isna().all()
    assert table["ok"][1]
    assert json.loads(table["late"][2]) == [1, 2]
    assert list(table["trial_id"].unique()) == [result.metrics["trial_id"]]


def test_no_trial_id_is_read_as_a_number(fit):
    # Digits alone (78877801) or with one "e" (1e234567) would be: the letter in front makes all of
    # them texts.
    result = fit(lambda: train.report({"loss": 1}))
    assert re.fullmatch("t[0-9a-f]{8}", result.metrics["trial_id"])
    table = pandas.read_csv(os.path.join(result.path, "progress.csv"))
    assert list(table["trial_id"]) == [result.metrics["trial_id"]]


def test_tensorboard_shows_the_numbers_of_every_report(fit):
    def loop():
        train.report({"loss": 0.5, "step": 7, "name": "x", "eval": {"f1": 1, "done": True}})
        train.report({"loss": float("nan"), "grad": float("-inf")})
        train.report({"loss": 0.25})

    result = fit(loop)
    shown = scalars(result.path)
    assert [step for step, _ in shown["loss"]] == [1, 2, 3]
    assert shown["loss"][0][1] == 0.5
    assert math.isnan(shown["loss"][1][1])
    assert shown["loss"][2][1] == 0.25
    assert shown["grad"] == [(2, -math.inf)]
    assert shown["step"] == [(1, 7.0)]
    assert shown["eval/f1"] == [(1, 1.0)]
    assert shown["eval/done"] == [(1, 1.0)]
    assert len(shown["time_total_s"]) == 3
    assert "name" not in shown
    (file,) = event_files(result.path)
    times = [event.wall_time for event in EventFileLoader(file).Load()]
    with open(os.path.join(result.path, "result.json")) as lines:
        assert [int(time) for time in times[1:]] == [json.loads(line)["timestamp"] for line in lines]


def test_a_run_with_no_reports_has_neither_file(fit):
    result = fit(lambda: None)
    assert not os.path.exists(os.path.join(result.path, "progress.csv"))
    assert event_files(result.path) == []


def test_a_restart_goes_on_in_both_files(fit, tmp_path):
    flag = str(tmp_path / "flag")

    def loop():
        train.report({"loss": 1.0})
        if train.get_context().get_world_rank() == 0 and not os.path.exists(flag):
            open(flag, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
        train.report({"loss": 2.0})

    result = fit(loop, max_failures=1)
    table = pandas.read_csv(os.path.join(result.path, "progress.csv"))
    assert list(table["training_iteration"]) == [1, 2, 3]
    assert list(table["attempt"]) == [1, 2, 2]
    assert scalars(result.path)["loss"] == [(1, 1.0), (2, 1.0), (3, 2.0)]


# What was reported before a report with a checkpoint is there when that returns; of later ones some
# may be lost.
KILLED = """
    import tempfile
    from headway import train

    def loop():
        with tempfile.TemporaryDirectory() as empty:
            for step in range(40):
                checkpoint = train.Checkpoint.from_directory(empty) if step == 20 else None
                train.report({"step": step, "loss": 1.0 / (step + 1)}, checkpoint=checkpoint)
        print("reported", flush=True)
        import signal
        signal.pause()

    train.DataParallelTrainer(loop, run_config=train.RunConfig(name="run")).fit()
"""


def test_a_driver_that_is_killed_loses_nothing_that_result_json_has(script):
    script.start(KILLED).wait_for("reported")
    os.kill(script.process.pid, signal.SIGKILL)
    script.process.wait(timeout=30)
    folder = os.path.join(script.storage, "run")
    with open(os.path.join(folder, "result.json")) as lines:
        steps = [json.loads(line)["step"] for line in lines]
    assert steps == list(range(len(steps)))
    assert len(steps) >= 20
    assert list(pandas.read_csv(os.path.join(folder, "progress.csv"))["step"])[: len(steps) - 1] == steps[:-1]
    assert [value for _, value in scalars(folder)["step"]][: len(steps) - 1] == steps[:-1]


@pytest.mark.parametrize("name", ["progress.csv", "artifacts", "trainer.pkl"])
def test_a_checkpoint_cannot_take_the_name_of_a_run_s_own_file(fail, tmp_path, name):
    (tmp_path / "local").mkdir()

    def loop(config):
        train.report({}, checkpoint=train.Checkpoint.from_directory(config["local"]), checkpoint_dir_name=name)

    error = fail(loop, workers=1, config={"local": str(tmp_path / "local")})
    assert f'checkpoint_dir_name is "{name}"' in str(error)

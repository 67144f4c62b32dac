"""The driver of an experiment dies by SIGKILL at any step; the same script again ends it. No trial
is lost, and none ends twice.
"""

import json
import os

import experiments
import pytest

DRIVER = """
import json, os, sys, tempfile
sys.path.insert(0, os.environ["TESTS"])
import experiments
from headway import _core, train

def loop(config):
    first = 0
    if checkpoint := train.get_checkpoint():
        with checkpoint.as_directory() as folder, open(os.path.join(folder, "step")) as file:
            first = int(file.read())
    for step in range(first + 1, 4):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "step"), "w") as file:
                file.write(str(step))
            train.report({"score": step * config["height"]}, checkpoint=train.Checkpoint(folder))

class Telling(experiments.Served):
    def answer(self, event):
        if isinstance(event, _core.TrialEnded):
            print("END", event.trial_id, event.state, flush=True)
        super().answer(event)

path = os.environ["EXPERIMENT"]
known = os.path.exists(os.path.join(path, "experiment.journal"))
served = Telling(
    path, loop, [{"height": height} for height in (5, 4, 9)], metric="score", mode="max", max_concurrent=1,
    scheduler={"kind": "asha", "max_t": 3, "reduction_factor": 3}, restore={"unfinished": True, "errored": False},
)
served.given = len(experiments.read(path)) if known else 0
served.serve()
"""

# The number is the passage.
POINTS = [
    "experiment.append:1",
    "experiment.append:4",
    "append.half:3",
    "experiment.appended:5",
    "experiment.appended:8",
    "experiment.appended:11",
    "commit.answer:1",
    "commit.answer:3",
]


@pytest.mark.parametrize("point", POINTS)
def test_an_experiment_whose_driver_has_died_ends_as_an_undisturbed_one(script, tmp_path, point):
    path = str(tmp_path / "e")
    told = {"TESTS": os.path.dirname(__file__), "EXPERIMENT": path}
    code, first = script.run(DRIVER, HEADWAY_FAULT_POINT=point, **told)
    assert code == 137, first
    code, second = script.run(DRIVER, **told)
    assert code == 0, second
    ends = [line.split()[1:] for line in (first + second).splitlines() if line.startswith("END")]
    assert len(ends) == len({trial_id for trial_id, _ in ends})
    trials = experiments.read(path)
    assert {trial_id: (trial["state"], trial["reason"]) for trial_id, trial in trials.items()} == {
        "t0": ("terminated", "ASHA: iteration 3 has come to max_t, 3"),
        "t1": ("terminated", "ASHA: 4 is below the 66.7th percentile 5 of 1 trial at iteration 1"),
        "t2": ("terminated", "ASHA: iteration 3 has come to max_t, 3"),
    }
    scores = {
        trial_id: [json.loads(line)["score"] for line in (tmp_path / "e" / trial_id / "result.json").open()]
        for trial_id in trials
    }
    assert scores == {"t0": [5, 10, 15], "t1": [4], "t2": [9, 18, 27]}


RETURNING = """
import os, sys
sys.path.insert(0, os.environ["TESTS"])
import experiments
from headway import train

def loop(config):
    train.report({"score": 1})
    if config["fails"]:
        raise ValueError("broken")

path = os.environ["EXPERIMENT"]
known = os.path.exists(os.path.join(path, "experiment.journal"))
served = experiments.Served(
    path, loop, [{"fails": False}, {"fails": True}], max_concurrent=1, restore={"unfinished": True, "errored": False}
)
served.given = len(experiments.read(path)) if known else 0
served.serve()
"""


@pytest.mark.parametrize("passage", [1, 2])
def test_a_trial_whose_driver_has_died_between_its_end_and_the_experiment_runs_once(script, tmp_path, passage):
    path = str(tmp_path / "e")
    told = {"TESTS": os.path.dirname(__file__), "EXPERIMENT": path}
    assert script.run(RETURNING, HEADWAY_FAULT_POINT=f"experiment.gone:{passage}", **told)[0] == 137
    assert experiments.read(path)[f"t{passage - 1}"]["state"] == "running"
    code, second = script.run(RETURNING, **told)
    assert code == 0, second
    trials = experiments.read(path)
    assert [trial["state"] for trial in trials.values()] == ["terminated", "errored"]
    assert [trial["starts"] for trial in trials.values()] == [1, 1]
    assert "ValueError: broken" in trials["t1"]["reason"]
    for trial_id in trials:
        assert len((tmp_path / "e" / trial_id / "result.json").read_text().splitlines()) == 1


WAITING = """
import os, sys, threading
sys.path.insert(0, os.environ["TESTS"])
import experiments
from headway import _core

def loop(config):
    threading.Event().wait()

class Telling(experiments.Served):
    def answer(self, event):
        if isinstance(event, _core.TrialStarted):
            print("STARTED", flush=True)
        super().answer(event)

served = Telling(os.environ["EXPERIMENT"], loop, [{}])
print(served.serve().reason, served.reasons()["t0"][0])
"""


def test_sigterm_leaves_an_experiment_that_can_be_restored(script, tmp_path):
    script.start(WAITING, TESTS=os.path.dirname(__file__), EXPERIMENT=str(tmp_path / "e"), HEADWAY_NOTICE_PERIOD_S="1")
    script.wait_for("STARTED")
    script.process.terminate()
    code, told = script.finish()
    assert code == 0, told
    assert "the driver received SIGTERM unfinished" in told
    assert experiments.read(tmp_path / "e")["t0"]["state"] == "waiting"

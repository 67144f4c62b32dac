"""How experiments end before their trials have: by an error, by the time, by the user; and trials
that pause.
"""

import os
import threading

import experiments
from headway import _core, train

RESTORED = {"unfinished": True, "errored": True}


def wait_for_ever(config):
    """Reports once where its configuration says so, and then does nothing."""
    if config.get("reports"):
        train.report({"score": 1})
    threading.Event().wait()


def test_the_first_error_ends_all_trials_and_they_can_be_restored(tmp_path):
    broken = tmp_path / "broken"
    broken.touch()
    started = tmp_path / "started"
    os.mkfifo(started)

    def loop(config):
        if config["fails"]:
            started.read_text()  # The other one trains.
            if broken.exists():
                raise ValueError("broken")
        elif broken.exists():
            started.write_text("yes")
            threading.Event().wait()

    served = experiments.Served(tmp_path / "e", loop, [{"fails": True}, {"fails": False}], fail_fast=True)
    end = served.serve()
    reason = served.ends()["t0"].reason
    assert "ValueError: broken" in reason
    assert (end.state, end.reason) == ("stopped", f"trial t0 errored (fail_fast): {reason}")
    assert served.ends()["t1"].state == "unfinished"
    assert [trial["state"] for trial in experiments.read(tmp_path / "e").values()] == ["errored", "waiting"]

    broken.unlink()

    class Answered(experiments.Served):
        def answer(self, event):
            if isinstance(event, _core.TrialStarted) and event.trial_id == "t0":
                started.write_text("yes")
            super().answer(event)

    again = Answered(tmp_path / "e", loop, fail_fast=True, restore=RESTORED)
    assert again.serve().state == "finished"
    assert {state for state, _ in again.reasons().values()} == {"terminated"}
    assert len(again.ends()) == 2


def test_the_time_budget_ends_trials_at_a_report_and_between_two(tmp_path):
    served = experiments.Served(tmp_path / "e", wait_for_ever, [{"reports": True}, {}], time_budget_s=0.5)
    end = served.serve()
    assert (end.state, end.reason) == ("stopped", "the time budget of 0.5 s has ended")
    assert served.reasons() == {
        "t0": ("terminated", "the time budget of 0.5 s has ended"),
        "t1": ("terminated", "the time budget of 0.5 s has ended"),
    }
    # Each driver has all of it.
    again = experiments.Served(tmp_path / "e", wait_for_ever, [{}], time_budget_s=0.5, restore=RESTORED)
    again.configs, again.given = [{}, {}, {}], 2
    assert again.serve().reason == "the time budget of 0.5 s has ended"
    assert [event.trial_id for event in again.of(_core.TrialStartWanted)] == ["t2"]


def test_the_user_ends_one_trial_between_two_reports(tmp_path):
    served = experiments.Served(tmp_path / "e", wait_for_ever, [{"reports": True}])
    served.serve(_core.TrialReported)
    served.experiment.stop_trial("t0", "the user said so")
    assert served.serve().state == "finished"
    assert served.reasons() == {"t0": ("terminated", "the user said so")}


def test_a_trial_that_cannot_be_started_errors(tmp_path):
    class Refusing(experiments.Served):
        def start(self, event):
            self.experiment.refuse_trial(event.trial_id, event.start, "no such data")

    served = Refusing(tmp_path / "e", wait_for_ever, [{}])
    served.serve()
    assert served.reasons() == {"t0": ("errored", "no such data")}


def test_a_paused_trial_resumes_from_its_newest_checkpoint_when_there_is_room(tmp_path):
    def loop(config):
        first = 0
        if checkpoint := train.get_checkpoint():
            with checkpoint.as_directory() as folder, open(os.path.join(folder, "step")) as file:
                first = int(file.read())
        for step in range(first + 1, 4):
            folder = tmp_path / f"{config['name']}_{step}"
            folder.mkdir()
            (folder / "step").write_text(str(step))
            train.report({"step": step}, checkpoint=train.Checkpoint(str(folder)))

    class Pausing(experiments.Served):
        def verdict(self, event):
            if (event.trial_id, event.line["step"]) == ("t0", 2):
                return "pause", "the others go first"
            return "continue", ""

    served = Pausing(tmp_path / "e", loop, [{"name": "a"}, {"name": "b"}], asks=True, max_concurrent=1)
    served.serve()
    ends = [(end.trial_id, end.state, end.reason) for end in served.of(_core.TrialEnded)]
    assert ends == [
        ("t0", "paused", "the others go first"),
        ("t1", "terminated", "it has returned after 3 reports"),
        ("t0", "terminated", "it has returned after 3 reports"),
    ]
    starts = [(event.trial_id, event.start, event.resumes) for event in served.of(_core.TrialStartWanted)]
    assert starts == [("t0", 1, False), ("t1", 1, False), ("t0", 2, True)]
    steps = [event.line["step"] for event in served.of(_core.TrialReported) if event.trial_id == "t0"]
    assert steps == [1, 2, 3]

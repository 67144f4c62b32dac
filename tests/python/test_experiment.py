"""Experiments as the core serves them: many trials, each an ordinary run."""

import json

import experiments
import pytest
from headway import _core, train


def climb(config):
    for step in range(config.get("steps", 2)):
        train.report({"score": config["height"] * (step + 1), "depth": {"inner": step}})
    return config["height"]


def test_every_trial_is_a_run_of_its_own(tmp_path):
    served = experiments.Served(tmp_path / "e", climb, [{"height": height} for height in range(5)])
    end = served.serve()
    assert (end.state, end.reason) == ("finished", "all of 5 trials have ended")
    assert served.reasons() == {f"t{i}": ("terminated", "it has returned after 2 reports") for i in range(5)}
    for i in range(5):
        lines = [json.loads(line) for line in (tmp_path / "e" / f"t{i}" / "result.json").read_text().splitlines()]
        assert [line["score"] for line in lines] == [i, 2 * i]
        reported = [event for event in served.of(_core.TrialReported) if event.trial_id == f"t{i}"]
        assert [(event.number, event.line, event.decision) for event in reported] == [
            (1, lines[0], "continue"),
            (2, lines[1], "continue"),
        ]
        ended = served.ends()[f"t{i}"]
        assert ended.outcome.state == "finished"
        assert json.loads(ended.last_report_json) == lines[1]
    trials = experiments.read(tmp_path / "e")
    assert [trial["state"] for trial in trials.values()] == ["terminated"] * 5
    assert [json.loads(trial["config"]) for trial in trials.values()] == served.configs


def test_a_trial_that_asha_stops_makes_no_report_after_that(tmp_path):
    asha = {"kind": "asha", "max_t": 9, "reduction_factor": 3}
    served = experiments.Served(
        tmp_path / "e",
        climb,
        [{"height": height, "steps": 9} for height in (3, 1)],
        metric="score",
        mode="max",
        max_concurrent=1,
        scheduler=asha,
    )
    served.serve()
    assert served.reasons() == {
        "t0": ("terminated", "ASHA: iteration 9 has come to max_t, 9"),
        "t1": ("terminated", "ASHA: 1 is below the 66.7th percentile 3 of 1 trial at iteration 1"),
    }
    assert len((tmp_path / "e" / "t1" / "result.json").read_text().splitlines()) == 1


def test_an_error_is_its_trials_alone(tmp_path):
    def fail(config):
        if config["fails"]:
            raise ValueError("no such height")

    served = experiments.Served(tmp_path / "e", fail, [{"fails": True}, {"fails": False}])
    assert served.serve().state == "finished"
    assert served.ends()["t0"].state == "errored"
    assert "ValueError: no such height" in served.ends()["t0"].reason
    assert served.ends()["t0"].exception is not None
    assert "no such height" in served.ends()["t0"].outcome.failure.message
    assert served.ends()["t1"].state == "terminated"


def test_a_metric_that_is_needed_and_missing_is_an_error_with_its_name(tmp_path):
    served = experiments.Served(tmp_path / "e", climb, [{"height": 1}], metric="loss", mode="min")
    served.serve()
    assert served.reasons()["t0"] == (
        "errored",
        'report 1 has no number "loss", which the scheduler, the search or a stop rule needs; it has score, '
        "depth/inner, and the automatic ones",
    )


def test_nested_metrics_stop_a_trial_and_the_front_end_decides_too(tmp_path):
    class Deciding(experiments.Served):
        def verdict(self, event):
            return ("stop", "high enough") if event.line["score"] >= 20 else ("continue", "")

    configs = [{"height": 10, "steps": 9}, {"height": 1, "steps": 9}]
    served = Deciding(tmp_path / "e", climb, configs, asks=True, stop={"depth/inner": 3})
    served.serve()
    assert served.reasons() == {
        "t0": ("terminated", "high enough"),
        "t1": ("terminated", "depth/inner is 3 (RunConfig.stop: 3)"),
    }


def test_an_experiment_has_one_driver_and_says_what_is_wrong_with_its_description(tmp_path):
    first = experiments.Served(tmp_path / "e", climb)
    with pytest.raises(FileExistsError, match="under way in this process"):
        experiments.Served(tmp_path / "e", climb)
    with pytest.raises(ValueError, match=r"scheduler is of the kind \"best\""):
        experiments.Served(tmp_path / "f", climb, scheduler={"kind": "best"})
    with pytest.raises(ValueError, match="an absolute path"):
        experiments.Served("f", climb)
    first.experiment.suggest("a", "{}", "a")
    with pytest.raises(ValueError, match='trial_id is "a"'):
        first.experiment.suggest("a", "{}", "another")
    with pytest.raises(ValueError, match="the name of a folder"):
        first.experiment.suggest("b", "{}", "b/c")
    with pytest.raises(ValueError, match='decision is "maybe"'):
        first.experiment.decide("a", 1, "maybe", "")
    with pytest.raises(FileNotFoundError):
        _core.read_experiment(str(tmp_path / "f"))
    first.experiment.stop("enough")
    assert first.serve().reason == "enough"


def test_what_was_stopped_is_restored_from_its_newest_checkpoint(tmp_path):
    def resume(config):
        first = 0
        if checkpoint := train.get_checkpoint():
            with checkpoint.as_directory() as folder, open(f"{folder}/step") as file:
                first = int(file.read()) + 1
        for step in range(first, 4):
            train.report({"step": step}, checkpoint=train.Checkpoint.from_directory(_folder_with(tmp_path, step)))

    class Stopping(experiments.Served):
        def verdict(self, event):
            if event.line["step"] == 1 and event.number == 2:
                self.experiment.stop("enough for now")
            return "continue", ""

    served = Stopping(tmp_path / "e", resume, [{}], asks=True)
    assert (served.serve().state, served.events[-1].reason) == ("stopped", "enough for now")
    assert served.reasons() == {"t0": ("unfinished", "enough for now")}
    assert experiments.read(tmp_path / "e")["t0"]["state"] == "waiting"
    again = experiments.Served(tmp_path / "e", resume, [{}], restore={"unfinished": True, "errored": False})
    again.given = 1
    assert again.serve().state == "finished"
    start = again.of(_core.TrialStartWanted)[0]
    assert (start.trial_id, start.start, start.resumes) == ("t0", 2, True)
    steps = [event.line["step"] for event in again.of(_core.TrialReported)]
    assert steps == list(range(steps[0], 4))
    assert steps[0] in (2, 3)  # The one that was under way may have been committed.


def _folder_with(tmp_path, step):
    folder = tmp_path / f"made_{step}"
    folder.mkdir(exist_ok=True)
    (folder / "step").write_text(str(step))
    return str(folder)

"""Schedulers that pause trials, which resume from their checkpoints."""

import pytest
from headway import train, tune
from headway.tune._experiment.display import ExperimentDisplay
from headway.tune._experiment.records import Records, TrialRecord
from headway.tune.schedulers import ASHAScheduler, HyperBandForBOHB, HyperBandScheduler, MedianStoppingRule


def steps_4(config):
    checkpoint = tune.get_checkpoint()
    begin = checkpoint.to_dict()["step"] if checkpoint else 0
    for step in range(begin + 1, 5):
        checkpoint = train.Checkpoint.from_dict({"step": step})
        tune.report({"loss": config["x"], "step": step, "begin": begin}, checkpoint=checkpoint)


@pytest.fixture
def fit(tmp_path):
    def run(scheduler, xs, max_concurrent_trials=1):
        return tune.Tuner(
            steps_4,
            param_space={"x": tune.grid_search(xs)},
            tune_config=tune.TuneConfig(
                "loss", "min", scheduler=scheduler, max_concurrent_trials=max_concurrent_trials
            ),
            run_config=train.RunConfig(storage_path=tmp_path, verbose=0),
        ).fit()

    return run


def test_asha_promotes_the_best_of_those_that_pause(fit):
    grid = fit(ASHAScheduler(max_t=4, reduction_factor=2, promote=True), [1, 4, 3, 2])
    last = {result.config["x"]: result.metrics for result in grid}
    assert last[1]["step"] == 4
    assert last[4]["step"] == 1
    reports = [result.metrics_dataframe["step"].tolist() for result in grid]
    assert all(steps == sorted(set(steps)) for steps in reports), "each step was trained once"
    assert last[1]["begin"] == 2, "it has paused at each milestone, and resumed"
    assert any("is not among the best" in record.reason for record in grid._list)


def test_the_median_rule_pauses_a_trial_until_there_is_room(fit):
    rule = MedianStoppingRule("training_iteration", grace_period=1, min_samples_required=1, hard_stop=False)
    grid = fit(rule, [1, 5, 2])
    last = {result.config["x"]: result.metrics for result in grid}
    assert {metrics["step"] for metrics in last.values()} == {4}, "all came to their ends"
    assert last[5]["begin"] == 1, "after the others"


@pytest.mark.parametrize(("kind", "steps"), [(HyperBandForBOHB, [4, 1, 1, 2]), (HyperBandScheduler, [4, 4, 4, 4])])
def test_hyperband_halves_its_brackets(fit, kind, steps):
    grid = fit(kind(max_t=4, reduction_factor=2), [1, 4, 3, 2], max_concurrent_trials=None)
    reports = [result.metrics_dataframe["step"].tolist() for result in grid]
    assert [each[-1] for each in reports] == steps
    assert all(each == sorted(set(each)) for each in reports), "each step was trained once"
    assert grid._list[0].reason == "HyperBand: its bracket has come to max_t, 4"


def test_one_trial_is_one_trial(capsys):
    display = ExperimentDisplay(1, None, None, Records("t"), reports=False)
    display.ended(TrialRecord("t", "t", "terminated"))
    display.finish("finished", "", None)
    assert "experiment finished; 1 trial has ended\n" in capsys.readouterr().out

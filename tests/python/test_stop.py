"""RunConfig(stop=...): a run that has got far enough ends as finished."""

import datetime
import os

import pytest
from headway import train
from headway.tune import stopper


def count(config):
    for step in range(1000):
        train.report({"step": step, "eval": {"accuracy": step / 10}, "far": step >= 5})


def fit_until(storage, stop, loop=count, workers=2):
    return train.DataParallelTrainer(
        loop,
        train_loop_config={},
        scaling_config=train.ScalingConfig(num_workers=workers),
        run_config=train.RunConfig(storage_path=storage, name="run", stop=stop),
    ).fit()


@pytest.mark.parametrize(
    ("stop", "last"),
    [
        ({"training_iteration": 4}, 3),
        ({"eval/accuracy": 0.5}, 5),
        ({"step": 7, "eval/accuracy": 0.2}, 2),
        ({"done": True, "training_iteration": 4}, 3),
        ({"far": True}, 5),
        (lambda trial_id, result: result["step"] == 6, 6),
        (stopper.MaximumIterationStopper(3), 2),
        (stopper.FunctionStopper(lambda trial_id, result: result["step"] >= 1), 1),
        (stopper.CombinedStopper(stopper.NoopStopper(), stopper.MaximumIterationStopper(2)), 1),
        (stopper.TrialPlateauStopper("step", std=100, num_results=3, grace_period=5), 4),
    ],
)
def test_the_run_ends_with_the_report_that_the_condition_names(storage, stop, last):
    result = fit_until(storage, stop)
    assert result.error is None
    assert result.metrics["step"] == last
    assert list(result.metrics_dataframe["step"]) == list(range(last + 1))
    assert result.return_value is None
    assert train.Result.from_path(result.path).metrics["done"] is True


def test_the_last_report_s_checkpoint_is_kept(storage):
    def loop():
        for step in range(100):
            train.report({"step": step}, checkpoint=train.Checkpoint.from_dict({"step": step}))

    result = fit_until(storage, {"step": 2}, loop, workers=1)
    assert result.checkpoint.to_dict() == {"step": 2}


def test_ranks_that_wait_in_report_clean_up(storage, tmp_path):
    def loop():
        try:
            while True:
                train.report({"x": 1})
        finally:
            (tmp_path / f"left_{train.get_context().get_world_rank()}").touch()

    fit_until(storage, {"x": 1}, loop)
    assert sorted(os.listdir(tmp_path)) == ["left_0", "left_1", "storage"]


def test_the_notice_says_why(storage, capfd):
    fit_until(storage, {"training_iteration": 2})
    assert "headway: The run stops: training_iteration is 2 (RunConfig.stop: 2)" in capfd.readouterr().err


def test_a_metric_that_is_never_reported_is_warned_of(storage, capfd):
    def loop():
        train.report({"loss": 1})

    assert fit_until(storage, {"los": 0}, loop).metrics["loss"] == 1
    assert 'RunConfig.stop names "los", which the report does not have; it has loss' in capfd.readouterr().err


def test_a_stop_function_that_raises_fails_the_run(storage):
    def stop(trial_id, result):
        return result["no_such"]

    with pytest.raises(train.ControllerError, match=r"stop raised KeyError: 'no_such'"):
        fit_until(storage, stop)


def test_stoppers_judge_what_they_see():
    timeout = stopper.TimeoutStopper(datetime.timedelta(days=1))
    assert not timeout("t", {})
    assert not timeout.stop_all()
    # Its time begins with the first report.
    assert stopper.TimeoutStopper(1e-9).stop_all() is False
    plateau = stopper.TrialPlateauStopper("loss", num_results=2, grace_period=2, metric_threshold=1, mode="min")
    assert [plateau("t", {"loss": loss}) for loss in (5, 5, 1, 1)] == [False, False, False, True]
    best = stopper.ExperimentPlateauStopper("loss", std=0.1, top=2, patience=1)
    assert [best("t", {"loss": loss}) for loss in (3, 2, 2, 2)] == [False, False, False, True]

"""``tune.run`` and what is around it: experiments as values, registered names, nested trainers."""

import os

import pytest
from headway import train, tune
from headway.tune.integration.ray_train import TuneReportCallback


def square(config):
    for step in range(3):
        tune.report({"loss": (config["x"] - 1) ** 2 + 1 / (step + 1)})


@pytest.fixture
def quick(tmp_path):
    return {"storage_path": tmp_path, "verbose": 0, "metric": "loss", "mode": "min"}


def test_run_gives_the_trials(quick):
    grid = tune.grid_search([0, 1, 3])
    analysis = tune.run(square, config={"x": grid}, name="sweep", stop={"training_iteration": 2}, **quick)
    assert analysis.best_config == {"x": 1}
    assert analysis.best_result["loss"] == 0.5
    assert [trial.status for trial in analysis.trials] == ["TERMINATED"] * 3
    assert sorted(analysis.dataframe()["config/x"]) == [0, 1, 3]
    assert list(analysis.best_dataframe["loss"]) == [1, 0.5]
    again = tune.ExperimentAnalysis(analysis.experiment_path, default_metric="loss", default_mode="max")
    assert again.best_config == {"x": 3}
    assert again.get_best_config(mode="min", scope="all") == {"x": 1}
    assert [config["x"] for config in again.get_all_configs().values()] == [0, 1, 3]


def saves(config):
    checkpoint = tune.get_checkpoint()
    begin = checkpoint.to_dict()["step"] if checkpoint else 0
    for step in range(begin, begin + 3):
        loss = abs(step - 1)
        odd = float("nan") if step == 0 else step
        tune.report({"loss": loss, "step": step, "odd": odd}, checkpoint=train.Checkpoint.from_dict({"step": step}))


def test_checkpoints_of_an_analysis(quick):
    analysis = tune.run(saves, **quick)
    (trial,) = analysis.trials
    assert analysis.best_checkpoint.to_dict() == {"step": 1}
    assert analysis.get_last_checkpoint(trial).to_dict() == {"step": 2}
    assert analysis.get_best_checkpoint(trial, "odd", "max").to_dict() == {"step": 2}
    assert analysis.get_best_checkpoint(trial, "odd", "min").to_dict() == {"step": 1}
    later = tune.run(saves, restore=analysis.get_last_checkpoint().path, **quick)
    assert later.best_result["step"] == 4


def test_a_failed_trial_is_an_error_unless_it_may_fail(quick):
    def trial(config):
        raise LookupError("no such page")

    with pytest.raises(tune.TuneError, match="1 of 1 trials failed: trial_") as caught:
        tune.run(trial, **quick)
    assert isinstance(caught.value.__cause__, LookupError)
    assert tune.run(trial, raise_on_failed_trial=False, **quick).trials[0].status == "ERROR"


def test_resuming_by_name(quick, tmp_path):
    fixed = tmp_path / "fixed"

    def trial(config):
        if config["x"] == 2 and not os.path.exists(config["fixed"]):
            raise RuntimeError("broken")
        tune.report({"loss": config["x"]})

    both = {"config": {"x": tune.grid_search([1, 2]), "fixed": str(fixed)}, "name": "sweep", **quick}
    with pytest.raises(ValueError, match="holds no experiment; allowed"):
        tune.run(trial, resume=True, **both)
    with pytest.raises(tune.TuneError):
        tune.run(trial, resume="AUTO", **both)
    fixed.touch()
    analysis = tune.run(trial, resume="AUTO", raise_on_failed_trial=False, **both)
    assert [each.status for each in analysis.trials] == ["TERMINATED", "ERROR"]
    analysis = tune.run(trial, resume="AUTO+ERRORED", **both)
    assert [each.status for each in analysis.trials] == ["TERMINATED", "TERMINATED"]
    both["name"] = "anew"
    fixed.unlink()
    with pytest.raises(tune.TuneError):
        tune.run(trial, **both)
    fixed.touch()
    analysis = tune.run(trial, resume="AUTO+RESTART_ERRORED", fail_fast="raise", **both)
    assert [each.status for each in analysis.trials] == ["TERMINATED", "ERROR", "TERMINATED"]
    both["name"] = "sweep"
    restart = tune.ResumeConfig(finished=tune.ResumeConfig.ResumeType.RESTART)
    assert len(tune.run(trial, resume_config=restart, **both).trials) == 4


def test_registered_names(quick):
    tune.register_trainable("squares", square)
    analysis = tune.run("squares", config={"x": 2}, resources_per_trial={"cpu": 1}, **quick)
    assert str(analysis.trials[0]).startswith("squares_")
    assert os.path.basename(analysis.trials[0].path).startswith("squares_")
    with pytest.raises(ValueError, match="trainable is 'cubes'; allowed: a name that register_trainable was given"):
        tune.run("cubes", **quick)


def test_experiments_as_values(tmp_path):
    first = tune.Experiment("first", square, config={"x": 1}, storage_path=tmp_path, stop={"training_iteration": 1})
    second = {"run": square, "config": {"x": 2}, "storage_path": tmp_path, "num_samples": 2}
    assert len(tune.run_experiments(first, verbose=0)) == 1
    assert len(tune.run_experiments({"second": second}, verbose=0)) == 2
    assert sorted(os.listdir(tmp_path)) == ["first", "second"]


def test_searchers_and_schedulers_by_name(quick):
    space = {"x": tune.uniform(0, 2)}
    analysis = tune.run(square, config=space, search_alg="optuna", scheduler="asha", num_samples=3, **quick)
    assert len(analysis.trials) == 3


def test_a_trainer_as_a_trainable(quick):
    trainer = train.DataParallelTrainer(lambda config: train.report({"loss": config["x"]}))
    space = {"train_loop_config": {"x": tune.grid_search([3, 2])}}
    analysis = tune.run(trainer.as_trainable(), config=space, **quick)
    assert analysis.best_config == {"train_loop_config": {"x": 2}}


def test_trials_have_the_names_that_a_function_gives_them(quick):
    def trial(config):
        tune.report({"loss": 1, "name": tune.get_context().get_trial_name()})

    names = []

    class Heard(tune.Callback):
        def on_trial_start(self, iteration, trials, trial, **info):
            names.append(trial.trial_name)

    analysis = tune.run(
        trial, config={"x": 7}, trial_name_creator=lambda each: f"x{each.config['x']}", callbacks=[Heard()], **quick
    )
    assert analysis.best_result["name"] == "x7"
    assert names == ["x7"]


def nested(config):
    def loop(config):
        for step in range(5):
            checkpoint = train.Checkpoint.from_dict({"step": step})
            rank = train.get_context().get_world_rank()
            train.report({"loss": config["x"] + step, "rank": rank}, checkpoint=checkpoint)

    run_config = train.RunConfig(callbacks=[TuneReportCallback()], name=tune.get_context().get_trial_id())
    scaling = train.ScalingConfig(num_workers=2)
    train.DataParallelTrainer(loop, train_loop_config=config, scaling_config=scaling, run_config=run_config).fit()


def test_a_trainer_within_a_trial_reports_through_it(quick, storage):
    stop = {"training_iteration": 3}
    analysis = tune.run(nested, config={"x": tune.grid_search([1, 2])}, stop=stop, **quick)
    results = [trial.last_result for trial in analysis.trials]
    assert [result["loss"] for result in results] == [3, 4]
    assert [result["rank"] for result in results] == [0, 0]
    path = results[0]["checkpoint_path"]
    assert analysis.trials[0].trial_id in path
    assert train.Checkpoint(path).to_dict() == {"step": 2}


def test_the_callback_is_of_trials():
    with pytest.raises(RuntimeError, match="outside of a trial"):
        TuneReportCallback()

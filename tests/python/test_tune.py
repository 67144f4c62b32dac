"""Experiments with real processes: trials that fail, are killed, are stopped, and are restored."""

import json
import os
import signal
from pathlib import Path

import numpy
import pytest
from headway import train, tune
from headway._runtime import runtime
from headway.tune._experiment.records import Records
from headway.tune._experiment.trial_start import TrialStart
from headway.tune.schedulers import ASHAScheduler
from headway.tune.search.optuna import OptunaSearch


@pytest.fixture
def fit(tmp_path):
    def run(trainable, space=None, *, name="sweep", run_config=None, **config):
        return tune.Tuner(
            trainable,
            param_space=space,
            tune_config=tune.TuneConfig(**{"metric": "loss", "mode": "min", **config}),
            run_config=train.RunConfig(name=name, storage_path=tmp_path, **{"verbose": 0, **(run_config or {})}),
        ).fit()

    return run


def reports_5(config):
    for step in range(5):
        tune.report({"loss": config["x"] / (step + 1)})


def test_a_grid_and_what_is_on_disk(fit, tmp_path):
    grid = fit(reports_5, {"x": tune.grid_search([2, 1]), "shape": (1, 2)})
    best = grid.get_best_result()
    assert (best.metrics["loss"], best.config, best.error) == (0.2, {"x": 1, "shape": (1, 2)}, None)
    assert best.metrics["training_iteration"] == 5
    assert list(best.metrics_dataframe["loss"]) == [1, 0.5, 1 / 3, 0.25, 0.2]
    assert sorted(grid.get_dataframe()["config/x"]) == [1, 2]
    assert grid.experiment_path == str(tmp_path / "sweep")
    assert {"params.json", "params.pkl", "result.json", "progress.csv"} <= set(os.listdir(best.path))
    assert {"tuner.pkl", "experiment.journal"} <= set(os.listdir(grid.experiment_path))
    assert tune.Tuner.can_restore(grid.experiment_path)


def test_a_trial_knows_who_it_is(fit):
    def trial(config):
        context = tune.get_context()
        tune.report({"id": context.get_trial_id(), "of": context.get_experiment_name(), "loss": 1})

    (result,) = fit(trial)
    assert result.metrics["of"] == "sweep"
    assert result.metrics["id"] in result.path


@pytest.mark.parametrize(
    ("function", "metrics"),
    [
        (lambda config: {"loss": 3}, [{"loss": 3}]),
        (lambda config: 4.5, [{"_metric": 4.5}]),
        (lambda config: ({"loss": i} for i in range(2)), [{"loss": 0}, {"loss": 1}]),
    ],
)
def test_functions_that_return_or_yield(fit, function, metrics):
    (result,) = fit(function, metric=None, mode=None)
    lines = [json.loads(line) for line in Path(result.path, "result.json").read_text().splitlines()]
    assert [{name: line[name] for name in each} for line, each in zip(lines, metrics, strict=True)] == metrics


def test_asha_stops_the_worse_ones_at_once(fit):
    scheduler = ASHAScheduler(reduction_factor=2)
    grid = fit(reports_5, {"x": tune.grid_search([1, 2, 3])}, scheduler=scheduler, max_concurrent_trials=1)
    assert [record.reports for record in grid._list] == [5, 1, 1]
    assert all("ASHA" in record.reason for record in grid._list[1:])
    assert grid.num_terminated == 3


def test_optuna_searches(fit):
    grid = fit(reports_5, {"x": tune.uniform(0, 1)}, search_alg=OptunaSearch(seed=1), num_samples=6)
    assert len({result.config["x"] for result in grid}) == 6


def test_what_a_trial_raises(fit):
    def trial(config):
        if config["x"] == 1:
            raise LookupError("no such page")
        return {"loss": 1}

    grid = fit(trial, {"x": tune.grid_search([0, 1])})
    (error,) = grid.errors
    assert isinstance(error, LookupError)
    assert 'raise LookupError("no such page")' in str(error.__cause__)
    assert (grid[0].error, grid.num_terminated) == (None, 1)
    (later,) = tune.Tuner.restore(grid.experiment_path, trial).get_results().errors
    assert "LookupError: no such page" in str(later)


def test_a_killed_trial_goes_on_from_its_checkpoint(fit, tmp_path):
    def trial(config):
        checkpoint = tune.get_checkpoint()
        begin = checkpoint.to_dict()["step"] + 1 if checkpoint else 0
        for step in range(begin, 3):
            tune.report({"loss": 3 - step, "begin": begin}, checkpoint=train.Checkpoint.from_dict({"step": step}))
            if step == 1 and begin == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    (result,) = fit(trial, run_config={"failure_config": train.FailureConfig(max_failures=1)})
    assert result.error is None
    assert result.metrics == {"loss": 1, "begin": 2}
    assert result.checkpoint.to_dict() == {"step": 2}


def test_limits_and_functions_stop_trials(fit):
    grid = fit(reports_5, {"x": 1}, run_config={"stop": {"training_iteration": 2}})
    assert grid._list[0].reports == 2
    grid = fit(reports_5, {"x": 1}, name="function", run_config={"stop": lambda trial_id, line: line["loss"] < 0.4})
    assert grid._list[0].reports == 3


def test_a_missing_metric_is_named(fit):
    def trial(config):
        tune.report({"los": 1})

    grid = fit(trial, scheduler=ASHAScheduler())
    assert "loss" in str(grid.errors[0])
    assert "los" in str(grid.errors[0])


class Counting(tune.Trainable):
    def setup(self, config, start=0):
        self.value = start

    def step(self):
        self.value += self.config["by"]
        return {"value": self.value, "loss": -self.value, "done": self.value >= 6}

    def save_checkpoint(self, checkpoint_dir):
        return {"value": self.value}

    def load_checkpoint(self, checkpoint):
        self.value = checkpoint["value"]


def test_a_class(fit):
    keep = {"checkpoint_config": train.CheckpointConfig(checkpoint_frequency=2)}
    (result,) = fit(tune.with_parameters(Counting, start=1), {"by": 2}, run_config=keep)
    assert len(result.best_checkpoints) == 2, "after two steps, and of the end"
    assert result.metrics["value"] == 7
    (result,) = fit(Counting, {"by": 1}, name="stopped", run_config={"stop": {"training_iteration": 3}})
    assert result.metrics["value"] == 3
    assert len(result.best_checkpoints) == 1, "of the end"


class Dies(Counting):
    def step(self):
        if self.iteration == 2 and not os.path.exists(self.config["died"]):
            open(self.config["died"], "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
        return {**super().step(), "iteration": self.iteration}


def test_a_class_goes_on_from_its_checkpoint(fit, tmp_path):
    config = {
        "checkpoint_config": train.CheckpointConfig(checkpoint_frequency=2),
        "failure_config": train.FailureConfig(max_failures=1),
    }
    (result,) = fit(Dies, {"by": 2, "died": str(tmp_path / "died")}, run_config=config)
    assert (result.metrics["value"], result.metrics["iteration"], result.error) == (6, 2, None)


def test_a_trainer_whose_trials_are_groups(fit):
    def loop(config):
        train.report({"loss": config["lr"] * train.get_context().get_world_size(), "fixed": config["fixed"]})

    trainer = train.DataParallelTrainer(
        loop, train_loop_config={"fixed": 7}, scaling_config=train.ScalingConfig(num_workers=2)
    )
    space = {"train_loop_config": {"lr": tune.grid_search([1, 2])}, "scaling_config": {"num_workers": tune.choice([2])}}
    grid = fit(trainer, space)
    assert sorted((each.metrics["loss"], each.metrics["fixed"]) for each in grid) == [(2, 7), (4, 7)]


SWEEP = """
    import sys
    from headway import train, tune

    def trial(config):
        checkpoint = tune.get_checkpoint()
        begin = checkpoint.to_dict()["step"] + 1 if checkpoint else 0
        for step in range(begin, 3):
            checkpoint = train.Checkpoint.from_dict({"step": step})
            tune.report({"loss": config["x"] / (step + 1), "begin": begin}, checkpoint=checkpoint)
            if step == 1 and begin == 0 and config["x"] == 3:
                print("halfway", flush=True)
                import signal
                signal.pause()
"""
FIRST = """
    class Says(tune.Callback):
        def on_trial_result(self, iteration, trials, trial, result, **info):
            print("report", trial.config["x"], result["training_iteration"], flush=True)

    tune.Tuner(
        trial,
        param_space={"x": tune.grid_search([1, 3, 2])},
        tune_config=tune.TuneConfig("loss", "min", max_concurrent_trials=1),
        run_config=train.RunConfig(name="sweep", callbacks=[Says()]),
    ).fit()
"""
AGAIN = """
    tuner = tune.Tuner.restore(sys.argv[0].replace("script.py", "storage/sweep"), trial)
    tuner._run_config.callbacks.clear()
    grid = tuner.fit()
    for result in grid:
        print(result.config["x"], result.metrics["begin"], result.metrics["training_iteration"], result.metrics["loss"])
"""


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
def test_an_experiment_whose_driver_is_gone_is_restored(script, end):
    script.start(SWEEP + FIRST)
    script.wait_for("report 3 2")
    script.process.send_signal(end)
    script.finish()
    code, output = script.run(SWEEP + AGAIN)
    assert code == 0, output
    assert "1 0 3 0.333" in output, "as it was"
    assert "3 2 3 1.0" in output, "resumed from its checkpoint"
    assert "2 0 3 0.66" in output, "the search went on"


def test_what_cannot_be_restored_is_refused(fit, tmp_path):
    grid = fit(reports_5, {"x": 1})
    with pytest.raises(ValueError, match="trainable is 'Counting'; allowed: that of the experiment, 'reports_5'"):
        tune.Tuner.restore(grid.experiment_path, Counting)
    with pytest.raises(ValueError, match=r"param_space has the keys \['y'\]; allowed: those before, \['x'\]"):
        tune.Tuner.restore(grid.experiment_path, reports_5, param_space={"y": 1})
    with pytest.raises(FileNotFoundError, match="which holds no experiment"):
        tune.Tuner.restore(tmp_path / "nothing", reports_5)
    with pytest.raises(AttributeError, match="restore is called on the class"):
        tune.Tuner(reports_5).restore(grid.experiment_path, reports_5)


def test_errored_trials_are_resumed_or_restarted(fit, tmp_path):
    fixed = tmp_path / "fixed"

    def trial(config):
        if not os.path.exists(config["fixed"]):
            raise RuntimeError("broken")
        return {"loss": config["x"]}

    grid = fit(trial, {"x": tune.grid_search([1, 2]), "fixed": str(fixed)})
    assert grid.num_errors == 2
    fixed.touch()
    path = grid.experiment_path
    assert tune.Tuner.restore(path, trial).fit().num_errors == 2
    grid = tune.Tuner.restore(path, trial, resume_errored=True).fit()
    assert (len(grid), grid.num_errors, grid.num_terminated) == (2, 0, 2)


def test_a_failed_trial_is_tried_again_from_the_start(fit, tmp_path):
    fixed = tmp_path / "fixed"

    def trial(config):
        if not os.path.exists(config["fixed"]):
            raise RuntimeError("broken")
        return {"loss": config["x"]}

    grid = fit(trial, {"x": 1, "fixed": str(fixed)})
    fixed.touch()
    for _ in range(2):  # Once for good.
        grid = tune.Tuner.restore(grid.experiment_path, trial, restart_errored=True).fit()
        assert [(record.state, record.replaced) for record in grid._list] == [("errored", True), ("terminated", False)]


def test_an_unfinished_trial_that_was_restarted_never_goes_on(fit, tmp_path):
    class Stopping(tune.Callback):
        def on_trial_result(self, iteration, trials, trial, result, **info):
            raise RuntimeError("stopped")

    with pytest.raises(RuntimeError, match="stopped"):
        fit(reports_5, {"x": 1}, run_config={"callbacks": [Stopping()]})
    restart = tune.ResumeConfig(unfinished=tune.ResumeConfig.ResumeType.RESTART)
    given = {"config": {"x": 1}, "name": "sweep", "storage_path": tmp_path, "verbose": 0, "resume": True}
    for config in (restart, restart, tune.ResumeConfig()):
        analysis = tune.run(reports_5, resume_config=config, **given)
        assert len(analysis.trials) == 2
    assert [record.replaced for record in Records.read(str(tmp_path / "sweep"))] == [True, False]


def test_what_a_function_needs_is_imported_before_trials_are_forked(tmp_path, monkeypatch):
    def trial(config):
        return {"loss": float(numpy.float64(1))}

    monkeypatch.setattr(runtime, "_preloads", {})
    start = TrialStart(tune.with_resources(trial, {"cpu": 1}), train.RunConfig(), str(tmp_path))
    prepared = start.prepared({}, "a", "trial_a", "trial_a")
    assert {"headway.tune", "?numpy"} <= set(json.loads(prepared.arguments["spec_json"])["preload"])


def test_an_experiment_of_the_same_name_goes_on_beside(fit, hears):
    heard = hears("trials of an earlier experiment; new ones run beside them")
    assert len(fit(reports_5, {"x": 1})) == 1
    grid = fit(reports_5, {"x": tune.grid_search([2, 3])})
    assert len(grid) == 3
    assert heard
    # What the search before had suggested is not counted as its own.
    assert len(tune.Tuner.restore(grid.experiment_path, reports_5).fit()) == 3

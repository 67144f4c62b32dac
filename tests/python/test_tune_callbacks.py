"""Callbacks, validations and trackers of an experiment's trials."""

import os
import signal

import pytest
from headway import train, tune
from headway._trackers.callback import TrackerCallback
from headway._trackers.tracker import Tracker


def reports_2(config):
    for step in range(2):
        checkpoint = train.Checkpoint.from_dict({"step": step}) if step == 1 else None
        tune.report({"loss": config["x"] + step}, checkpoint=checkpoint)
    if config["x"] == 5:
        raise LookupError("no such page")


@pytest.fixture
def fit(tmp_path):
    def run(trainable, space, *callbacks, failure_config=None, **config):
        return tune.Tuner(
            trainable,
            param_space=space,
            tune_config=tune.TuneConfig("loss", "min", max_concurrent_trials=1, **config),
            run_config=train.RunConfig(
                name="sweep",
                storage_path=tmp_path,
                verbose=0,
                callbacks=list(callbacks),
                failure_config=failure_config,
            ),
        ).fit()

    return run


class Heard(train.UserCallback):
    def __init__(self):
        self.reports = []
        self.failures = []

    def after_report(self, run_context, metrics, checkpoint):
        step = None if checkpoint is None else checkpoint.to_dict()["step"]
        self.reports.append((run_context.train_loop_config["x"], [each["loss"] for each in metrics], step))

    def after_exception(self, run_context, worker_exceptions):
        self.failures.append((run_context.train_loop_config["x"], worker_exceptions))


def test_user_callbacks_hear_of_each_trials_run(fit):
    heard = Heard()
    grid = fit(reports_2, {"x": tune.grid_search([1, 5])}, heard)
    assert heard.reports == [(1, [1], None), (1, [2], 1), (5, [5], None), (5, [6], 1)]
    ((x, exceptions),) = heard.failures
    assert (x, type(exceptions[0].__cause__ or exceptions[0]).__name__) == (5, "LookupError"), exceptions
    assert (grid.num_errors, grid.num_terminated) == (1, 1)


def test_user_callbacks_hear_why_each_attempt_failed(fit, tmp_path):
    def loop(config):
        if not os.path.exists(config["again"]):
            open(config["again"], "w").close()
            raise LookupError("in the first attempt")
        os.kill(os.getpid(), signal.SIGKILL)

    heard = Heard()
    failures = train.FailureConfig(max_failures=1)
    trainer = train.DataParallelTrainer(loop, scaling_config=train.ScalingConfig(num_workers=1))
    fit(trainer, {"train_loop_config": {"x": 1, "again": str(tmp_path / "again")}}, heard, failure_config=failures)
    (first, second) = [str(exceptions[0]) for _, exceptions in heard.failures]
    assert "in the first attempt" in first
    assert "SIGKILL" in second
    assert "in the first attempt" not in second


def test_user_callbacks_have_the_metrics_of_all_ranks(fit):
    def loop(config):
        train.report({"loss": config["x"] + train.get_context().get_world_rank()})

    heard = Heard()
    trainer = train.DataParallelTrainer(loop, scaling_config=train.ScalingConfig(num_workers=2))
    fit(trainer, {"train_loop_config": {"x": tune.grid_search([1, 2])}}, heard)
    assert heard.reports == [(1, [1, 2], None), (2, [2, 3], None)]


def test_a_user_callback_that_raises_ends_the_experiment(fit):
    class Raises(train.UserCallback):
        def after_report(self, run_context, metrics, checkpoint):
            raise ZeroDivisionError("of the callback")

    with pytest.raises(ZeroDivisionError, match="of the callback"):
        fit(reports_2, {"x": 1}, Raises())


def test_checkpoints_of_trials_are_validated(fit):
    def loop(config):
        train.report({"loss": 1}, train.Checkpoint.from_dict({"x": config["x"]}), validation=True)

    def score(checkpoint):
        return {"score": 10 * checkpoint.to_dict()["x"]}

    trainer = train.DataParallelTrainer(loop, validation_config=train.ValidationConfig(score))
    grid = fit(trainer, {"train_loop_config": {"x": tune.grid_search([1, 2])}})
    assert [result.best_checkpoints[0][1]["score"] for result in grid] == [10, 20]
    assert [result.metrics["score"] for result in grid] == [10, 20]


class Recorded(Tracker):
    def __init__(self, lines):
        self.lines = lines

    def open(self, run, earlier):
        self.name = run.name
        self.lines.append((run.name, "open", run.group, run.config["x"]))
        return earlier or "id"

    def log(self, step, metrics):
        self.lines.append((self.name, step, metrics["loss"]))

    def checkpoint(self, step, location, shown):
        self.lines.append((self.name, step, "checkpoint"))

    def close(self, *, failed):
        self.lines.append((self.name, "failed" if failed else "ended"))


class RecordingCallback(TrackerCallback):
    label, module, package = "a list", "json", "json"

    def __init__(self):
        self.lines = []

    def _tracker(self):
        return "a list", Recorded(self.lines)


def test_a_tracker_has_a_run_for_each_trial(fit):
    tracked = RecordingCallback()
    fit(reports_2, {"x": tune.grid_search([1, 5])}, tracked, trial_name_creator=lambda trial: f"x={trial.config['x']}")
    one = [("x=1", "open", "sweep", 1), ("x=1", 1, 1), ("x=1", 2, 2), ("x=1", 2, "checkpoint"), ("x=1", "ended")]
    other = [("x=5", "open", "sweep", 5), ("x=5", 1, 5), ("x=5", 2, 6), ("x=5", 2, "checkpoint"), ("x=5", "failed")]
    assert [line for line in tracked.lines if line[0] == "x=1"] == one
    assert [line for line in tracked.lines if line[0] == "x=5"] == other


def test_a_tracker_is_closed_when_the_experiment_is_left(fit):
    class Raises(tune.Callback):
        def on_trial_result(self, iteration, trials, trial, result, **info):
            raise ZeroDivisionError("of the callback")

    tracked = RecordingCallback()
    with pytest.raises(ZeroDivisionError):
        fit(reports_2, {"x": 1}, tracked, Raises())
    assert tracked.lines[-1][1] == "failed"


def test_callbacks_hear_of_trials_whose_ranks_were_never_ready(fit):
    class Ends(tune.Callback):
        def __init__(self):
            self.ends = []

        def on_trial_error(self, iteration, trials, trial, **info):
            self.ends.append((trial.trial_name, trial.config["train_loop_config"], trial.status, trial in trials))

    heard = Ends()
    space = {"train_loop_config": tune.grid_search([{"x": 1}, "no dict"])}
    trainer = train.DataParallelTrainer(lambda config: train.report({"loss": 1}))
    grid = fit(trainer, space, heard, trial_name_creator=lambda trial: "named")
    assert grid.num_errors == 1
    assert heard.ends == [("named", "no dict", "ERROR", True)]


def test_a_trainers_trials_have_the_names_that_their_creator_gives(fit):
    calls = []

    def name(trial):
        calls.append(trial.trial_id)
        return f"x={trial.config['train_loop_config']['x']}"

    def loop(config):
        names = [train.get_context().get_trial_name(), tune.get_context().get_trial_name()]
        train.report({"loss": 1, "names": names})

    trainer = train.DataParallelTrainer(loop, scaling_config=train.ScalingConfig(num_workers=2))
    grid = fit(trainer, {"train_loop_config": {"x": tune.grid_search([1, 5])}}, trial_name_creator=name)
    assert [each.metrics["names"] for each in grid] == [["x=1", "x=1"], ["x=5", "x=5"]]
    assert len(calls) == 2


@pytest.mark.heavy
def test_weights_and_biases_has_a_run_for_each_trial(script):
    status, output = script.run(
        """
        from headway import train, tune
        from headway.air.integrations.wandb import WandbLoggerCallback

        config = train.RunConfig(name="sweep", callbacks=[WandbLoggerCallback("sweeps")])
        space = {"x": tune.grid_search([1, 2])}
        tune.Tuner(lambda config: {"loss": config["x"]}, param_space=space, run_config=config).fit()
        """,
        WANDB_MODE="offline",
        WANDB_SILENT="true",
    )
    assert status == 0, output
    assert len(list((script.folder / "storage/sweep").glob("*/wandb/offline-run-*/*.wandb"))) == 2

"""Schedulers that users write, and trials whose resources change."""

import threading

import headway
import pytest
from headway import train, tune
from headway.tune.schedulers import ASHAScheduler, FIFOScheduler, HyperBandScheduler, TrialScheduler
from headway.tune.schedulers.resource_changing_scheduler import (
    DistributeResources,
    DistributeResourcesToTopJob,
    ResourceChangingScheduler,
)


def steps_4(config):
    checkpoint = tune.get_checkpoint()
    begin = checkpoint.to_dict()["step"] if checkpoint else 0
    cpus = tune.get_context().get_trial_resources().bundles[0]["CPU"]
    for step in range(begin + 1, 5):
        saved = train.Checkpoint.from_dict({"step": step})
        tune.report({"loss": config["x"], "step": step, "begin": begin, "cpus": cpus}, checkpoint=saved)


@pytest.fixture
def fit(tmp_path):
    def run(scheduler, xs=(1, 2), concurrent=1, trainable=steps_4, **arguments):
        return tune.Tuner(
            trainable,
            param_space={"x": tune.grid_search(list(xs))},
            tune_config=tune.TuneConfig("loss", "min", scheduler=scheduler, max_concurrent_trials=concurrent),
            run_config=train.RunConfig(name="own", storage_path=tmp_path, verbose=0, **arguments),
        ).fit()

    return run


class Logged(FIFOScheduler):
    """Keeps what it hears."""

    def __init__(self):
        self.heard = []
        self.thread = threading.get_ident()

    def _hear(self, what, trial):
        assert threading.get_ident() == self.thread
        self.heard.append((what, trial.config["x"], trial.status))

    def on_trial_add(self, tune_controller, trial):
        self._hear("add", trial)
        assert tune_controller.get_trial(trial.trial_id) is trial

    def on_trial_result(self, tune_controller, trial, result):
        self._hear("result", trial)
        assert trial.last_result.get("training_iteration", 0) == result["training_iteration"] - 1
        return TrialScheduler.STOP if trial.config["x"] == 2 and result["step"] == 2 else TrialScheduler.CONTINUE

    def on_trial_complete(self, tune_controller, trial, result):
        self._hear("complete", trial)
        assert result["step"] == (2 if trial.config["x"] == 2 else 4)


def test_a_subclass_decides_and_hears_of_each_trial(fit):
    scheduler = Logged()
    grid = fit(scheduler)
    assert [result.metrics["step"] for result in grid] == [4, 2]
    assert grid._list[1].reason == "Logged says so after report 2"
    of_1 = [(what, status) for what, x, status in scheduler.heard if x == 1]
    assert of_1 == [("add", "PENDING"), *[("result", "RUNNING")] * 4, ("complete", "TERMINATED")]


def test_a_trial_that_it_pauses_resumes_where_there_is_room(fit):
    class Once(FIFOScheduler):
        paused = False

        def on_trial_result(self, tune_controller, trial, result):
            if self.paused or result["step"] != 2:
                return TrialScheduler.CONTINUE
            self.paused = True
            tune_controller.pause_trial(trial)
            return TrialScheduler.NOOP

    grid = fit(Once())
    assert [result.metrics["begin"] for result in grid] == [2, 0]
    assert [result.metrics["step"] for result in grid] == [4, 4]


def test_a_subclass_of_another_scheduler_has_its_decisions(fit):
    class Mine(ASHAScheduler):
        said = ()

        def on_trial_result(self, tune_controller, trial, result):
            decision = super().on_trial_result(tune_controller, trial, result)
            self.said = (*self.said, decision)
            return TrialScheduler.CONTINUE if trial.config["x"] == 3 else decision

    scheduler = Mine(max_t=4, reduction_factor=2)
    grid = fit(scheduler, [1, 2, 3])
    assert [result.metrics["step"] for result in grid] == [4, 1, 4]
    assert scheduler.said.count(TrialScheduler.STOP) >= 2
    assert "ASHA: 2 is above" in grid._list[1].reason


def test_it_says_which_trial_starts(fit):
    class Backwards(FIFOScheduler):
        def choose_trial_to_run(self, tune_controller):
            waiting = [each for each in tune_controller.get_trials() if each.status in ("PENDING", "PAUSED")]
            return max(waiting, key=lambda trial: trial.config["x"], default=None)

    ended = []

    class Ends(tune.Callback):
        def on_trial_complete(self, iteration, trials, trial, **info):
            ended.append(trial.config["x"])

    everything = tune.with_resources(steps_4, {"cpu": headway.cluster_resources()["CPU"]})
    fit(Backwards(), [1, 2, 3, 4], concurrent=None, trainable=everything, callbacks=[Ends()])
    assert ended == [4, 3, 2, 1]


def test_one_that_stops_a_trial_through_the_first_argument(fit):
    class Stops(FIFOScheduler):
        def on_trial_result(self, tune_controller, trial, result):
            if trial.config["x"] == 2:
                tune_controller.stop_trial(trial)
            return TrialScheduler.NOOP

    grid = fit(Stops(), [1, 2])
    assert [len(result.metrics_dataframe) for result in grid] == [4, 1]
    assert grid._list[1].reason == "Stops says so after report 1"


def test_what_it_returns_is_checked(fit):
    class Wrong(FIFOScheduler):
        def on_trial_result(self, tune_controller, trial, result):
            return "stop it"

    with pytest.raises(TypeError, match=r"on_trial_result\(\) of Wrong returns is 'stop it' \(str\); allowed"):
        fit(Wrong())


def test_what_it_has_seen_survives_a_restore(tmp_path):
    class Counting(FIFOScheduler):
        seen = 0

        def on_trial_result(self, tune_controller, trial, result):
            self.seen += 1
            if self.seen == 3 and not (tmp_path / "again").exists():
                (tmp_path / "again").touch()
                raise KeyboardInterrupt
            return TrialScheduler.CONTINUE

    tuner = tune.Tuner(
        steps_4,
        param_space={"x": 1},
        tune_config=tune.TuneConfig(scheduler=Counting()),
        run_config=train.RunConfig(name="counted", storage_path=tmp_path, verbose=0),
    )
    with pytest.raises(KeyboardInterrupt):
        tuner.fit()
    tuner = tune.Tuner.restore(str(tmp_path / "counted"), steps_4)
    (result,) = tuner.fit()
    assert result.metrics["step"] == 4
    assert tuner._tune_config.scheduler.seen >= 4, "one that knows nothing has seen 1 or 2"


def test_a_trial_gets_other_resources_and_resumes(fit):
    def two(tune_controller, trial, result, scheduler):
        assert scheduler.base_trial_resources.bundles == [{"CPU": 1.0}]
        # As Ray's guides ask for them.
        assert scheduler._base_trial_resources is scheduler.base_trial_resources
        there = tune_controller._resource_updater
        assert (there.get_num_cpus(), there.get_num_gpus()) == tune_controller.total_resources()
        return tune.PlacementGroupFactory([{"CPU": 0.5}]) if result["step"] >= 2 else None

    grid = fit(ResourceChangingScheduler(ASHAScheduler(max_t=4), two), [1])
    lines = grid[0].metrics_dataframe
    assert lines["cpus"].tolist() == [1, 1, 0.5, 0.5]
    assert lines["begin"].tolist() == [0, 0, 2, 2]
    assert "ResourceChangingScheduler says so" not in grid._list[0].reason


def test_the_base_scheduler_decides(fit):
    scheduler = ResourceChangingScheduler(HyperBandScheduler(max_t=4, reduction_factor=2), lambda *given: None)
    grid = fit(scheduler, [1, 4, 3, 2], concurrent=None)
    assert all(result.metrics["step"] == 4 for result in grid)


class Experiment:
    """What a function that allocates resources asks."""

    def __init__(self, trials, cpus, gpus=0):
        self.trials, self.there = trials, (cpus, gpus)

    def get_live_trials(self):
        return list(self.trials)

    def total_resources(self):
        return self.there


class Running:
    def __init__(self, trial_id, *bundles, **last_result):
        self.trial_id, self.last_result = trial_id, last_result
        self.placement_group_factory = tune.PlacementGroupFactory(list(bundles))


def bundles_after(function, trials, cpus, base, gpus=0, of=0):
    class Scheduler:
        base_trial_resources = tune.PlacementGroupFactory(base)

    return function(Experiment(trials, cpus, gpus), trials[of], {"training_iteration": 1}, Scheduler).bundles


def test_what_is_free_is_shared_evenly():
    one = {"CPU": 1}
    alone, two = [Running("a", one)], [Running("a", one), Running("b", one)]
    assert bundles_after(DistributeResources(), alone, 8, [one]) == [{"CPU": 8.0}]
    assert bundles_after(DistributeResources(), two, 8, [one]) == [{"CPU": 4.0}]
    assert bundles_after(DistributeResources(True), two, 8, [one]) == [{"CPU": 1.0}] * 4
    assert bundles_after(DistributeResources(reserve_resources={"CPU": 4}), two, 8, [one]) == [{"CPU": 2.0}]
    limited = DistributeResources(increase_by={"CPU": 2}, increase_by_times=1)
    assert bundles_after(limited, alone, 8, [one]) == [{"CPU": 3.0}]
    grown = [Running("a", {"CPU": 8}), Running("b", one)]
    assert bundles_after(DistributeResources(), grown, 8, [one]) == [{"CPU": 7.0}], "it gives back what is too much"
    gpu = {"CPU": 1, "GPU": 1}
    assert bundles_after(DistributeResources(), [Running("a", gpu)], 8, [gpu], 4) == [{"CPU": 1.0, "GPU": 4.0}]


def test_the_best_trial_gets_what_is_free():
    one = {"CPU": 1}
    trials = [Running("a", one, loss=2), Running("b", one, loss=1)]
    top = DistributeResourcesToTopJob(metric="loss", mode="min")
    assert bundles_after(top, trials, 8, [one]) == [{"CPU": 1.0}]
    assert bundles_after(top, trials, 8, [one], of=1) == [{"CPU": 7.0}]


@pytest.mark.parametrize(
    ("words", "make"),
    [
        (r"increase_by is \{'CPU': 0\}; allowed: some", lambda: DistributeResources(increase_by={"CPU": 0})),
        (r"reserve_resources\['CPU'\] is -1", lambda: DistributeResources(reserve_resources={"CPU": -1})),
        ("mode is 'best'; allowed", lambda: DistributeResourcesToTopJob(mode="best")),
        (r"base_scheduler is 1 \(int\); allowed", lambda: ResourceChangingScheduler(1)),
        (r"resources_allocation_function is 1 \(int\)", lambda: ResourceChangingScheduler(None, 1)),
    ],
)
def test_wrong_arguments_are_named(words, make):
    with pytest.raises((TypeError, ValueError), match=words):
        make()

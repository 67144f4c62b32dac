"""Experiments without a runtime: what the thread in ``Tuner.fit()`` answers, and what it keeps."""

import math
import types

import pytest
from fake_experiment import FakeExperiment
from headway import _core, train, tune
from headway.tune._experiment import tuner as tuner_module
from headway.tune.search import ConcurrencyLimiter, Searcher
from headway.tune.search.optuna import OptunaSearch


class Halving(Searcher):
    def __init__(self, end=4):
        super().__init__()
        self.heard, self.next, self.end = [], 16.0, end

    def suggest(self, trial_id):
        if self.end == 0:
            return self.FINISHED
        self.end -= 1
        self.next /= 2
        return {"x": self.next}

    def on_trial_complete(self, trial_id, result=None, error=False):
        self.heard.append((result and result["loss"], error))


def three_reports(config):
    for step in range(3):
        yield {"loss": config["x"] / (step + 1)}


def fails_at_2(config):
    yield {"loss": config["x"]}
    if config["x"] == 2:
        raise KeyError("bad x")
    yield {"loss": config["x"] / 2}


@pytest.fixture
def fit(tmp_path, monkeypatch):
    """Runs a tuner over a fake experiment; its results and the fake."""

    def run(trainable, space=None, rule=None, slots=2, run_config=None, **config):
        made = []

        def start(spec_json, trials_location):
            made.append(FakeExperiment(spec_json, slots, rule))
            return made[-1]

        def no_journal(path):
            raise FileNotFoundError(path)

        monkeypatch.setattr(_core, "read_experiment", no_journal, raising=False)
        monkeypatch.setattr(tuner_module, "get_runtime", lambda: types.SimpleNamespace(start_experiment=start))
        run_config = run_config or {}
        grid = tune.Tuner(
            trainable,
            param_space=space,
            tune_config=tune.TuneConfig(**config),
            run_config=train.RunConfig(name="sweep", storage_path=tmp_path, **{"verbose": 0, **run_config}),
        ).fit()
        return grid, made[0]

    return run


def test_a_grid_runs_to_its_end(fit):
    grid, fake = fit(three_reports, {"x": tune.grid_search([3, 6, 9])}, metric="loss", mode="min")
    assert [each.config for each in grid] == [{"x": 3}, {"x": 6}, {"x": 9}]
    assert (len(grid), grid.num_terminated, grid.num_errors) == (3, 3, 0)
    assert grid.get_best_result().config == {"x": 3}
    assert grid.get_best_result(mode="max").config == {"x": 9}
    folders = [spec["run"]["name"] for spec in fake.starts]
    assert [folder.split("_")[4:6] for folder in folders] == [["0", "x=3"], ["1", "x=6"], ["2", "x=9"]]
    assert all(folder.startswith("three_reports_") for folder in folders)


def test_a_seeded_search_is_rays(fit):
    search = tune.search.BasicVariantGenerator(random_state=7)
    grid, _ = fit(three_reports, {"x": tune.uniform(0, 1)}, search_alg=search, num_samples=3)
    assert len({each.config["x"] for each in grid}) == 3


def test_a_scheduler_stops_trials_and_says_why(fit, capfd):
    grid, _ = fit(
        three_reports,
        {"x": tune.grid_search([3, 6])},
        rule=lambda line: "ASHA: 6 is too high" if line["loss"] == 6 else None,
        run_config={"verbose": 1},
        metric="loss",
        mode="min",
    )
    assert [record.reports for record in grid._list] == [3, 1]
    assert "terminated after 1 report, loss=6: ASHA: 6 is too high" in capfd.readouterr().out


def test_what_a_trial_raises_is_its_results_error(fit):
    grid, _ = fit(fails_at_2, {"x": tune.grid_search([1, 2, 4])}, metric="loss", mode="min")
    assert (grid.num_errors, grid.num_terminated) == (1, 2)
    assert [type(error) for error in grid.errors] == [KeyError]
    assert grid[1].error is grid.errors[0]
    assert grid[0].error is None


def test_fail_fast_raises_what_the_trial_raised(fit):
    failures = {"failure_config": train.FailureConfig(fail_fast="raise")}
    with pytest.raises(KeyError, match="bad x"):
        fit(fails_at_2, {"x": tune.grid_search([2])}, run_config=failures)


def test_a_searcher_hears_how_trials_end(fit):
    search = Halving()
    grid, fake = fit(fails_at_2, {"fixed": 1}, search_alg=search, num_samples=3, metric="loss", mode="min")
    assert [each.config for each in grid] == [{"fixed": 1, "x": 8.0}, {"fixed": 1, "x": 4.0}, {"fixed": 1, "x": 2.0}]
    assert sorted(search.heard) == [(2.0, False), (2.0, True), (4.0, False)]
    assert fake.spec["needs"] == []


def test_a_searcher_that_has_finished_ends_the_experiment(fit):
    grid, _ = fit(three_reports, search_alg=Halving(2), num_samples=-1)
    assert len(grid) == 2


def test_a_limited_searcher_is_asked_again_when_a_trial_has_ended(fit):
    search = ConcurrencyLimiter(Halving(), 1)
    grid, _ = fit(three_reports, search_alg=search, num_samples=4, slots=3)
    assert (len(grid), grid.num_terminated) == (4, 4)


def test_optuna_in_an_experiment(fit):
    grid, fake = fit(
        three_reports,
        {"x": tune.uniform(0, 1)},
        search_alg=OptunaSearch(seed=1),
        num_samples=5,
        metric="loss",
        mode="min",
    )
    assert len(grid) == 5
    assert fake.spec["needs"] == ["loss"]


def test_a_stop_function_is_asked_about_each_report(fit):
    grid, fake = fit(
        three_reports,
        {"x": tune.grid_search([3, 6])},
        run_config={"stop": lambda trial_id, result: result["loss"] <= 2},
    )
    assert fake.spec["asks"]
    assert [record.reports for record in grid._list] == [2, 3]
    assert "RunConfig.stop) says so after report 2" in grid._list[0].reason


def test_a_stopper_ends_the_experiment(fit):
    class At2(tune.Stopper):
        over = False

        def __call__(self, trial_id, result):
            self.over = self.over or result["loss"] == 3
            return False

        def stop_all(self):
            return self.over

    grid, _ = fit(three_reports, {"x": tune.grid_search([3, 6, 9, 12])}, run_config={"stop": At2()})
    assert grid.num_terminated == len(grid) < 4


def test_a_dict_of_limits_is_the_cores(fit):
    _, fake = fit(three_reports, {"x": 1}, run_config={"stop": {"training_iteration": 2}})
    assert (fake.spec["stop"], fake.spec["asks"]) == ({"training_iteration": 2.0}, False)


def test_callbacks_hear_what_happens(fit):
    heard = []

    class Ears(tune.Callback):
        def setup(self, **info):
            heard.append(("setup", info["num_samples"], info["total_num_samples"]))

        def on_trial_start(self, iteration, trials, trial, **info):
            heard.append(("start", trial.config["x"]))

        def on_trial_result(self, iteration, trials, trial, result, **info):
            heard.append(("result", result["loss"]))

        def on_trial_complete(self, iteration, trials, trial, **info):
            heard.append(("complete", trial.status))

        def on_trial_error(self, iteration, trials, trial, **info):
            heard.append(("error", trial.status))

        def on_experiment_end(self, trials, **info):
            heard.append(("end", len(trials)))

    fit(fails_at_2, {"x": tune.grid_search([1, 2])}, run_config={"callbacks": [Ears()]}, slots=1)
    assert heard == [
        ("setup", 1, 2),
        *[("start", 1), ("result", 1), ("result", 0.5), ("complete", "TERMINATED")],
        *[("start", 2), ("result", 2), ("error", "ERROR")],
        ("end", 2),
    ]


def test_a_callback_that_raises_stops_the_experiment(fit):
    class Bad(tune.Callback):
        def on_trial_result(self, iteration, trials, trial, result, **info):
            raise RuntimeError("no space left")

    with pytest.raises(RuntimeError, match="no space left"):
        fit(three_reports, {"x": 1}, run_config={"callbacks": [Bad()]})


def test_the_best_over_all_reports(fit):
    def down_and_up(config):
        yield {"loss": config["x"]}
        yield {"loss": 5.0}
        yield {"loss": math.nan if config["x"] == 3 else 4.0}

    grid, _ = fit(down_and_up, {"x": tune.grid_search([3, 9])})
    assert grid.get_best_result("loss", "min").config == {"x": 9}
    with pytest.raises(ValueError, match="metric is None, and TuneConfig has none"):
        grid.get_best_result()
    with pytest.raises(RuntimeError, match="No best trial found: no trial has reported 'los' as a number; there are"):
        grid.get_best_result("los", "min")
    for arguments, words in [
        ({"metric": 3, "mode": "min"}, "metric is 3"),
        ({"metric": "loss", "mode": "up"}, 'mode is \'up\'; allowed: "min" or "max"'),
        ({"metric": "loss", "mode": "min", "scope": "first"}, "scope is 'first'; allowed: last, all, avg"),
    ]:
        with pytest.raises((TypeError, ValueError), match=words):
            grid.get_best_result(**arguments)
    with pytest.raises(ValueError, match="filter_metric, filter_mode are 'loss', None; allowed: both, or neither"):
        grid.get_dataframe("loss")


def test_a_trial_that_cannot_start_is_an_error(fit):
    one_each = tune.with_resources(three_reports, lambda config: {"cpu": 1} if config["x"] == 1 else 3)
    grid, _ = fit(one_each, {"x": tune.grid_search([3, 1])})
    assert [record.state for record in grid._list] == ["errored", "terminated"]
    assert "resources is 3 (int)" in str(grid.errors[0])


def test_resources_of_a_trial(fit):
    bundles = tune.PlacementGroupFactory([{"CPU": 1}, {"CPU": 2, "GPU": 1}])
    assert (bundles.head_cpus, bundles.head_bundle_is_empty) == (1.0, False)
    _, fake = fit(tune.with_resources(three_reports, bundles), {"x": 1})
    scaling = fake.starts[0]["scaling"]
    assert (scaling["resources_per_worker"], scaling["trainer_resources"]) == ({"CPU": 1}, {"CPU": 2.0, "GPU": 1.0})


def test_parameters_beside_the_configuration(fit):
    def with_data(config, data):
        yield {"loss": config["x"] * sum(data)}

    grid, _ = fit(tune.with_parameters(with_data, data=[1, 2, 3]), {"x": 2})
    assert grid._list[0].last["loss"] == 12
    assert "with_data" in grid._list[0].folder


def test_a_functions_checkpoints_are_its_own(fit):
    with pytest.raises(ValueError, match=r"CheckpointConfig\.checkpoint_frequency is 2 with a training function"):
        fit(three_reports, run_config={"checkpoint_config": train.CheckpointConfig(checkpoint_frequency=2)})

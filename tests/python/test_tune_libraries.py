"""Searchers over other libraries than Optuna, each with the real one."""

import importlib
import math
import os
import subprocess
import sys

import cloudpickle
import pytest
from conftest import PACKAGES
from headway import train, tune

#: By class: its module below headway.tune.search, its library's module, arguments, and what it
#: searches.
EVERY = {
    "HyperOptSearch": ("hyperopt", "hyperopt", {"n_initial_points": 5, "random_state_seed": 3}, "mixed"),
    "BayesOptSearch": ("bayesopt", "bayes_opt", {"random_search_steps": 5}, "floats"),
    "AxSearch": ("ax", "ax", {"random_seed": 3, "verbose_logging": False}, "mixed"),
    "NevergradSearch": ("nevergrad", "nevergrad", {"optimizer_kwargs": {"budget": 30}}, "mixed"),
    "TuneBOHB": ("bohb", "hpbandster", {"seed": 3, "bohb_config": {"min_points_in_model": 4}}, "mixed"),
    "HEBOSearch": ("hebo", "hebo", {"random_state_seed": 3, "max_concurrent": 4}, "mixed"),
    "ZOOptSearch": ("zoopt", "zoopt", {"budget": 30, "parallel_num": 2}, "mixed"),
}
SPACES = {
    "floats": {"x": tune.uniform(-5, 5), "deep": {"lr": tune.loguniform(1e-4, 1)}, "fixed": [1, 2]},
    "mixed": {
        "x": tune.quniform(-5, 5, 0.5),
        "deep": {"lr": tune.loguniform(1e-4, 1), "kind": tune.choice(["a", ("b", 1), None])},
        "n": tune.randint(1, 10),
        "fixed": [1, 2],
    },
}


def made(name, **arguments):
    module, library, usual, _ = EVERY[name]
    pytest.importorskip(library)
    kind = getattr(importlib.import_module(f"headway.tune.search.{module}"), name)
    return kind(**{**usual, **arguments})


def space_of(name, **more):
    return {**SPACES[EVERY[name][3]], **more}


def loss(config):
    kind = {"a": 0, ("b", 1): 1, None: 2}[config["deep"].get("kind", "a")]
    return (config["x"] - 2) ** 2 + abs(math.log10(config["deep"]["lr"]) + 2) + kind + config.get("n", 3) / 10


def is_of_space(config, space):
    assert config["fixed"] == [1, 2]
    assert -5 <= config["x"] <= 5
    assert 1e-4 <= config["deep"]["lr"] <= 1
    if "n" in space:
        assert (config["x"] / 0.5).is_integer()
        assert type(config["n"]) is int
        assert 1 <= config["n"] < 10
        assert config["deep"]["kind"] in ["a", ("b", 1), None]


def go(search, count, first=0, *, error=()):
    """Asks and tells, one trial at a time; the losses."""
    values = []
    for index in range(first, first + count):
        config = search.suggest(str(index))
        assert isinstance(config, dict), config
        value = loss(config)
        result = {"loss": value, "training_iteration": 1}
        search.on_trial_result(str(index), result)
        search.on_trial_complete(str(index), None if index in error else result, error=index in error)
        values.append((value, config))
    return values


every = pytest.mark.parametrize("name", EVERY)


@pytest.mark.heavy
@every
def test_a_library_learns_from_its_trials(name):
    search, space = made(name), space_of(name)
    assert search.set_search_properties("loss", "min", space, num_samples=16)
    # Bayesian models are slow where the machine is.
    found = go(search, 8 if name in ("AxSearch", "HEBOSearch") else 16, error=[2])
    for _, config in found:
        is_of_space(config, space)
    best = min(value for value, _ in found)
    assert best < 20
    assert len({str(config) for _, config in found}) > 5


@pytest.mark.heavy
@every
def test_a_library_begins_with_the_points_that_it_is_given(name):
    points = [{"x": 2.0, "deep": {"lr": 0.01}}, {"x": 4.0}]
    search, space = made(name, points_to_evaluate=points), space_of(name)
    search.set_search_properties("loss", "max", space)
    (_, first), (_, second), *_ = go(search, 5)
    assert (first["x"], round(first["deep"]["lr"], 12)) == (2.0, 0.01)
    assert second["x"] == 4.0
    is_of_space(second, space)


@pytest.mark.heavy
@every
def test_a_library_that_is_restored_continues(name, tmp_path):
    search = made(name)
    search.set_search_properties("loss", "min", space_of(name))
    go(search, 4)
    search.suggest("lives")
    search.save(str(tmp_path / "state.pkl"))
    restored = made(name)
    restored.restore(str(tmp_path / "state.pkl"))
    restored.on_trial_complete("lives", {"loss": 1.0, "training_iteration": 1})
    is_of_space(go(restored, 1, 4)[0][1], space_of(name))
    cloudpickle.loads(cloudpickle.dumps(restored.get_state()))


@pytest.mark.heavy
@every
def test_a_library_learns_from_results_of_before(name):
    search = made(name)
    search.set_search_properties("loss", "min", space_of(name))
    config = {"x": 1.0, "deep": {"lr": 0.1, "kind": ("b", 1)}, "n": 3, "fixed": [1, 2], "unknown": 1}
    search.add_evaluated_point(config, 0.5)
    search.add_evaluated_point(config, 0.5, error=True)
    go(search, 2)


@pytest.mark.heavy
@every
def test_a_library_searches_an_experiment(name, tmp_path):
    def trial(config):
        for step in range(2):
            tune.report({"loss": loss(config) + 1 - step})

    config = tune.TuneConfig("loss", "min", search_alg=made(name), num_samples=8, max_concurrent_trials=2)
    run_config = train.RunConfig(storage_path=tmp_path, name="sweep", verbose=0)
    grid = tune.Tuner(trial, param_space=space_of(name), tune_config=config, run_config=run_config).fit()
    assert len(grid) == 8
    assert grid.num_errors == 0, grid.errors


@pytest.mark.heavy
@every
def test_what_a_library_cannot_search_is_refused(name):
    search = made(name)
    if name != "HyperOptSearch":
        with pytest.raises(
            ValueError, match=rf"the search space has 'x', .* which {name} cannot search; allowed: unif"
        ):
            search.set_search_properties("loss", "min", {"x": tune.randn()})
    with pytest.raises(ValueError, match="has grid_search for 'x'"):
        made(name).set_search_properties("loss", "min", {"x": tune.grid_search([1])})
    with pytest.raises(ValueError, match=f"{name} has no space"):
        made(name).suggest("a")
    with pytest.raises(ValueError, match="points_to_evaluate has 'z'; allowed: parameters of the search space: x"):
        made(name, points_to_evaluate=[{"z": 1}]).set_search_properties("loss", "min", {"x": tune.uniform(0, 1)})


@every
def test_a_library_that_is_missing_is_named_with_the_way_to_it(name, monkeypatch):
    module, library, _, _ = EVERY[name]
    loaded = [each for each in sys.modules if each.split(".")[0] == library]
    for each in [library, *loaded]:
        monkeypatch.setitem(sys.modules, each, None)
    kind = getattr(importlib.import_module(f"headway.tune.search.{module}"), name)
    with pytest.raises(ImportError, match=rf"{name} needs {library}, which is not installed; run: pip install "):
        kind()
    with pytest.raises(ImportError, match="pip install "):
        tune.create_searcher(module)


@pytest.mark.heavy
def test_conditional_spaces_of_hyperopt():
    hp = pytest.importorskip("hyperopt").hp
    space = {"kind": hp.choice("kind", [{"name": "sgd", "m": hp.uniform("m", 0, 1)}, {"name": "adam"}])}
    search = made("HyperOptSearch", space=space, metric="loss", mode="max")
    seen = set()
    for index in range(12):
        config = search.suggest(str(index))
        seen.add(config["kind"]["name"])
        assert ("m" in config["kind"]) == (config["kind"]["name"] == "sgd")
        search.on_trial_complete(str(index), {"loss": config["kind"].get("m", 0.2)})
    assert seen == {"sgd", "adam"}


@pytest.mark.heavy
def test_spaces_of_ax_with_constraints():
    pytest.importorskip("ax")
    space = [{"name": each, "type": "range", "bounds": [0.0, 1.0]} for each in "xy"]
    constraints = {"parameter_constraints": ["x + y <= 1"], "outcome_constraints": ["memory <= 2"]}
    search = made("AxSearch", space=space, metric="loss", mode="min", **constraints)
    for index in range(3):
        config = search.suggest(str(index))
        assert config["x"] + config["y"] <= 1.000001
        search.on_trial_complete(str(index), {"loss": config["x"], "memory": 1.0})
    search.suggest("late")
    with pytest.raises(ValueError, match="memory"):
        search.on_trial_complete("late", {"loss": 1.0})


@pytest.mark.heavy
def test_an_optimizer_of_nevergrad_that_is_made_already():
    ng = pytest.importorskip("nevergrad")
    optimizer = ng.optimizers.OnePlusOne(ng.p.Array(shape=(2,)), budget=10)
    search = made(
        "NevergradSearch", optimizer=optimizer, optimizer_kwargs=None, space=["a", "b"], metric="l", mode="min"
    )
    assert set(search.suggest("0")) == {"a", "b"}
    search.on_trial_complete("0", {"l": 1.0})
    with pytest.raises(ValueError, match="allowed: one for each dimension of the optimizer"):
        made("NevergradSearch", optimizer=optimizer, optimizer_kwargs=None, space=["a"], metric="l", mode="min")


@pytest.mark.heavy
def test_spaces_of_configspace_hebo_and_zoopt():
    configspace = pytest.importorskip("ConfigSpace")
    space = configspace.ConfigurationSpace({"x": (0.0, 1.0)})
    assert 0 <= made("TuneBOHB", space=space, metric="l", mode="min").suggest("0")["x"] <= 1
    value_type = pytest.importorskip("zoopt").ValueType
    search = made("ZOOptSearch", dim_dict={"x": (value_type.CONTINUOUS, [0, 1], 1e-2)}, metric="l", mode="min")
    assert 0 <= search.suggest("0")["x"] <= 1


@pytest.mark.heavy
def test_a_newer_bayesian_optimization_searches_too(tmp_path):
    """Its acquisition functions have another form since version 2."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    subprocess.run([*command, "--target", tmp_path, "bayesian-optimization==3.4.0"], check=True)
    code = """
import bayes_opt, importlib.metadata
from headway import tune
from headway.tune.search.bayesopt import BayesOptSearch
for kind in ("ucb", "ei", "poi"):
    search = BayesOptSearch({"x": (0, 4)}, "l", "min", utility_kwargs={"kind": kind}, random_search_steps=3)
    for index in range(8):
        config = search.suggest(str(index))
        if config is not None:
            search.on_trial_complete(str(index), {"l": (config["x"] - 1) ** 2})
    print(kind, len(search._optimizer.space), bayes_opt.__version__ if hasattr(bayes_opt, "__version__") else "")
"""
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}:{PACKAGES}"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "3.4.0" in done.stdout
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["ucb", "ei", "poi"]

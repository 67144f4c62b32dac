"""Population based bandits: copies get the parameters that promise most."""

import sys

import numpy as np
import pytest
from headway import train, tune
from headway.tune.schedulers.pb2 import PB2, _gains
from headway.tune.schedulers.trial_scheduler import CopyAsked

pytest.importorskip("scipy")


def climb(config):
    """The nearer the rate is to 0.7, the more the value grows."""
    checkpoint = tune.get_checkpoint()
    state = checkpoint.to_dict() if checkpoint else {"step": 0, "value": 0.0}
    for step in range(state["step"] + 1, 9):
        state = {"step": step, "value": state["value"] + 1 - (config["rate"] - 0.7) ** 2}
        tune.report({"value": state["value"], **config}, checkpoint=train.Checkpoint.from_dict(state))


def pb2(**arguments):
    known = {"time_attr": "training_iteration", "perturbation_interval": 2, "hyperparam_bounds": {"rate": [0.0, 1.0]}}
    return PB2(**{**known, **arguments})


def test_copies_have_parameters_within_their_bounds(tmp_path):
    grid = tune.Tuner(
        climb,
        # The second trial is behind at each report.
        param_space={"rate": tune.grid_search([0.6, 0.1])},
        tune_config=tune.TuneConfig("value", "max", scheduler=pb2(quantile_fraction=0.5), max_concurrent_trials=1),
        run_config=train.RunConfig(storage_path=tmp_path, verbose=0),
    ).fit()
    assert not grid.errors
    rates = np.concatenate([result.metrics_dataframe["rate"].unique() for result in grid])
    assert len(rates) > 2, "at least one copy has other parameters"
    assert all(0 <= rate <= 1 for rate in rates)
    assert all(result.metrics["training_iteration"] == 8 for result in grid)


def history(points):
    return [
        {"trial": trial, "time": time, "score": score, "config": {"rate": rate}} for trial, time, score, rate in points
    ]


def test_what_was_gained_is_by_time_and_with_the_same_parameters():
    gains = _gains(history([("a", 2, 1.0, 0.5), ("a", 4, 5.0, 0.5), ("a", 6, 6.0, 0.1), ("b", 3, 0, 0.5)]), ["rate"])
    assert [(gain.trial, gain.time, gain.before, gain.rate) for gain in gains] == [("a", 4, 1.0, 2.0)]


def test_the_parameters_that_gained_most_promise_most():
    np.random.seed(3)
    points = [
        (name, time, time * (1 - (rate - 0.7) ** 2), rate)
        for name, rate in zip("abcdefgh", np.linspace(0, 1, 8), strict=True)
        for time in (2, 4, 6)
    ]
    asked = CopyAsked(1, "a", "f", history(points))
    rates = [pb2().explored({"rate": 0.1, "other": "x"}, asked).config["rate"] for _ in range(5)]
    assert abs(np.median(rates) - 0.7) < 0.3


def test_an_integer_stays_one_and_custom_explore_fn_has_the_last_word():
    scheduler = pb2(custom_explore_fn=lambda config: {**config, "seen": True})
    points = [("a", 2, 1.0, 1), ("a", 4, 2.0, 1), ("b", 2, 1.0, 0), ("b", 4, 1.5, 0)]
    explored = scheduler.explored({"rate": 1}, CopyAsked(1, "b", "a", history(points)))
    assert isinstance(explored.config["rate"], int)
    assert explored.config["seen"]
    assert scheduler.explored({"rate": 3.0}, CopyAsked(1, "b", "a", [])).config["rate"] == 3.0, "nothing is known yet"


def test_missing_parameters_are_drawn_within_their_bounds():
    config = {"a": {}}
    drawn = pb2(hyperparam_bounds={"a": {"b": [1, 2]}, "c": [3, 4]}).complete(config)
    assert set(drawn) == {"a/b", "c"}
    assert 1 <= config["a"]["b"] <= 2
    assert 3 <= config["c"] <= 4


@pytest.mark.parametrize(
    ("words", "bounds"),
    [
        (r"hyperparam_bounds\['a'\] is \[1\]; allowed", {"a": [1]}),
        (r"hyperparam_bounds\['a'\] is \[2, 1\]; allowed", {"a": [2, 1]}),
        (r"hyperparam_bounds\['a'\]\['b'\] is 5; allowed", {"a": {"b": 5}}),
        ("hyperparam_bounds is None; allowed", None),
    ],
)
def test_wrong_bounds_are_named(words, bounds):
    with pytest.raises((ValueError, tune.TuneError), match=words):
        PB2(hyperparam_bounds=bounds)


def test_without_scipy_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(RuntimeError, match="PB2 needs SciPy; install it: pip install scipy"):
        pb2()

"""Searchers: Optuna asked and told, limits, repetitions, what their files keep."""

import re

import optuna
import pytest
from headway import tune
from headway.tune.search import ConcurrencyLimiter, Repeater, Searcher
from headway.tune.search.optuna import OptunaSearch

SPACE = {
    "optimizer": {"lr": tune.loguniform(1e-4, 1), "kind": tune.choice(["sgd", "adam"])},
    "units": tune.qrandint(8, 32, 8),
    "layers": tune.lograndint(1, 9),
    "drop": tune.quniform(0, 0.5, 0.25),
    "shape": tune.choice([(1, 2), [3], {"a": 1}]),
    "name": "fixed",
    "made": tune.sample_from(lambda c: c["units"] * 2),
}


def loss(config):
    return abs(config["x"] - 0.3)


def search_for(search, trials, evaluate=loss, metric="loss"):
    """Asks and tells, one trial after the other; the best value."""
    values = []
    for number in range(trials):
        config = search.suggest(f"t{number}")
        values.append(evaluate(config))
        search.on_trial_complete(f"t{number}", {metric: values[-1]})
    return min(values)


class Counting(Searcher):
    """Suggests 0, 1, 2, ..., and keeps what it hears."""

    def __init__(self, end=1000):
        super().__init__("loss", "min")
        self.next, self.end, self.heard = 0, end, []

    def suggest(self, trial_id):
        if self.next == self.end:
            return self.FINISHED
        self.next += 1
        return {"x": self.next - 1}

    def on_trial_complete(self, trial_id, result=None, error=False):
        self.heard.append((trial_id, result and result["loss"], error))


def test_optuna_suggests_within_the_space():
    search = OptunaSearch(seed=1)
    assert search.set_search_properties("loss", "min", SPACE)
    for number in range(30):
        config = search.suggest(f"t{number}")
        assert 1e-4 <= config["optimizer"]["lr"] <= 1
        assert config["optimizer"]["kind"] in ("sgd", "adam")
        assert config["units"] in (8, 16, 24, 32)
        assert config["layers"] in range(1, 9)
        assert config["drop"] in (0, 0.25, 0.5)
        assert config["shape"] in [(1, 2), [3], {"a": 1}]
        search.on_trial_complete(f"t{number}", {"loss": config["optimizer"]["lr"]})
    assert "made" not in config, "computed from the suggestion, later"


def test_optuna_learns():
    search = OptunaSearch({"x": tune.uniform(0, 1)}, metric="loss", mode="min", seed=1)
    assert search_for(search, 60) < 0.01


def test_a_seed_gives_the_same_search():
    first, second = (OptunaSearch({"x": tune.uniform(0, 1)}, metric="loss", mode="min", seed=3) for _ in range(2))
    assert [search_for(first, 15)] == [search_for(second, 15)]


def test_nested_metrics_are_found():
    search = OptunaSearch({"x": tune.uniform(0, 1)}, metric="eval/loss", mode="max")
    search.suggest("t")
    search.on_trial_result("t", {"eval": {"loss": 1.0}, "training_iteration": 1})
    search.on_trial_complete("t", {"eval": {"loss": 2.0}})
    (trial,) = search._study.trials
    assert (trial.value, trial.intermediate_values) == (2.0, {1: 1.0})
    search.suggest("u")
    with pytest.raises(ValueError, match="metric is 'eval/loss', which was not reported; there is loss, done"):
        search.on_trial_complete("u", {"loss": 1.0, "done": True})


def test_how_trials_end_is_told():
    search = OptunaSearch({"x": tune.uniform(0, 1)}, metric="loss", mode="min")
    for name in ("good", "failed", "pruned", "nan"):
        search.suggest(name)
    search.on_trial_complete("good", {"loss": 1.0})
    search.on_trial_complete("failed", {"loss": 1.0}, error=True)
    search.on_trial_complete("pruned")
    search.on_trial_complete("nan", {"loss": float("nan")})
    search.on_trial_complete("good", {"loss": 7.0})
    assert [trial.state.name for trial in search._study.trials] == ["COMPLETE", "FAIL", "PRUNED", "FAIL"]
    assert search._study.best_value == 1.0


def test_several_objectives():
    search = OptunaSearch({"x": tune.uniform(0, 1)}, metric=["loss", "size"], mode=["min", "max"], seed=1)
    for number in range(5):
        config = search.suggest(f"t{number}")
        search.on_trial_result(f"t{number}", {"loss": 1, "size": 1})
        search.on_trial_complete(f"t{number}", {"loss": config["x"], "size": config["x"]})
    assert len(search._study.best_trials) == 5, "each is the best by one objective"


def test_define_by_run():
    def space(trial):
        kind = trial.suggest_categorical("kind", ["a", "b"])
        trial.suggest_float(f"deep/{kind}", 0, 1)
        return {"fixed": 3}

    search = OptunaSearch(space, metric="loss", mode="min", seed=1)
    for number in range(4):
        config = search.suggest(f"t{number}")
        assert set(config) == {"kind", "deep", "fixed"}
        assert set(config["deep"]) == {config["kind"]}
        search.on_trial_complete(f"t{number}", {"loss": 1})
    with pytest.raises(TypeError, match=r"space is <function .*space.*; allowed: a dict, where results of earlier"):
        search.add_evaluated_point({"kind": "a"}, 1.0)


def test_distributions_of_optuna_and_of_tune_side_by_side():
    space = {"x": optuna.distributions.FloatDistribution(0, 1), "y": tune.randint(3, 4)}
    config = OptunaSearch(space, metric="loss", mode="min").suggest("t")
    assert 0 <= config["x"] <= 1
    assert config["y"] == 3


def test_points_to_begin_with():
    points = [{"optimizer": {"lr": 0.5, "kind": "sgd"}, "shape": [3]}, {"units": 16}]
    search = OptunaSearch(points_to_evaluate=points)
    search.set_search_properties("loss", "min", SPACE)
    first, second = search.suggest("a"), search.suggest("b")
    assert first["optimizer"] == {"lr": 0.5, "kind": "sgd"}
    assert first["shape"] == [3]
    assert second["units"] == 16


def test_points_whose_values_are_known_are_not_tried_again():
    points = [{"x": 0.1}, {"x": 0.9}]
    search = OptunaSearch({"x": tune.uniform(0, 1)}, "loss", "min", points, evaluated_rewards=[0.5, 0.25])
    assert [(trial.params, trial.value) for trial in search._study.trials] == [({"x": 0.1}, 0.5), ({"x": 0.9}, 0.25)]
    assert search.suggest("t")["x"] not in (0.1, 0.9)


def test_another_program_may_read_the_study(tmp_path):
    storage = f"sqlite:///{tmp_path}/study.db"
    arguments = {"metric": "loss", "mode": "min", "study_name": "mine", "storage": storage}
    search_for(OptunaSearch({"x": tune.uniform(0, 1)}, **arguments), 3)
    assert len(optuna.load_study(study_name="mine", storage=storage).trials) == 3
    search_for(OptunaSearch({"x": tune.uniform(0, 1)}, **arguments), 2)
    assert len(optuna.load_study(study_name="mine", storage=storage).trials) == 5


def test_a_study_is_created_without_a_word(capfd):
    OptunaSearch({"x": tune.uniform(0, 1)}, metric="loss", mode="min")
    assert capfd.readouterr() == ("", "")
    assert optuna.logging.get_verbosity() == optuna.logging.INFO


def test_a_sampler_of_optuna():
    sampler = optuna.samplers.RandomSampler(seed=1)
    search = OptunaSearch({"x": tune.uniform(0, 1)}, metric="loss", mode="min", sampler=sampler)
    again = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=1))
    assert search.suggest("t")["x"] == again.ask({"x": optuna.distributions.FloatDistribution(0, 1)}).params["x"]


@pytest.mark.parametrize(
    ("space", "words"),
    [
        ({"x": tune.grid_search([1, 2])}, "has grid_search for 'x', and search_alg is OptunaSearch; allowed: choice"),
        ({"x": tune.randn()}, "has 'x', normally distributed, which OptunaSearch cannot search; allowed: uniform"),
        ({"x": [tune.uniform(0, 1)]}, "has 'x/0' in a list, and search_alg is OptunaSearch; allowed: in dicts"),
        ({"x": tune.choice([{"y": tune.uniform(0, 1)}])}, "has a choice of spaces for 'x', and search_alg is Optuna"),
        ({"x": 3}, "allowed: at least one parameter to search"),
    ],
)
def test_a_space_that_optuna_cannot_search_is_refused(space, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        OptunaSearch().set_search_properties("loss", "min", space)


def test_what_is_missing_is_named():
    with pytest.raises(ValueError, match="OptunaSearch has no space: give it, or give it to TuneConfig or Tuner"):
        OptunaSearch().suggest("t")
    with pytest.raises(ValueError, match="OptunaSearch has no metric"):
        OptunaSearch({"x": tune.uniform(0, 1)}).suggest("t")
    with pytest.raises(ValueError, match="OptunaSearch has no mode"):
        OptunaSearch({"x": tune.uniform(0, 1)}, metric="loss").suggest("t")


def test_without_optuna_the_error_says_what_to_install(script):
    code, output = script.run("""
        import sys

        sys.modules["optuna"] = None
        from headway.tune.search.optuna import OptunaSearch

        try:
            OptunaSearch()
        except ImportError as error:
            print(error)
        """)
    assert (code, output) == (0, "OptunaSearch needs Optuna, which is not installed: pip install optuna\n")


@pytest.mark.parametrize("wrapped", [lambda search: search, lambda s: ConcurrencyLimiter(s, 5), lambda s: Repeater(s)])
def test_a_searcher_goes_on_from_its_file(tmp_path, wrapped):
    def made():
        return wrapped(OptunaSearch({"x": tune.uniform(0, 1)}, metric="loss", mode="min", seed=2))

    search, whole = made(), made()
    search_for(whole, 12)
    search_for(search, 11)
    search.save_to_dir(tmp_path, "first")
    restored = made()
    restored.restore_from_dir(tmp_path)
    assert restored.suggest("next")["x"] == search.suggest("next")["x"]
    assert [path.name for path in tmp_path.iterdir()] == ["searcher-state-first.pkl"]
    with pytest.raises(FileNotFoundError, match="where no searcher's state is"):
        made().restore_from_dir(tmp_path / "nothing")


def test_a_limit_holds_suggestions_back():
    inner = Counting()
    search = ConcurrencyLimiter(inner, max_concurrent=2)
    assert [search.suggest(name) for name in "abc"] == [{"x": 0}, {"x": 1}, None]
    search.on_trial_complete("a", {"loss": 1})
    search.on_trial_complete("unknown", {"loss": 1})
    assert inner.heard == [("a", 1, False)]
    assert [search.suggest(name) for name in "cd"] == [{"x": 2}, None]


def test_a_batch_is_told_once_all_of_it_has_ended():
    inner = Counting()
    search = ConcurrencyLimiter(inner, max_concurrent=2, batch=True)
    assert [search.suggest(name) for name in "ab"] == [{"x": 0}, {"x": 1}]
    search.on_trial_complete("b", {"loss": 1})
    assert (search.suggest("c"), inner.heard) == (None, [])
    search.on_trial_complete("a", None, error=True)
    assert inner.heard == [("b", 1, False), ("a", None, True)]
    assert search.suggest("c") == {"x": 2}


def test_a_limit_passes_the_end_on():
    search = ConcurrencyLimiter(Counting(end=1), 2)
    assert [search.suggest(name) for name in "ab"] == [{"x": 0}, Searcher.FINISHED]


def test_repetitions_are_told_as_their_mean():
    inner = Counting()
    search = Repeater(inner, repeat=3)
    suggested = [search.suggest(name) for name in "abcd"]
    assert suggested[:3] == [{"x": 0, "__trial_index__": index} for index in range(3)]
    assert suggested[3]["x"] == 1
    search.on_trial_complete("b", {"loss": 1})
    search.on_trial_complete("a", {"loss": 2})
    assert inner.heard == []
    search.on_trial_complete("c", {"loss": 9}, error=True)
    assert inner.heard == [("a", 1.5, False)]


def test_repetitions_that_all_fail_have_failed():
    inner = Counting()
    search = Repeater(inner, repeat=2, set_index=False)
    assert [search.suggest(name) for name in "ab"] == [{"x": 0}, {"x": 0}]
    search.on_trial_complete("a", None, error=True)
    search.on_trial_complete("b", {"loss": float("nan")})
    assert inner.heard == [("a", None, True)]


def test_a_searcher_without_its_methods_says_so():
    with pytest.raises(NotImplementedError, match=r"Searcher has no suggest\(trial_id\)"):
        Searcher().suggest("t")


def test_what_a_searcher_cannot_do_is_refused_when_it_is_made():
    with pytest.raises(ValueError, match=r"mode is 'min' and metric .*; allowed: as many modes as metrics"):
        OptunaSearch({"x": tune.uniform(0, 1)}, metric=["a", "b"], mode="min")
    with pytest.raises(ValueError, match="allowed: a searcher with one metric"):
        Repeater(OptunaSearch({"x": tune.uniform(0, 1)}, metric=["a", "b"], mode=["min", "max"]), repeat=2)


@pytest.mark.parametrize(
    ("point", "words"),
    [
        ({"unit": 8}, "points_to_evaluate has 'unit'; allowed: parameters of the search space"),
        ({"shape": (3, 4)}, "points_to_evaluate: 'shape' is (3, 4); allowed: its choices"),
    ],
)
def test_points_are_checked_at_the_start(point, words):
    search = OptunaSearch(points_to_evaluate=[point])
    with pytest.raises(ValueError, match=re.escape(words)):
        search.set_search_properties("loss", "min", SPACE)
    search = OptunaSearch(points_to_evaluate=[{"name": "fixed", "shape": {"a": 1}, "optimizer": {"lr": 0.5}}])
    search.set_search_properties("loss", "min", SPACE)
    config = search.suggest("t")
    assert (config["shape"], config["optimizer"]["lr"]) == ({"a": 1}, 0.5)

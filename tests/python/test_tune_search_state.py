"""The search of an experiment: Ray's names of trials, and what a restored search knows."""

import json
from pathlib import Path

import numpy
import pytest
from headway import tune
from headway.tune._experiment.naming import tag_of
from headway.tune._experiment.records import Records, TrialRecord
from headway.tune._experiment.search_state import SearchState
from headway.tune.search import BasicVariantGenerator, ConcurrencyLimiter, Repeater, Searcher
from headway.tune.search.optuna import OptunaSearch
from search_spaces import spaces

DRAWS = json.loads((Path(__file__).parents[1] / "fixtures" / "ray_draws.json").read_text())
SPACE = {"x": tune.uniform(0, 1)}


def records_of(path, *trials):
    records = Records(str(path))
    for trial_id, state, loss, config in trials:
        record = TrialRecord(trial_id, f"trial_{trial_id}_0_x", state, last={} if loss is None else {"loss": loss})
        records.add(record)
        records.write_config(record, config)
    return records


# Ray's tag of a space within a choice has the address of an object. Others are drawn from numpy's
# global generator.
SEEDED = [each for each in DRAWS if each["space"] != "nested" and "random_state" in each["arguments"]]


@pytest.mark.parametrize("case", [pytest.param(each, id=f"{each['space']}-{each['arguments']}") for each in SEEDED])
def test_trials_are_called_as_ray_calls_them(case):
    search = BasicVariantGenerator(**case["arguments"])
    search.set_search_properties(None, None, spaces(tune)[case["space"]], num_samples=case["samples"])
    for number, trial in enumerate(case["trials"]):
        search.suggest(str(number))
        assert tag_of(number, search.drawn) == trial["tag"]


def test_a_restored_grid_continues_behind_what_was_suggested(tmp_path):
    config = tune.TuneConfig()
    search = SearchState({"x": tune.grid_search([1, 2, 3])}, config, str(tmp_path))
    search.restore(records_of(tmp_path, ("a", "terminated", 1.0, {"x": 1}), ("b", "unfinished", None, {"x": 2})))
    assert search.next("c")[0] == {"x": 3}
    assert search.next("d") == "FINISHED"


def random_search(path, seen, random_state=3):
    space = {"x": tune.sample_from(lambda _: seen.append(1) or len(seen)), "y": tune.uniform(0, 1)}
    algorithm = BasicVariantGenerator(random_state=random_state)
    return SearchState(space, tune.TuneConfig(search_alg=algorithm, num_samples=9), str(path))


@pytest.mark.parametrize("random_state", [3, None])
def test_a_restored_random_search_draws_again_only_what_its_state_lacks(tmp_path, random_state):
    numpy.random.seed(5)
    search = random_search(tmp_path, [], random_state)
    for name in "abcde":
        if name == "d":
            search.save(now=True)
        search.next(name)
    following = search.next("f")[0]["y"]
    again = []
    numpy.random.seed(5)
    restored = random_search(tmp_path, again, random_state)
    restored.restore(records_of(tmp_path, *((name, "terminated", 1.0, {}) for name in "abcde")))
    assert len(again) == 3  # The last one that it knows, and two more.
    assert restored.next("f")[0]["y"] == following


def test_a_state_that_is_ahead_of_the_journal_loses_no_configuration(tmp_path):
    search = random_search(tmp_path, [])
    suggested = [search.next(name)[0]["y"] for name in "abc"]
    search.save(now=True)
    restored = random_search(tmp_path, [])
    restored.restore(records_of(tmp_path, ("a", "terminated", 1.0, {})))
    assert restored.next("b")[0]["y"] == suggested[1]


def test_a_restored_search_counts_no_trial_of_another_one(tmp_path):
    first = SearchState({"x": tune.grid_search([1, 2])}, tune.TuneConfig(), str(tmp_path))
    first.next("a")
    first.next("b")
    first.save(now=True)
    trials = [("a", "terminated", 1.0, {"x": 1}), ("b", "terminated", 2.0, {"x": 2}), ("c", "unfinished", None, {})]
    second = SearchState({"x": tune.grid_search([1, 2, 3])}, tune.TuneConfig(), str(tmp_path))
    second.first = 2
    second.restore(records_of(tmp_path, *trials))
    assert second.next("d")[0] == {"x": 2}
    assert second.next("e")[0] == {"x": 3}
    assert second.next("f") == "FINISHED"


def test_what_was_tried_again_is_no_part_of_the_search(tmp_path):
    search = SearchState({"x": tune.grid_search([1, 2])}, tune.TuneConfig(), str(tmp_path))
    search.restarts = [("a", {"x": 1})]
    config, drawn = search.next("b")
    assert (config, tag_of(1, drawn), search.replaces) == ({"x": 1}, "1_again=True", "a")
    records = records_of(tmp_path, ("a", "errored", None, {"x": 1}))
    records.add(TrialRecord("b", f"trial_b_{tag_of(1, drawn)}_2026-01-01", "terminated"))
    again = SearchState({"x": tune.grid_search([1, 2])}, tune.TuneConfig(), str(tmp_path))
    again.restore(records)
    assert again.next("c")[0] == {"x": 2}


def test_a_restored_searcher_learns_what_it_had_not_heard(tmp_path):
    def made():
        search = OptunaSearch(seed=1)
        config = tune.TuneConfig("loss", "min", search_alg=search, num_samples=5)
        return search, SearchState(SPACE, config, str(tmp_path))

    _, state = made()
    configs = [state.next(name)[0] for name in "abc"]
    state.ended("a", {"loss": 1.0}, error=False)
    state.save(now=True)
    configs.append(state.next("d")[0])
    search, restored = made()
    ends = [("terminated", 1.0), ("terminated", 2.0), ("unfinished", 9.0), ("terminated", 3.0)]
    trials = zip("abcd", ends, configs, strict=True)
    restored.restore(records_of(tmp_path, *((name, *end, config) for name, end, config in trials)))
    assert sorted(trial.value for trial in search._study.trials if trial.value is not None) == [1.0, 2.0, 3.0]
    restored.ended("c", {"loss": 4.0}, error=False)
    assert [trial.state.name for trial in search._study.trials] == ["COMPLETE"] * 4
    assert isinstance(restored.next("e"), tuple)
    assert restored.next("f") == "FINISHED"


def test_a_search_that_was_interrupted_goes_on_as_if_it_had_not_been(tmp_path):
    def made(path):
        path.mkdir(exist_ok=True)
        config = tune.TuneConfig("loss", "min", search_alg=OptunaSearch(seed=1), num_samples=20)
        return SearchState(SPACE, config, str(path))

    def run(state, first, last, configs):
        for number in range(first, last):
            name = f"a_{number}"
            configs[name] = state.next(name)[0]
            state.ended(name, {"loss": (configs[name]["x"] - 0.5) ** 2}, error=False)

    undisturbed, configs = {}, {}
    run(made(tmp_path / "whole"), 0, 20, undisturbed)
    state = made(tmp_path / "killed")
    run(state, 0, 12, configs)
    ahead = state.next("a_12")[0]
    state.save(now=True)
    behind = made(tmp_path / "killed")
    trials = ((name, "terminated", (config["x"] - 0.5) ** 2, config) for name, config in configs.items())
    behind.restore(records_of(tmp_path / "killed", *trials))
    assert behind.next("a_12")[0] == ahead, "the journal did not have the newest suggestion"
    behind.ended("a_12", {"loss": (ahead["x"] - 0.5) ** 2}, error=False)
    configs["a_12"] = ahead
    behind.save(now=True)
    run(behind, 13, 16, configs)
    third = made(tmp_path / "killed")
    trials = ((name, "terminated", (config["x"] - 0.5) ** 2, config) for name, config in configs.items())
    third.restore(records_of(tmp_path / "killed", *trials))
    run(third, 16, 20, configs)
    assert configs == undisturbed


@pytest.mark.parametrize("wrapped", [None, ConcurrencyLimiter, Repeater])
def test_a_restored_seed_does_not_draw_again_what_trials_were_made_of(tmp_path, wrapped):
    def made():
        search = OptunaSearch(seed=1) if wrapped is None else wrapped(OptunaSearch(seed=1), 1)
        return SearchState(SPACE, tune.TuneConfig("loss", "min", search_alg=search, num_samples=9), str(tmp_path))

    state = made()
    configs = {name: state.next(name)[0] for name in "a"}
    state.save(now=True)
    for name in "bcd":
        state.ended("abc"["bcd".index(name)], {"loss": 1.0}, error=False)
        configs[name] = state.next(name)[0]
    restored = made()
    restored.restore(records_of(tmp_path, *((name, "terminated", 1.0, config) for name, config in configs.items())))
    drawn = []
    for name in "efg":
        drawn.append(restored.next(name)[0]["x"])
        restored.ended(name, {"loss": 1.0}, error=False)
    assert len({*drawn, *(config["x"] for config in configs.values())}) == 7


def optuna_state(path, limit=None):
    search = OptunaSearch(seed=1)
    wrapped = search if limit is None else ConcurrencyLimiter(search, limit)
    return search, SearchState(SPACE, tune.TuneConfig("loss", "min", search_alg=wrapped, num_samples=9), str(path))


@pytest.mark.parametrize("there", [True, False])
def test_a_trial_that_never_ends_here_holds_no_place_of_a_limit(tmp_path, there):
    _, state = optuna_state(tmp_path, 1)
    config, _ = state.next("a")
    assert state.next("b") is None
    state.save(now=True)
    _, restored = optuna_state(tmp_path, 1)
    records = records_of(tmp_path, *([("a", "unfinished", 1.0, config)] if there else []))
    restored.restore(records, unfinished=False)
    assert isinstance(restored.next("b"), tuple)


def test_a_searcher_learns_from_resumed_trials_that_its_state_lacks(tmp_path):
    _, state = optuna_state(tmp_path)
    state.save(now=True)
    configs = [state.next(name)[0] for name in "abc"]
    search, restored = optuna_state(tmp_path)
    ends = [("unfinished", None), ("errored", None), ("unfinished", None)]
    trials = zip("abc", ends, configs, strict=True)
    records = records_of(tmp_path, *((name, *end, config) for name, end, config in trials))
    restored.restore(records, unfinished=True, errored=True)
    restored.ended("a", {"loss": 1.0}, error=False)
    restored.ended("b", {"loss": 2.0}, error=False)
    restored.ended("c", {"loss": 3.0}, error=True)
    assert [trial.value for trial in search._study.trials if trial.value is not None] == [1.0, 2.0]


@pytest.mark.parametrize(
    "wrapped", [lambda search: search, lambda search: ConcurrencyLimiter(search, 2), lambda search: Repeater(search, 2)]
)
def test_a_searcher_may_have_the_older_signature(tmp_path, wrapped):
    class Older(Searcher):
        def set_search_properties(self, metric, mode, config):
            self.told = (metric, mode, config)
            return True

    search = Older()
    SearchState(SPACE, tune.TuneConfig("loss", "min", search_alg=wrapped(search)), str(tmp_path))
    assert search.told == ("loss", "min", SPACE)


class Counting(Searcher):
    """Keeps itself in its own way, as a searcher of a library with its own files does."""

    def __init__(self):
        super().__init__("loss", "min")
        self.count, self.locked = 0, lambda: self.count

    def suggest(self, trial_id):
        self.count += 1
        return {"x": self.count}

    def on_trial_complete(self, trial_id, result=None, error=False):
        pass

    def get_state(self):
        raise AssertionError("save is the searcher's own")

    def save(self, checkpoint_path):
        with open(checkpoint_path, "w") as file:
            file.write(str(self.count))

    def restore(self, checkpoint_path):
        with open(checkpoint_path) as file:
            self.count = int(file.read())


@pytest.mark.parametrize(
    "wrapped", [lambda s: s, lambda s: ConcurrencyLimiter(s, 4), lambda s: Repeater(s, 1, set_index=False)]
)
def test_a_searcher_that_keeps_itself_is_restored_by_itself(tmp_path, wrapped):
    config = tune.TuneConfig("loss", "min", search_alg=wrapped(Counting()), num_samples=4)
    search = SearchState({}, config, str(tmp_path))
    assert [search.next(each)[0]["x"] for each in "ab"] == [1, 2]
    search.save(now=True)
    config = tune.TuneConfig("loss", "min", search_alg=wrapped(Counting()), num_samples=4)
    again = SearchState({}, config, str(tmp_path))
    again.restore(records_of(tmp_path, ("a", "terminated", 1.0, {"x": 1}), ("b", "terminated", 1.0, {"x": 2})))
    assert again.next("c")[0] == {"x": 3}

"""Search spaces: Ray's configurations for Ray's seeds, waiting functions, grids."""

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from headway import train, tune
from headway.tune.search import BasicVariantGenerator
from headway.tune.search.variant_generator import RecursiveDependencyError
from search_spaces import spaces

DRAWS = json.loads((Path(__file__).parents[1] / "fixtures" / "ray_draws.json").read_text())


def configs(space, samples=1, **arguments):
    search = BasicVariantGenerator(**arguments)
    search.set_search_properties(None, None, space, num_samples=samples)
    return list(rest_of(search))


def rest_of(search):
    return iter(lambda: search.suggest("trial"), search.FINISHED)


@pytest.mark.parametrize("case", [pytest.param(case, id=f"{case['space']}-{case['arguments']}") for case in DRAWS])
def test_a_seed_gives_the_configurations_that_ray_gives(case):
    if "global_seed" in case:
        np.random.seed(case["global_seed"])
    found = configs(spaces(tune)[case["space"]], case["samples"], **case["arguments"])
    assert json.loads(json.dumps(found)) == [trial["config"] for trial in case["trials"]]


@pytest.mark.parametrize("name", ["floats", "integers"])
def test_a_generator_of_numpy_draws_as_its_seed_does(name):
    space = spaces(tune)[name]
    assert configs(space, 3, random_state=np.random.default_rng(7)) == configs(space, 3, random_state=7)


@pytest.mark.parametrize(
    "function",
    [
        lambda spec: spec.config.a + 1,
        lambda config: config["a"] + 1,
        lambda config: config.a + 1,
        lambda spec: spec["config"]["a"] + 1,
        lambda config, more=1: config.get("a") + more,
    ],
)
def test_a_function_sees_other_parameters_however_it_asks(function):
    (config,) = configs({"b": tune.sample_from(function), "a": tune.randint(5, 6)})
    assert config == {"b": 6, "a": 5}


def test_functions_that_wait_for_each_other_are_refused():
    space = {"a": tune.sample_from(lambda c: c["b"]), "b": tune.sample_from(lambda c: c["a"])}
    with pytest.raises(RecursiveDependencyError, match="`a` recursively depends on"):
        configs(space)


def test_a_function_that_raises_is_named_with_its_parameter():
    with pytest.raises(ValueError, match=r"sample_from for 'deep/a' raised: ZeroDivisionError\('division by zero'\)"):
        configs({"deep": {"a": tune.sample_from(lambda: 1 / 0)}})


def test_the_values_of_a_space_are_not_copied_and_its_dicts_are():
    tensor = object()
    space = {"data": {"tensor": tensor, "lr": tune.uniform(0, 1)}}
    first, second = configs(space, 2)
    assert first["data"]["tensor"] is second["data"]["tensor"] is tensor
    assert first["data"] is not second["data"]
    assert isinstance(space["data"]["lr"], tune.search.sample.Domain), "the space is as it was"


def test_samples_without_end():
    search = BasicVariantGenerator(random_state=1)
    search.set_search_properties(None, None, {"x": tune.uniform(0, 1)}, num_samples=-1)
    assert len({search.suggest("trial")["x"] for _ in range(50)}) == 50
    assert search.total_samples is None


def test_the_number_of_trials_is_known_beforehand():
    search = BasicVariantGenerator([{"z": 1}, {"x": 0.5}])
    search.set_search_properties(None, None, spaces(tune)["grids"], num_samples=4)
    assert search.total_samples == len(list(rest_of(search))) == 2 + 6 + 12


@pytest.mark.parametrize("already", [0, 1, 5, 8, 24])
def test_a_restored_search_goes_on_where_the_other_was(already):
    space = spaces(tune)["grids"]
    whole = configs(space, 4, random_state=3)
    search, other = (BasicVariantGenerator(random_state=3) for _ in range(2))
    search.set_search_properties(None, None, space, num_samples=4)
    begun = [search.suggest("trial") for _ in range(already)]
    other.set_search_properties(None, None, space, num_samples=4)
    other.set_state(pickle.loads(pickle.dumps(search.get_state())))
    assert begun + list(rest_of(other)) == whole


def test_a_point_outside_of_the_space_is_tried_with_a_warning(capfd):
    assert configs({"x": tune.uniform(0, 1)}, points_to_evaluate=[{"x": 7}]) == [{"x": 7}]
    assert "points_to_evaluate: 'x' is 7, which the search space does not have" in capfd.readouterr().err


def test_a_point_may_have_flat_names():
    space = {"optimizer": {"lr": tune.uniform(0, 1)}}
    assert configs(space, points_to_evaluate=[{"optimizer/lr": 0.5}]) == [{"optimizer": {"lr": 0.5}}]
    with pytest.raises(ValueError, match=r"points_to_evaluate has 'optimizer/momentum'; allowed: parameters of"):
        configs(space, points_to_evaluate=[{"optimizer": {"momentum": 0.5}}])


def test_at_most_so_many_trials_at_once():
    search = BasicVariantGenerator(max_concurrent=2)
    search.set_search_properties(None, None, {"x": tune.grid_search([1, 2, 3])})
    assert [search.suggest("a"), search.suggest("b"), search.suggest("c")] == [{"x": 1}, {"x": 2}, None]
    search.on_trial_complete("a")
    assert search.suggest("c") == {"x": 3}
    assert search.suggest("d") is None


def test_several_values_at_once():
    assert len(tune.uniform(0, 1).sample(size=5)) == 5
    assert tune.randint(0, 10).sample(random_state=4) == tune.randint(0, 10).sample(random_state=4)


def test_a_scaling_config_may_be_a_space_for_a_tuner_alone():
    scaling = train.ScalingConfig(
        num_workers=tune.grid_search([1, 2]), use_gpu=False, resources_per_worker={"CPU": tune.choice([0.5])}
    )
    drawn = [
        config["scaling_config"]
        for config in configs(tune.Tuner(print, param_space={"scaling_config": scaling})._space)
    ]
    assert drawn == [{"num_workers": count, "resources_per_worker": {"CPU": 0.5}} for count in (1, 2)]
    with pytest.raises(ValueError, match=r"allowed: a search space in param_space of a Tuner alone"):
        train.DataParallelTrainer(print, scaling_config=scaling).fit()

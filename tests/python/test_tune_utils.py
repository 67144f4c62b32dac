"""Helpers for nested dicts, under the names that code for Ray Tune imports."""

import pytest
from headway import tune
from headway.tune import utils
from headway.tune.context import get_context
from headway.tune.utils.placement_groups import PlacementGroupFactory
from headway.tune.utils.util import unflatten_dict

NESTED = {"a": {"b": 1, "c": {"d": [2, {"e": 3}]}}, "empty": {}, "f": 4}
FLAT = {"a/b": 1, "a/c/d/0": 2, "a/c/d/1/e": 3, "empty": {}, "f": 4}


def test_what_is_flattened_can_be_made_again():
    assert utils.flatten_dict(NESTED, flatten_list=True) == FLAT
    assert unflatten_dict(utils.flatten_dict(NESTED, delimiter="."), delimiter=".") == NESTED
    with pytest.raises(ValueError, match="x/y"):
        utils.flatten_dict({"x/y": 1}, prevent_delimiter=True)
    with pytest.raises(TypeError, match="'a/b'"):
        unflatten_dict({"a": 1, "a/b": 2})


def test_values_are_found_by_their_flat_names():
    for name, value in FLAT.items():
        assert utils.unflattened_lookup(name, NESTED) == value
    assert utils.unflattened_lookup("a/x", NESTED, default=None) is None
    for name in ("a/x", "a/c/d/7", "a/c/d/x", "f/x"):
        with pytest.raises(KeyError, match=name):
            utils.unflattened_lookup(name, NESTED)


def test_an_update_adds_names_where_it_may():
    assert utils.merge_dicts(NESTED, {"a": {"new": 5}})["a"] == {**NESTED["a"], "new": 5}
    assert "new" not in NESTED["a"]
    with pytest.raises(KeyError, match="'new'"):
        utils.deep_update({"a": {}}, {"a": {"new": 5}})
    assert utils.deep_update({"a": {}}, {"a": {"new": 5}}, allow_new_subkey_list=["a"]) == {"a": {"new": 5}}
    of_type = {"explore": {"type": "Greedy", "epsilon": 1}}
    other = {"explore": {"type": "Noise", "scale": 2}}
    assert utils.deep_update(of_type, other, override_all_if_type_changes=["explore"]) == other


def test_older_places_of_names():
    assert PlacementGroupFactory is tune.PlacementGroupFactory
    assert get_context is tune.get_context

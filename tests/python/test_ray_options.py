"""What ``headway.init("ray", ...)`` refuses, before anything starts."""

import sys

import pytest
from headway._engines.ray_options import check_ray


def test_an_address_of_a_running_cluster_is_kept_and_ray_means_the_one_of_this_machine(tmp_path):
    (tmp_path / "ray").mkdir()
    (tmp_path / "ray" / "__init__.py").touch()
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH={tmp_path} exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    given = {"bridge_python": python, "grace_s": 5, "ray_init": {"_node_ip_address": "10.0.0.1"}}
    checked = check_ray("10.0.0.1:6379", given)
    assert checked == {
        "address": "10.0.0.1:6379",
        "bridge_python": str(python),
        "grace_s": 5,
        "namespace": None,
        "python": None,
        "ray_init": {"_node_ip_address": "10.0.0.1"},
    }
    assert check_ray("ray", {"bridge_python": python})["address"] == "auto"


def test_a_python_without_ray_is_named():
    with pytest.raises(ModuleNotFoundError, match=f"ray is not installed for {sys.executable}.*bridge_python="):
        check_ray("ray", {"bridge_python": sys.executable})
    with pytest.raises(ModuleNotFoundError, match=f"ray is not installed for {sys.executable}.*bridge_python="):
        check_ray("ray", {})


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"bridge_python": "/there/is/none"}, "bridge_python is '/there/is/none', which is no program here"),
        ({"bridge_python": 3}, "bridge_python is 3 (.*); allowed: None or the path of a Python that has ray"),
        ({"python": 3}, "python is 3.*; allowed"),
        ({"namespace": 3}, "namespace is 3.*; allowed"),
        ({"grace_s": -1}, "grace_s is -1; allowed: seconds, 0 or more"),
        ({"ray_init": []}, "ray_init is .*; allowed: None or a dict"),
        ({"ray_init": {"address": "x"}}, "ray_init has 'address'; allowed"),
        ({"ray_init": {"labels": object()}}, "ray_init can't be written as JSON"),
    ],
)
def test_what_is_wrong_is_named(options, words):
    with pytest.raises((TypeError, ValueError, FileNotFoundError), match=words):
        check_ray("ray", options)

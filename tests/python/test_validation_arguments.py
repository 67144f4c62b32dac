"""Bad arguments of validations: an error before any process starts."""

import headway
import pytest
from headway.train import ValidationConfig, ValidationTaskConfig
from test_arguments import assert_refused

NAN = float("nan")


def validate(checkpoint):
    return {}


# (what is called, with what, exception, argument, as it is given, a part of what is allowed)
CASES = [
    (ValidationConfig, {"fn": 3}, TypeError, "ValidationConfig.fn", "3 (int)", "a function"),
    (
        ValidationConfig,
        {"fn": lambda: {"a": 1}},
        ValueError,
        "ValidationConfig.fn",
        "<lambda>()",
        "a function of a checkpoint",
    ),
    (
        ValidationConfig,
        {"fn": lambda *, checkpoint: {}},
        ValueError,
        "ValidationConfig.fn",
        "<lambda>(*, checkpoint)",
        "a function of a checkpoint",
    ),
    (
        ValidationConfig,
        {"fn": validate, "task_config": {}},
        TypeError,
        "ValidationConfig.task_config",
        "{} (dict)",
        "ValidationTaskConfig",
    ),
    (
        ValidationConfig,
        {"fn": validate, "ray_remote_kwargs": [1]},
        TypeError,
        "ValidationConfig.ray_remote_kwargs",
        "[1] (list)",
        "num_cpus",
    ),
    (
        ValidationConfig,
        {"fn": validate, "ray_remote_kwargs": {"tpus": 1}},
        ValueError,
        "ValidationConfig.ray_remote_kwargs",
        "'tpus'",
        "max_retries",
    ),
    (
        ValidationConfig,
        {"fn": validate, "ray_remote_kwargs": {"num_cpus": "1"}},
        TypeError,
        "num_cpus",
        "'1' (str)",
        "a number",
    ),
    (
        ValidationConfig,
        {"fn": validate, "ray_remote_kwargs": {"num_cpus": -1}},
        ValueError,
        "CPU",
        "-1",
        "not negative",
    ),
    (
        ValidationConfig,
        {"fn": validate, "ray_remote_kwargs": {"num_gpus": 1.5}},
        ValueError,
        "GPU",
        "1.5",
        "whole number",
    ),
    (
        ValidationConfig,
        {"fn": validate, "ray_remote_kwargs": {"resources": 1}},
        TypeError,
        "resources",
        "1 (int)",
        "a dict",
    ),
    (
        ValidationConfig,
        {"fn": validate, "ray_remote_kwargs": {"max_retries": -1}},
        ValueError,
        "max_retries",
        "-1",
        "from 0 to 100",
    ),
    (
        ValidationConfig,
        {"fn": validate, "ray_remote_kwargs": {"accelerator_type": 1}},
        TypeError,
        "accelerator_type",
        "1 (int)",
        "a type of GPUs",
    ),
    (
        ValidationConfig,
        {"fn": lambda checkpoint, *, split: {}, "task_config": ValidationTaskConfig(fn_kwargs={"spilt": 1})},
        ValueError,
        "ValidationTaskConfig.fn_kwargs",
        "'spilt'",
        "split",
    ),
    (
        ValidationConfig,
        {"fn": lambda checkpoint: {}, "task_config": ValidationTaskConfig(fn_kwargs={"checkpoint": 1})},
        ValueError,
        "ValidationTaskConfig.fn_kwargs",
        "'checkpoint'",
        "the checkpoint alone",
    ),
    (
        ValidationConfig,
        {"fn": validate, "max_concurrent": 0},
        ValueError,
        "ValidationConfig.max_concurrent",
        "0",
        "from 1",
    ),
    (
        ValidationConfig,
        {"fn": validate, "max_concurrent": True},
        TypeError,
        "ValidationConfig.max_concurrent",
        "True (bool)",
        "at least 1",
    ),
    (ValidationConfig, {"fn": validate, "order": "random"}, ValueError, "ValidationConfig.order", "random", "newest"),
    (ValidationConfig, {"fn": validate, "order": 1}, TypeError, "ValidationConfig.order", "1 (int)", "newest"),
    (ValidationTaskConfig, {"fn_kwargs": [1]}, TypeError, "ValidationTaskConfig.fn_kwargs", "[1] (list)", "a dict"),
    (
        ValidationTaskConfig,
        {"fn_kwargs": {1: "x"}},
        TypeError,
        "a name in ValidationTaskConfig.fn_kwargs",
        "1 (int)",
        "names of arguments",
    ),
    (ValidationTaskConfig, {"timeout_s": 0}, ValueError, "ValidationTaskConfig.timeout_s", "0", "above 0"),
    (ValidationTaskConfig, {"timeout_s": NAN}, ValueError, "ValidationTaskConfig.timeout_s", "nan", "above 0"),
    (ValidationTaskConfig, {"timeout_s": "5"}, TypeError, "ValidationTaskConfig.timeout_s", "'5' (str)", "above 0"),
]


@pytest.mark.parametrize(("call", "arguments", "kind", "argument", "given", "allowed"), CASES)
def test_a_bad_argument_is_refused_by_name(call, arguments, kind, argument, given, allowed):
    headway.shutdown()
    with pytest.raises(kind) as caught:
        call(**arguments)
    assert_refused(caught, argument, given, allowed)

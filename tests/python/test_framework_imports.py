"""Which frameworks a worker factory imports because the training function imports them."""

import functools
import json
import os
import subprocess
import sys
import types

import numpy
import pytest
from headway._runtime.needed_modules import needed_modules


def imports_frameworks():
    from xml import dom

    import sklearn
    import sklearn.tree as trees
    import transformers as t
    from torch.utils import data

    def inner(text):
        from diffusers import UNet2DModel

        t.set_seed(sklearn.seed)
        return UNet2DModel, dom.minidom, text.Trainer

    return inner, lambda: t.Trainer(trees, data)


def calls_it():
    return imports_frameworks()


@pytest.mark.parametrize("function", [imports_frameworks, calls_it, functools.partial(calls_it)])
def test_frameworks_that_a_function_imports_are_needed_though_the_driver_has_not_imported_them(monkeypatch, function):
    from headway._runtime import needed_modules as needed

    monkeypatch.setattr(needed, "_can_be_imported", lambda package: True)
    monkeypatch.setattr(needed, "_is_installed", lambda module: False)
    assert needed_modules(function) == [
        "accelerate",
        "deepspeed",
        "deepspeed.runtime.zero.muon.muon_optimizer",
        "diffusers",
        "diffusers:UNet2DModel",
        "sklearn",
        "sklearn.tree",
        "sklearn.tree:tree",
        "torch.utils",
        "torch.utils:data",
        "transformers",
        "transformers:Trainer",
        "transformers:set_seed",
    ]
    monkeypatch.setattr(needed, "_can_be_imported", lambda package: package == "sklearn")
    assert needed_modules(function) == ["sklearn", "sklearn.tree", "sklearn.tree:tree"]


def imports_under_conditions(config):
    if not config:
        return None
    import sklearn

    if config["kind"] == "torch" and config["size"]:
        import torch
        from torch.utils import (
            data,
        )
    else:
        import lightning
    while config["times"]:
        import deepspeed
    try:
        from torchvision import io
    except ImportError:
        import lightgbm
    match config["model"]:
        case "large":
            import accelerate
    for _ in range(config["times"]):
        import xgboost

        if config["save"]:
            import torchmetrics
    return sklearn, torch, data, lightning, deepspeed, io, lightgbm, accelerate, xgboost, torchmetrics


def ends_with_a_condition(config):
    import sklearn  # noqa: F401

    if config:
        import transformers

        transformers.Trainer(config)
    else:
        import lightning  # noqa: F401


@pytest.mark.parametrize(
    ("function", "certain"),
    [
        (imports_under_conditions, ["sklearn", "torchvision", "torchvision:io", "xgboost"]),
        (ends_with_a_condition, ["sklearn"]),
    ],
)
def test_what_a_function_imports_under_a_condition_is_left_to_it(monkeypatch, function, certain):
    from headway._runtime import needed_modules as needed

    monkeypatch.setattr(needed, "_can_be_imported", lambda package: True)
    monkeypatch.setattr(needed, "_is_installed", lambda module: False)
    assert needed_modules(function) == certain


def sets_a_variable():
    os.environ["A"] = "1"
    return imports_frameworks()


def sets_a_variable_within():
    def inner():
        from os import putenv

        putenv("A", "1")

    return inner, calls_it(), numpy


def changes_variables_in_a_helper():
    return sets_a_variable(), imports_frameworks()


@pytest.mark.parametrize("function", [sets_a_variable, sets_a_variable_within, changes_variables_in_a_helper])
def test_a_function_that_sets_variables_imports_frameworks_itself(monkeypatch, function):
    """Some are read when a framework is imported."""
    from headway._runtime import needed_modules as needed

    monkeypatch.setattr(needed, "_can_be_imported", lambda package: True)
    needs = needed_modules(function)
    assert [name for name in needs if name not in sys.modules] == []
    assert ("numpy" in needs) == (function is sets_a_variable_within), "which this process has imported"


def test_a_function_that_only_reads_variables_has_its_frameworks_imported_for_it(monkeypatch):
    from headway._runtime import needed_modules as needed

    def reads():
        import transformers

        def inner():
            return {**os.environ, "B": "1"}, "A" in os.environ

        return transformers, os.environ["A"], os.environ.get("A"), os.getenv("A"), inner, set(os.environ.items())

    monkeypatch.setattr(needed, "_can_be_imported", lambda package: True)
    assert "transformers" in needed_modules(reads)


@pytest.mark.parametrize(
    "change",
    [
        "os.environ.update(A='1')",
        "os.environ.setdefault('A', '1')",
        "os.environ['A'] += '1'",
        "configure(os.environ)",
        "[os.putenv(name, '1') for name in 'ABC']",
        "monkeypatch.setenv('A', '1')",
        "lambda: os.environ",
        "os.environ['MASTER_PORT'] += '1'",
        "os.environ[name] = '1'",
        "os.environ.setdefault(name, 'NCCL_DEBUG')",
        "os.environ['NCCL_DEBUG'] = 'INFO'; os.environ['OMP_NUM_THREADS'] = '1'",
        "os.environ['NCCL_DEBUG'] = os.environ",
    ],
)
def test_a_function_that_may_set_variables_is_known(change):
    from headway._runtime.framework_imports import may_set_variables

    assert may_set_variables(compile(change, "loop.py", "exec"))


@pytest.mark.parametrize(
    "change",
    [
        "os.environ['TOKENIZERS_PARALLELISM'] = 'false'",
        "os.environ.setdefault('ACCELERATE_USE_CPU', 'true')",
        "del os.environ['MASTER_ADDR']",
        "os.environ.pop('NCCL_DEBUG', None)",
        "def inner():\n  os.environ['WANDB_PROJECT'] = name",
    ],
)
def test_a_function_that_sets_what_is_read_later_has_its_frameworks_imported_for_it(change):
    from headway._runtime.framework_imports import may_set_variables

    assert not may_set_variables(compile(change, "loop.py", "exec"))


IMPORTS_ALL = """
import importlib, importlib.util, json, os, sys
read, get = set(), os._Environ.__getitem__

def __getitem__(self, name):
    read.add(name)
    return get(self, name)

os._Environ.__getitem__ = __getitem__
names = [name for name in json.loads(sys.argv[1]) if importlib.util.find_spec(name.partition(".")[0])]
for name in names:
    importlib.import_module(name)
print(json.dumps([names, sorted(read)]))
"""


def test_no_framework_reads_those_when_it_is_imported():
    from headway._runtime.framework_imports import FRAMEWORKS, READ_LATER

    modules = json.dumps(sorted({*FRAMEWORKS, "torch.distributed", "transformers.trainer", "lightning.pytorch"}))
    done = subprocess.run([sys.executable, "-c", IMPORTS_ALL, modules], stdout=subprocess.PIPE, check=True)
    imported, read = json.loads(done.stdout.splitlines()[-1])
    assert {"accelerate", "torch", "transformers"} <= set(imported)
    assert "LOCAL_RANK" in read, "what is read is seen"
    assert READ_LATER.isdisjoint(read)


# Text, as this file is in no package.
RELATIVE_IMPORTS = """
def relative_imports():
    from ..torch.utils import data
    from . import transformers as near
    from .diffusers import UNet2DModel

    return near.Trainer, UNet2DModel, data
"""


def test_modules_beside_the_script_are_no_frameworks_whatever_their_names(monkeypatch):
    from headway._runtime import needed_modules as needed

    monkeypatch.setattr(needed, "_can_be_imported", lambda package: True)
    monkeypatch.setattr(needed, "_is_installed", lambda module: not module.startswith("."))
    defined = {}
    exec(RELATIVE_IMPORTS, defined)
    assert needed_modules(defined["relative_imports"]) == []


def test_a_lazy_package_of_the_script_is_asked_for_what_the_function_uses_of_it(monkeypatch):
    from headway._runtime import needed_modules as needed

    monkeypatch.setattr(needed, "_can_be_imported", lambda package: True)
    package = types.ModuleType("transformers")

    def loop():
        return package.Trainer(), package

    assert "transformers:Trainer" in needed_modules(loop)

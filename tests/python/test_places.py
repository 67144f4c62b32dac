"""Modules without a file: older and longer names of modules, and what pickles of earlier versions
name.
"""

import importlib
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import PACKAGES
from headway import train, tune
from headway._places.table import PLACES
from headway.train.torch import TorchCheckpoint, TorchConfig

PICKLES = Path(__file__).parents[1] / "fixtures" / "pickles"


@pytest.mark.parametrize("place", PLACES)
def test_a_place_has_what_its_row_says(place):
    module = importlib.import_module(place)
    assert module.__name__ == place
    assert module.__doc__
    for source, names in PLACES[place].names.items():
        for name in names.split():
            own, _, other = name.partition("=")
            assert getattr(module, other or own) is getattr(importlib.import_module(source), own)
            assert (other or own) in module.__all__


def _python(*arguments, cwd=None):
    done = subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, "PYTHONPATH": PACKAGES},
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


IMPORTS = """
import headway.train.v2.api.config
import headway.train.v2.torch.train_loop_utils as utils
from headway.air import session
from headway.train import v2
from headway.tune.logger.csv import CSVLoggerCallback
from headway.tune.stopper import *

print(headway.train.v2.api.config.RunConfig is headway.train.RunConfig, v2.api.config.__name__, TimeoutStopper.__name__)
"""


@pytest.mark.parametrize("way", ["file", "-c", "-m"])
def test_every_way_to_import_one(way, tmp_path):
    (tmp_path / "imports.py").write_text(IMPORTS)
    arguments = {"file": ["imports.py"], "-c": ["-c", IMPORTS], "-m": ["-m", "imports"]}[way]
    assert _python(*arguments, cwd=tmp_path) == (0, "True headway.train.v2.api.config TimeoutStopper\n")


def test_one_can_be_run_itself_as_a_module_with_a_file_can():
    assert _python("-m", "headway.train.v2.api.config") == (0, "")


def test_importing_headway_brings_none_of_them():
    code = (
        "import sys, headway.train; from headway._places.table import PLACES; print(PLACES.keys() & sys.modules.keys())"
    )
    assert _python("-c", code) == (0, "set()\n")


def test_folders_that_an_earlier_version_left_behind_are_in_nobody_s_way(tmp_path):
    code = """
import headway, os, sys
left = os.path.join(sys.argv[1], "air", "__pycache__")
os.makedirs(left)
headway.__path__.append(sys.argv[1])
import headway.air
print(headway.air.session.__name__)
"""
    assert _python("-c", code, str(tmp_path)) == (0, "headway.air.session\n")


def test_a_name_that_is_in_no_row_is_told_as_ever():
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'headway\.train\.v2\.api\.nothing'"):
        importlib.import_module("headway.train.v2.api.nothing")
    with pytest.raises(ImportError, match=r"cannot import name 'Nothing' from 'headway\.air\.config'"):
        from headway.air.config import Nothing  # noqa: F401


def test_workers_and_processes_that_they_start_have_them(fit):
    def loop():
        import headway.train.v2.api.train_fn_utils as functions
        from headway.air import session

        code = "import headway.train.v2.api.result as r; print(r.Result.__name__)"
        below = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        functions.report({"rank": session.get_world_rank()})
        return below.stdout

    assert fit(loop).return_value == "Result\n"


def test_they_have_their_places_below_ray_as_well():
    code = """
import headway
headway.as_ray()
import ray.train.v2.api.config
from ray.air import session
from ray.tune.stopper import TimeoutStopper
import headway.air, headway.tune
print(ray.train.v2.api.config is headway.train.v2.api.config, session is headway.air.session,
      TimeoutStopper is headway.tune.TimeoutStopper)
"""
    assert _python("-c", code) == (0, "True True True\n")


KEPT = {
    "checkpoint": train.Checkpoint("/somewhere/checkpoint_000001"),
    "torch_checkpoint": TorchCheckpoint("/somewhere/checkpoint_000002"),
    "scaling_config": train.ScalingConfig(num_workers=2),
    "torch_config": TorchConfig(backend="gloo"),
    "validation": train.ValidationTaskConfig(fn_kwargs={"split": "test"}),
    "status": train.ReportedCheckpointStatus.COMMITTED,
}


@pytest.mark.parametrize("name", KEPT)
def test_what_an_earlier_version_pickled_is_the_same_here(name):
    loaded = pickle.loads((PICKLES / f"{name}.pkl").read_bytes())
    assert type(loaded) is type(KEPT[name])
    assert loaded == KEPT[name]


def test_a_configuration_that_an_earlier_version_pickled_has_its_callbacks():
    config = pickle.loads((PICKLES / "run_config.pkl").read_bytes())
    assert (config.name, config.failure_config.max_failures) == ("pickled", 2)
    quiet, losses, csv, hears_reports, older = config.callbacks
    assert [type(each).__name__ for each in (quiet, losses)] == ["Quiet", "Losses"]
    assert isinstance(losses, tune.LoggerCallback)
    assert type(csv) is tune.CSVLoggerCallback
    assert type(hears_reports) is train.UserCallback
    assert type(older) is tune.Callback
    assert type(config.stop) is tune.MaximumIterationStopper
    assert type(config.progress_reporter) is tune.CLIReporter


def test_failures_that_an_earlier_version_pickled_have_their_words():
    failure = pickle.loads((PICKLES / "failure.pkl").read_bytes())
    assert type(failure) is train.WorkerGroupError
    assert (str(failure), failure.worker_failures[1].args) == ("rank 1: killed", ("killed",))
    preemption = pickle.loads((PICKLES / "preemption.pkl").read_bytes())
    assert preemption.preemption_info == train.PreemptionInfo(None, {"node-2": [1, 3]})
    assert type(pickle.loads((PICKLES / "stopper.pkl").read_bytes())) is tune.TimeoutStopper


def test_classes_are_shown_under_the_names_that_users_import():
    assert repr(tune.TimeoutStopper) == "<class 'headway.tune.TimeoutStopper'>"
    assert repr(train.Checkpoint) == "<class 'headway.train.Checkpoint'>"
    assert repr(train.SessionMisuseError) == "<class 'headway.train.SessionMisuseError'>"
    for module in (train, tune):
        for name in module.__all__:
            shown = getattr(getattr(module, name), "__module__", module.__name__)
            of_both = getattr(train, name, None) is getattr(module, name)
            assert shown == (train.__name__ if of_both else module.__name__), name

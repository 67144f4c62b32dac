"""Helpers for trials and for nested dicts, under the names that code for Ray Tune imports."""

import importlib
import os
import subprocess
import sys
import threading

import pytest
from headway import train, tune
from headway.tune import logger, utils
from headway.tune.context import get_context
from headway.tune.execution import placement_groups
from headway.tune.utils import log
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


NAMES = {
    "search.ax.ax_search": "AxSearch",
    "search.bayesopt.bayesopt_search": "BayesOptSearch",
    "search.bohb.bohb_search": "TuneBOHB",
    "search.hebo.hebo_search": "HEBOSearch",
    "search.hyperopt.hyperopt_search": "HyperOptSearch",
    "search.nevergrad.nevergrad_search": "NevergradSearch",
    "search.optuna.optuna_search": "OptunaSearch",
    "search.zoopt.zoopt_search": "ZOOptSearch",
    "stopper.experiment_plateau": "ExperimentPlateauStopper",
    "stopper.function_stopper": "FunctionStopper",
    "stopper.maximum_iteration": "MaximumIterationStopper",
    "stopper.noop": "NoopStopper",
    "stopper.stopper": "CombinedStopper",
    "stopper.timeout": "TimeoutStopper",
    "stopper.trial_plateau": "TrialPlateauStopper",
    "logger.logger": "LoggerCallback",
    "logger.wandb": "WandbLoggerCallback",
    "trainable.trainable": "Trainable",
    "execution.placement_groups": "PlacementGroupFactory",
    "syncer": "SyncConfig",
}


@pytest.mark.parametrize(("module", "name"), NAMES.items())
def test_a_longer_name_is_the_same_class_under_both_packages(module, name):
    of_headway = getattr(importlib.import_module(f"headway.tune.{module}"), name)
    shorter = module.rpartition(".")[0]
    if shorter in ("stopper", "trainable") or shorter.startswith("search."):
        assert of_headway is getattr(importlib.import_module(f"headway.tune.{shorter}"), name)
    command = f"import headway; headway.as_ray(); from ray.tune.{module} import {name}; print({name}.__name__)"
    shown = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, timeout=60, check=False)
    assert shown.stdout == f"{name}\n", shown.stderr


def test_what_cannot_be_sent_is_named(capsys):
    lock, number = threading.Lock(), 3

    def trial(config):
        with lock:
            return {"loss": number}

    class Kind(tune.Trainable):
        def step(self):
            with lock:
                return {"loss": number}

    assert utils.diagnose_serialization(trial) == {"lock"}
    assert "the variable 'lock' cannot be pickled: make it inside" in capsys.readouterr().out
    assert utils.diagnose_serialization(Kind) == {"lock"}
    assert utils.diagnose_serialization(lambda config: {"loss": number}) is True


class Counter(tune.Trainable):
    """Counts, and says so in its checkpoint."""

    def setup(self, config):
        self.count = 0

    def step(self):
        self.count += 1
        return {"count": self.count}

    def save_checkpoint(self, directory):
        return {"count": self.count}

    def load_checkpoint(self, checkpoint):
        self.count = checkpoint["count"]


def test_a_class_that_resumes_is_told_from_one_that_does_not():
    class Raises(Counter):
        def load_checkpoint(self, checkpoint):
            raise ValueError("it cannot")

    class SavesNothing(tune.Trainable):
        def step(self):
            return {"count": 1}

    class Forgets(Counter):
        def load_checkpoint(self, checkpoint):
            self.iteration = 0

    assert utils.validate_save_restore(Counter, {"anything": 1})
    with pytest.raises(train.WorkerGroupError, match="it cannot"):
        utils.validate_save_restore(Raises)
    with pytest.raises(train.WorkerGroupError, match="SavesNothing has no save_checkpoint"):
        utils.validate_save_restore(SavesNothing)
    with pytest.raises(AssertionError, match=r"saved after step 3, and its next steps are \[1, 2, 3, 4, 5\] where it"):
        utils.validate_save_restore(Forgets)


def test_what_is_slow_is_said_once(capfd):
    with utils.warn_if_slow("waiting", threshold=1e-9) as watch:
        pass
    with utils.warn_if_slow("waiting", threshold=1e-9, disable=True):
        pass
    with utils.warn_if_slow("waiting", threshold=60):
        pass
    assert watch.too_slow
    assert capfd.readouterr().err.count("waiting took 0.000 s") == 1


def nvidia_smi(tmp_path, monkeypatch, *answers):
    """A program of that name, which gives each answer once and the last one for ever."""
    for place, answer in enumerate(answers):
        (tmp_path / f"answer{place}").write_text(answer)
    program = tmp_path / "nvidia-smi"
    program.write_text(f"#!/bin/sh\ncd {tmp_path}\nset -- answer*\ncat $1\n[ $# -eq 1 ] || rm $1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")


FULL = "0, GPU-a, 35, 40960, 81920\n1, GPU-b, [N/A], 10, 81920\n"
FREE = "0, GPU-a, 0, 2, 81920\n1, GPU-b, 0, 10, 81920\n"


def test_a_gpu_is_waited_for_until_its_memory_is_free(tmp_path, monkeypatch, capfd):
    nvidia_smi(tmp_path, monkeypatch, FULL, FREE)
    assert utils.wait_for_gpu("GPU-a", delay_s=0)
    assert "waiting for the memory of GPU GPU-a: 50% of it is in use" in capfd.readouterr().err
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1,0")
    assert utils.wait_for_gpu(retry=1)
    with pytest.raises(ValueError, match=r"gpu_id is '7'; allowed: 0 \(GPU-a\), 1 \(GPU-b\)"):
        utils.wait_for_gpu(7)


def test_a_gpu_that_does_not_get_free_is_an_error(tmp_path, monkeypatch):
    nvidia_smi(tmp_path, monkeypatch, FULL)
    with pytest.raises(RuntimeError, match="50% of the memory of GPU 0 is in use after 2 looks"):
        utils.wait_for_gpu(0, retry=2, delay_s=0)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    with pytest.raises(RuntimeError, match="this process has no GPU to wait for"):
        utils.wait_for_gpu()
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    with pytest.raises(RuntimeError, match="nvidia-smi, which shows what GPUs are doing, failed"):
        utils.wait_for_gpu(0)


def test_the_machines_use_is_metrics_for_a_report(tmp_path, monkeypatch):
    nvidia_smi(tmp_path, monkeypatch, FULL)
    monitor = utils.UtilMonitor(delay=0.01)
    seen = {}
    while "gpu_util_percent0" not in seen:
        seen |= monitor.get_data().get("perf", {})
    monitor.stop()
    monitor.join()
    assert monitor.get_data() == {}
    assert seen["gpu_util_percent0"] == pytest.approx(0.35)
    assert seen["vram_util_percent0"] == pytest.approx(0.5)
    assert 0 < seen["ram_util_percent"] < 100


def test_levels_of_what_is_shown_are_numbers_too():
    assert log.has_verbosity(3)
    log.set_verbosity(log.Verbosity.V1_EXPERIMENT)
    try:
        assert log.has_verbosity(1)
        assert not log.has_verbosity(log.Verbosity.V2_TRIAL_NORM)
    finally:
        log.set_verbosity(3)
    assert tune.RunConfig(verbose=log.Verbosity.V2_TRIAL_NORM).verbose == 2


def test_a_result_is_printed_in_lines():
    result = {"loss": 0.5, "perf": {"cpu": 3, "none": None}, "config": {"x": 1}, "curve": [1, 2, 3, 4], "pair": [1, 2]}
    lines = "curve:\n- 1\n- 2\n- 3\n- 4\nloss: 0.5\npair: [1, 2]\nperf:\n  cpu: 3"
    assert logger.pretty_print(result) == lines
    assert logger.pretty_print(result, exclude=["curve", "perf"]) == "loss: 0.5\npair: [1, 2]"


def test_a_dict_of_resources_is_a_bundle():
    bundle = placement_groups.resource_dict_to_pg_factory({"cpu": 2, "custom_resources": {"disk": 1}})
    assert bundle.required_resources == {"CPU": 2.0, "disk": 1.0}
    assert placement_groups.resource_dict_to_pg_factory().required_resources == {"CPU": 1.0}

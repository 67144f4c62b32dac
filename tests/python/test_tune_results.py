"""What of an experiment's results is found again from its folder, and what a restored tuner has."""

import os
import re
import tempfile
from pathlib import Path

import pytest
from headway import train, tune


def two_metrics(config):
    tune.report({"loss": config["x"], "accuracy": 1 - config["x"], "well": config["x"] < 1})


def test_any_metric_of_an_experiment_that_another_driver_ran(tmp_path):
    analysis = tune.run(two_metrics, config={"x": tune.grid_search([3, 1, 2])}, storage_path=tmp_path, verbose=0)
    assert analysis.get_best_config(metric="loss", mode="min") == {"x": 1}
    grid = tune.Tuner.restore(analysis.experiment_path, two_metrics).fit()
    assert grid.get_best_result("accuracy", "max").config == {"x": 1}
    with pytest.raises(ValueError, match='mode is \'minimum\'; allowed: "min" or "max"'):
        grid.get_dataframe("loss", "minimum")


def test_a_restored_tuner_has_its_environment_but_for_variables(tmp_path, hears):
    tuner = tune.Tuner(
        two_metrics,
        param_space={"x": 1},
        run_config=train.RunConfig(
            name="sweep",
            storage_path=tmp_path,
            verbose=0,
            worker_runtime_env={"working_dir": str(tmp_path), "env_vars": {"TOKEN": "1234", "A": "b"}},
        ),
    )
    path = tuner.fit().experiment_path
    heard = hears("trials go on without A, TOKEN")
    restored = tune.Tuner.restore(path, two_metrics)
    assert heard
    assert restored._run_config.worker_runtime_env == {"working_dir": str(tmp_path)}
    assert b"1234" not in (tmp_path / "sweep" / "tuner.pkl").read_bytes()


class CannotBeLoaded(tune.Callback):
    def __reduce__(self):
        return os.stat, ("/nowhere",)


class CannotBePickled(tune.Callback):
    def __reduce__(self):
        raise TypeError("it has a lock")


def test_each_restored_tuner_says_what_is_left_out(tmp_path, hears):
    tuner = tune.Tuner(
        two_metrics,
        param_space={"x": 1},
        run_config=train.RunConfig(
            name="sweep",
            storage_path=tmp_path,
            verbose=0,
            callbacks=[CannotBePickled(), tune.Callback(), CannotBeLoaded()],
            worker_runtime_env={"env_vars": {"TOKEN": "1234"}},
        ),
    )
    path = tuner.fit().experiment_path
    for _ in range(2):
        ear = hears("without TOKEN")
        restored = tune.Tuner.restore(path, two_metrics)
        for words in ("without TOKEN", "callbacks[0] of the experiment", "callbacks[2] of the experiment"):
            assert words in ear.heard
        assert len(restored._run_config.callbacks) == 1
        restored.fit()


def test_booleans_compare_as_numbers(tmp_path):
    analysis = tune.run(two_metrics, config={"x": tune.grid_search([3, 0])}, storage_path=tmp_path, verbose=0)
    assert analysis.get_best_config(metric="well", mode="max") == {"x": 0}


class Steps(tune.Trainable):
    def step(self):
        return {"loss": 1.0, "done": True}

    def save_checkpoint(self, checkpoint_dir):
        return self.config["give"](checkpoint_dir)


class StepsToNothing(Steps):
    def step(self):
        pass


def other_file(folder):
    other = Path(tempfile.mkdtemp()) / "model"
    other.write_text("a model")
    return str(other)


def other_folder(folder):
    return Path(other_file(folder)).parent


def number(folder):
    return 3


def run_once(trainable, storage, **config):
    keep = train.CheckpointConfig(checkpoint_at_end=isinstance(trainable, type))
    settings = train.RunConfig(storage_path=storage, verbose=0, checkpoint_config=keep)
    (result,) = tune.Tuner(trainable, param_space=config, run_config=settings).fit()
    return result


@pytest.mark.parametrize("give", [other_file, other_folder])
def test_files_that_a_class_gives_are_its_checkpoint(tmp_path, give):
    result = run_once(Steps, tmp_path, give=give)
    assert result.error is None
    with result.checkpoint.as_directory() as folder:
        assert (Path(folder) / "model").read_text() == "a model"


@pytest.mark.parametrize(
    ("trainable", "give", "words"),
    [
        (StepsToNothing, None, r"what StepsToNothing\.step\(\) returns is None"),
        (Steps, number, r"what Steps\.save_checkpoint\(\) returns is 3"),
        (lambda config: "good", None, "what the training function returns or yields is 'good'"),
    ],
)
def test_what_is_no_result_is_named(tmp_path, trainable, give, words):
    error = run_once(trainable, tmp_path, give=give).error
    assert isinstance(error, TypeError)
    assert re.search(words, str(error))

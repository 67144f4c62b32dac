"""What of an experiment's results is found again from its folder, and what a restored tuner has."""

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

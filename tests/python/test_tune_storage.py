"""Experiments in remote storage: S3, and filesystems of Python."""

import csv
import json
from pathlib import Path

import object_store
import pytest
from headway import train, tune
from headway._command.main import main
from headway._storage import locations
from headway.tune._experiment.folder import ExperimentFolder
from headway.tune.schedulers import PopulationBasedTraining


@pytest.fixture(scope="module")
def s3():
    with object_store.serve() as store:
        yield store


@pytest.fixture
def credentials(monkeypatch):
    for name, value in object_store.CREDENTIALS.items():
        monkeypatch.setenv(name, value)


def trial(config):
    checkpoint = tune.get_checkpoint()
    begin = 0 if checkpoint is None else checkpoint.to_dict()["step"] + 1
    for step in range(begin, 3):
        checkpoint = train.Checkpoint.from_dict({"step": step}) if step == 1 else None
        tune.report({"loss": config["x"] + step, "begin": begin}, checkpoint=checkpoint)
        if config["x"] == 2 and begin == 0 and step == 1:
            raise LookupError("once")


def tuner_of(**run_config):
    return tune.Tuner(
        trial,
        param_space={"x": tune.grid_search([1, 2])},
        tune_config=tune.TuneConfig("loss", "min"),
        run_config=train.RunConfig(verbose=0, **run_config),
    )


def test_an_experiment_in_s3_is_read_and_restored_by_its_url(s3, credentials):
    url = s3.url("runs")
    grid = tuner_of(name="sweep", storage_path=url).fit()
    assert (grid.num_terminated, grid.num_errors) == (1, 1)
    assert grid.experiment_path == "runs/sweep"
    there = s3.objects("runs/sweep")
    assert {"experiment.journal", "tuner.pkl"} <= set(there)
    assert sum(name.endswith("params.pkl") for name in there) == 2
    path = s3.url("runs/sweep")
    assert tune.Tuner.can_restore(path)
    assert not tune.Tuner.can_restore(s3.url("runs/other"))
    analysis = tune.ExperimentAnalysis(path, default_metric="loss", default_mode="min")
    assert analysis.best_config == {"x": 1}
    again = tune.Tuner.restore(path, trial, resume_errored=True).fit()
    assert [(each.config["x"], each.metrics["begin"], each.metrics["loss"]) for each in again] == [(1, 0, 3), (2, 2, 4)]
    assert again[1].checkpoint.to_dict() == {"step": 1}


def test_an_experiment_in_s3_on_the_command_line(s3, credentials, capfd, tmp_path):
    storage, url = s3.url("runs/listed"), s3.url("runs/listed/sweep")
    tuner_of(name="sweep", storage_path=storage).fit()

    def shown(*arguments, code=0):
        capfd.readouterr()
        assert main(["tune", *map(str, arguments)]) == code
        output = capfd.readouterr()
        return output.err if code else output.out

    assert shown("ls", storage).splitlines()[1].split()[:4] == ["sweep", "2", "2", "1"]
    assert shown("ls", s3.url("runs/nothing")).startswith("no experiments in s3://runs/nothing")
    table = shown("show", url)
    assert table.startswith("sweep: 2 trials (1 terminated, 1 errored)")
    assert "LookupError: once" in table
    best = json.loads(shown("best", url, "--json"))
    assert (best["config"], best["metrics"]["loss"]) == ({"x": 1}, 3)
    assert best["checkpoint"].startswith("s3://runs/listed/sweep/trial_")
    shown("export", url, "-o", tmp_path / "all.csv")
    assert [row["config/x"] for row in csv.DictReader((tmp_path / "all.csv").open())] == ["1", "2"]
    assert "there is no experiment in s3://runs/listed/other" in shown("show", s3.url("runs/listed/other"), code=2)


def test_an_experiment_on_a_filesystem_of_python(s3, credentials):
    files = s3.filesystem()
    grid = tuner_of(name="by-filesystem", storage_path="runs", storage_filesystem=files).fit()
    assert grid.experiment_path == "runs/by-filesystem"
    assert grid.filesystem.get_file_info("runs/by-filesystem/tuner.pkl").size > 0
    restored = tune.Tuner.restore("runs/by-filesystem", trial, storage_filesystem=files, resume_errored=True)
    assert restored.get_results().num_errors == 1
    assert restored.fit().num_errors == 0


def test_a_folder_that_was_copied_out_of_s3_is_restored_there(s3, credentials, tmp_path):
    import pyarrow.fs

    tuner_of(name="moves", storage_path=s3.url("runs")).fit()
    moved = tmp_path / "moved"
    pyarrow.fs.copy_files("runs/moves", str(moved), s3.filesystem(), pyarrow.fs.LocalFileSystem())
    grid = tune.Tuner.restore(str(moved), trial, restart_errored=True).fit()
    assert grid.experiment_path == str(moved)
    assert len(grid) == 3


def test_a_storage_that_cannot_be_written_is_said_before_trials_start(s3, credentials):
    with pytest.raises(OSError, match="no-such-bucket"):
        tuner_of(name="sweep", storage_path=s3.url("no-such-bucket")).fit()


def climb(config):
    checkpoint = tune.get_checkpoint()
    state = checkpoint.to_dict() if checkpoint else {"step": 0, "value": 0.0}
    for step in range(state["step"] + 1, 5):
        state = {"step": step, "value": state["value"] + config["rate"]}
        tune.report({**state, "rate": config["rate"]}, checkpoint=train.Checkpoint.from_dict(state))


def test_a_trial_in_s3_goes_on_from_the_checkpoint_of_a_better_one(s3, credentials):
    """The donor keeps its newest checkpoint alone, and the one that was copied until then."""
    scheduler = PopulationBasedTraining(
        "training_iteration", perturbation_interval=2, quantile_fraction=0.5, hyperparam_mutations={"rate": [10]}
    )
    tuner = tune.Tuner(
        climb,
        param_space={"rate": tune.grid_search([1, 100])},
        tune_config=tune.TuneConfig("value", "max", scheduler=scheduler, max_concurrent_trials=1),
        run_config=train.RunConfig(
            name="population",
            storage_path=s3.url("runs"),
            checkpoint_config=train.CheckpointConfig(num_to_keep=1),
            verbose=0,
        ),
    )
    grid = tuner.fit()
    assert not grid.errors
    lines = grid[0].metrics_dataframe
    assert lines["step"].tolist() == [1, 2, 3, 4, 3, 4]
    assert lines["value"].tolist() == [1, 2, 3, 4, 210, 220], "it continued from the other trial's value"
    there = s3.objects("runs/population")
    manifests = [name for name in there if name.endswith("/.headway.json")]
    assert len(manifests) <= 3, "one of each trial, and a donor's last one"
    assert "pbt_global.txt" in there


def test_what_a_killed_driver_had_not_copied_is_still_there(s3, credentials):
    """Its journal goes on where the stored one ends; any other journal is not this experiment's."""
    location = locations.location_of(s3.url("runs/killed"))
    folder = ExperimentFolder(location)
    folder.begin()
    journal = Path(folder.local) / "experiment.journal"
    journal.write_text("one\n")
    folder.start()
    folder._ends.set()
    folder._thread.join()
    journal.write_text("one\ntwo\n")
    again = ExperimentFolder(location)
    again.begin()
    assert journal.read_text() == "one\ntwo\n"
    locations.replace_file(locations.join(location, "experiment.journal"), b"another\n")
    again.fetch()
    assert journal.read_text() == "another\n"
    again.start()
    again.close()
    assert not journal.exists(), "it is stored"
    assert s3.objects("runs/killed") == ["experiment.journal"]

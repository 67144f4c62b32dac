"""A C++ program whose run lies in an object store, without Python's storage code."""

import os
import subprocess
from pathlib import Path

import object_store
import pyarrow
import pytest

EXAMPLES = Path(os.environ.get("HEADWAY_TEST_EXAMPLES", Path(__file__).parents[2] / "build/tests/examples"))
PROGRAM = EXAMPLES / "example_s3"


@pytest.fixture(scope="module")
def s3():
    with object_store.serve() as store:
        yield store


def run(s3, tmp_path, **env):
    return subprocess.run(
        [PROGRAM, s3.url("runs/cpp")],
        env={
            **os.environ,
            **object_store.CREDENTIALS,
            "HEADWAY_PYARROW": pyarrow.__path__[0],
            "HEADWAY_STAGING_DIR": str(tmp_path / "staging"),
            "TMPDIR": str(tmp_path),
            **env,
        },
        capture_output=True,
        text=True,
        timeout=110,
    )


def test_a_run_in_s3_is_written_verified_and_read_back(s3, tmp_path):
    done = run(s3, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "part_0 of rank 0: 0x1.6a09e" in done.stdout
    assert "part_1 of rank 1: 0x1.6a09e" in done.stdout
    assert "The copy of part_0: 0x1.6a09e" in done.stdout
    downloads = tmp_path / f"headway-{os.geteuid()}" / "downloads"
    assert list(downloads.iterdir()) == [], "the last one who has the copy removes it"
    assert done.stdout.splitlines()[-4:] == ["1.5", "1.41667", "1.41422", "1.41421"]
    files = s3.objects("runs/cpp")
    assert sum(name.endswith("/artifacts/guesses.txt") for name in files) == 1
    kept = sorted({name.split("/")[1] for name in files if "/checkpoint_" in name})
    assert kept == ["checkpoint_000002", "checkpoint_000003"]
    assert any(name.endswith("/result.json") for name in files)
    staging = tmp_path / "staging"
    assert not staging.exists() or list(staging.iterdir()) == []


def test_relative_paths_of_the_environment_mean_what_they_mean_to_the_driver(s3, tmp_path):
    relative = os.path.relpath(pyarrow.__path__[0])
    done = run(s3, tmp_path, HEADWAY_PYARROW=relative)
    assert done.returncode == 0, done.stdout + done.stderr


def test_without_arrow_the_error_says_what_is_missing(s3, tmp_path):
    done = run(s3, tmp_path, HEADWAY_PYARROW=str(tmp_path / "none"))
    assert done.returncode == 1
    assert "URLs need pyarrow" in done.stderr


TUNER = EXAMPLES.parent / "library_test_tuner"


def tune(s3, tmp_path, mode, path, **env):
    return subprocess.run(
        [TUNER, mode, s3.url(path)],
        env={
            **os.environ,
            **object_store.CREDENTIALS,
            "HEADWAY_PYARROW": pyarrow.__path__[0],
            "HEADWAY_STAGING_DIR": str(tmp_path / "staging"),
            **env,
        },
        capture_output=True,
        text=True,
        timeout=110,
    )


def test_an_experiment_in_s3_is_resumed_where_its_driver_was_killed(s3, tmp_path):
    undisturbed = tune(s3, tmp_path, "asha", "runs/whole")
    assert undisturbed.returncode == 0, undisturbed.stdout + undisturbed.stderr
    there = s3.objects("runs/whole/run")
    assert "experiment.journal" in there
    assert sum(name.endswith("/result.json") for name in there) == 16
    assert list((tmp_path / "staging" / "experiments").iterdir()) == [], "what is stored is not kept here"
    killed = tune(s3, tmp_path, "asha", "runs/killed", HEADWAY_FAULT_POINT="experiment.appended:40")
    assert killed.returncode == -9, killed.stdout + killed.stderr
    refused = tune(s3, tmp_path, "asha", "runs/killed")
    assert "has an experiment; give another RunConfig.name, or TunerOptions.resume" in refused.stdout
    resumed = tune(s3, tmp_path, "resumed", "runs/killed")
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    # The trial that was at work begins anew, without a checkpoint.
    configs = [line.partition("} terminated")[0] for line in resumed.stdout.splitlines() if line.startswith("trial ")]
    assert len(configs) == 16
    assert configs == [
        line.partition("} terminated")[0] for line in undisturbed.stdout.splitlines() if line.startswith("trial ")
    ]
    assert len(s3.objects("runs/killed/run")) >= len(there)
    assert list((tmp_path / "staging" / "experiments").iterdir()) == []


def test_storage_that_cannot_be_written_ends_an_experiment_before_its_trials(s3, tmp_path):
    ended = tune(s3, tmp_path, "asha", "no-such-bucket")
    assert ended.returncode == 1
    assert "error unavailable: " in ended.stdout or "error refused: " in ended.stdout, ended.stdout

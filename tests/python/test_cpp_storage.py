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

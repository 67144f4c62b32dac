"""Headway with another pyarrow than it was built with: URLs go through ``pyarrow.fs``."""

import os
import subprocess
import sys
import textwrap

import object_store
import pytest
from headway import _core
from test_remote_storage import LOOP

BUILT = _core.pyarrow_version.partition(".")[0]
# One of the year before, and the oldest that pyproject.toml allows.
OTHERS = ("24.0.0", pytest.param("18.1.0", marks=pytest.mark.heavy))

TRAIN = """
    import pyarrow
    print("pyarrow", pyarrow.__version__)

    def train_in(storage):
        print("storing")
        result = fit({"dies_at": 2, "epochs": 4}, name="run", storage_path=storage, failures=1)
        print(*[result.metrics[name] for name in ("epoch", "start", "attempt")])
        again = train.Result.from_path(result.uri)
        with again.checkpoint.as_directory() as directory:
            print(open(os.path.join(directory, "epoch")).read(), again.checkpoint.filesystem.type_name)
"""
REFUSED = """
    try:
        train.Result.from_path("s3://runs/run?no_such_setting=1&region=us-east-1")
    except ValueError as error:
        print(error)
"""
VERIFY = """
    import sys
    from headway._command.main import main
    main(["checkpoint", "verify", URL])
"""


@pytest.fixture(scope="module", params=OTHERS)
def other(request, tmp_path_factory):
    """A folder with another pyarrow, for PYTHONPATH, and its version."""
    folder = tmp_path_factory.mktemp("pyarrow")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    wheel = ["--no-compile", "--only-binary=:all:", "--target", folder, f"pyarrow=={request.param}"]
    subprocess.run([*command, *wheel], check=True)
    return str(folder), request.param


@pytest.fixture
def s3():
    with object_store.serve() as store:
        yield store


def lines_of(script, **env):
    """What a driver script prints, on both streams."""
    return object_store.run("import os; os.dup2(1, 2)\n" + textwrap.dedent(script), **env).splitlines()


def test_runs_with_another_pyarrow(other, s3, tmp_path):
    """Ranks die and resume, on local storage and in S3; what was stored is read with the other
    pyarrow and with this one.
    """
    folder, version = other
    calls = f"    train_in({str(tmp_path / 'runs')!r})\n    train_in({s3.url('runs')!r})\n"
    staging = tmp_path / "staging"
    lines = lines_of(LOOP + TRAIN + calls + REFUSED, PYTHONPATH=folder, HEADWAY_STAGING_DIR=str(staging))
    notice = (
        f"headway: Headway was built for pyarrow {BUILT}, and {version} is installed: remote storage goes through "
        f"pyarrow.fs; it is faster with pip install 'pyarrow=={BUILT}.*'"
    )
    refused = [line for line in lines if line.startswith("cannot use s3://runs/run")]
    assert len(refused) == 1
    assert "no_such_setting" in refused[0]
    results = ["storing", "3 2 2", "3 local", "3 s3", f"pyarrow {version}"]
    assert [line for line in lines if line in results or "pyarrow.fs" in line] == [
        *(f"pyarrow {version}", "storing", "3 2 2", "3 local"),
        *("storing", notice, "3 2 2", "3 s3"),
    ]
    assert not staging.exists() or os.listdir(staging) == []

    url = s3.url("runs/run/checkpoint_000003")
    verify = f"    URL = {url!r}\n{VERIFY}"
    good = f"good: {url} (3 files, 2.0 kB)"
    assert lines_of(verify, PYTHONPATH=folder) == [notice, good]
    assert lines_of(verify, PYTHONPATH="") == [good]


def test_data_sets_need_the_pyarrow_that_headway_was_built_for(other):
    folder, version = other
    rows = """
    import headway.data
    try:
        headway.data.range(3).take_all()
    except ImportError as error:
        print(error)
    """
    words = f"headway.data was built for pyarrow {BUILT}, and {version} is installed: pip install 'pyarrow=={BUILT}.*'"
    assert lines_of(rows, PYTHONPATH=folder) == [words]

"""C++ programs with data sets where something of the installation is missing."""

import os
import subprocess
from pathlib import Path

import pytest

EXAMPLES = Path(os.environ.get("HEADWAY_TEST_EXAMPLES", Path(__file__).parents[2] / "build/tests/examples"))


@pytest.mark.parametrize("named", [True, False])
def test_libraries_that_the_data_process_lacks_are_named(tmp_path, named):
    """The system's loader looks into this folder first, and finds no library in the file.

    Two ranks share a data process, and either may be the one that reports: the program runs often.
    """
    for library in _names_of_arrow():
        (tmp_path / library).touch()
    place = {"HEADWAY_PYARROW": str(tmp_path)} if named else {"LD_LIBRARY_PATH": str(tmp_path)}
    for _ in range(10):
        _check_what_is_said(tmp_path, place, str(tmp_path) if named else "pyarrow does not have")


def _check_what_is_said(tmp_path, place, which):
    done = subprocess.run(
        [EXAMPLES / "example_data", str(tmp_path / "storage")],
        env={**os.environ, "TMPDIR": str(tmp_path), **place},
        capture_output=True,
        text=True,
        timeout=110,
    )
    said = done.stdout + done.stderr
    assert done.returncode != 0
    assert "headway-data was not loaded: it needs Arrow's libraries, those of pyarrow==" in said
    assert which in said
    assert "HEADWAY_PYARROW names the folder of an installed pyarrow" in said


def _names_of_arrow():
    import pyarrow

    return [Path(each).name for each in Path(pyarrow.__path__[0]).glob("libarrow*.so.*")]

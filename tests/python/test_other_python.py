"""What a Python says that Headway was not built for."""

import pathlib
import shutil
import subprocess
import sys

import headway
import pytest


@pytest.mark.parametrize(
    ("library", "words"),
    [
        ("_core.cpython-39-x86_64-linux-gnu.so", "was built for another Python: it has _core.cpython-39-x86_64-linux"),
        (None, "build it with `make`"),
    ],
)
def test_the_python_of_the_build_is_named(tmp_path, library, words):
    package = tmp_path / "headway"
    (package / "_values").mkdir(parents=True)
    for name in ("__init__.py", "_values/__init__.py", "_values/built_for.py"):
        shutil.copy(pathlib.Path(headway.__file__).parent / name, package / name)
    if library is not None:
        (package / library).touch()
    ended = subprocess.run(
        [sys.executable, "-S", "-c", "import headway"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 1
    assert "ImportError: Headway" in ended.stderr
    assert words in ended.stderr
    assert "No module named" not in ended.stderr
    if library is not None:
        assert sys.executable in ended.stderr

"""The build is configured again when something that a CMake file looks for was installed after the
last time.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def tree(tmp_path):
    """A source tree whose cmake only writes a line for each call, with one set of requirements
    installed.
    """
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "scripts/configure.sh", tmp_path / "scripts")
    (tmp_path / ".venv/bin").mkdir(parents=True)
    cmake = tmp_path / ".venv/bin/cmake"
    cmake.write_text("#!/bin/sh\nmkdir -p build && touch build/build.ninja && echo configured >> calls.txt\n")
    cmake.chmod(0o755)
    (tmp_path / ".venv/.installed").mkdir()
    install(tmp_path, "build", seconds=1000)
    return tmp_path


def install(tree, requirements, seconds):
    """Notes a set of requirements as installed so many seconds after the epoch."""
    file = tree / f".venv/.installed/{requirements}.txt"
    file.touch()
    os.utime(file, (seconds, seconds))


def configure(tree, seconds):
    """How many times cmake has been called, after configuring (again) at so many seconds after the
    epoch.
    """
    before = len((tree / "calls.txt").read_text().splitlines()) if (tree / "calls.txt").exists() else 0
    subprocess.run([tree / "scripts/configure.sh", "build"], check=True)
    after = len((tree / "calls.txt").read_text().splitlines())
    if after > before:
        os.utime(tree / "build/build.ninja", (seconds, seconds))
    return after


def test_a_build_is_configured_once(tree):
    assert configure(tree, seconds=1001) == 1
    assert configure(tree, seconds=1002) == 1


def test_what_is_installed_later_is_looked_for(tree):
    assert configure(tree, seconds=1001) == 1
    install(tree, "torch", seconds=1002)
    assert configure(tree, seconds=1003) == 2
    assert configure(tree, seconds=1004) == 2

"""The environment of the tree has the commands that the wheel installs, and they run the tree's
code.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = re.search(r"^\[project\.scripts\]\n((?:.+\n)+)", (ROOT / "pyproject.toml").read_text(), re.MULTILINE)[1]
COMMANDS = re.findall(r"^([\w-]+) = ", SCRIPTS, re.MULTILINE)


def test_the_wheel_has_two_commands() -> None:
    assert COMMANDS == ["headway", "headway-agent"]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_runs_in_any_folder(command: str, tmp_path: Path) -> None:
    program = Path(sys.executable).parent / command
    # Not what is meant: a command does not import from the current directory.
    (tmp_path / "headway").mkdir()
    (tmp_path / "headway/__init__.py").write_text("raise ImportError('of the current directory')\n")
    done = subprocess.run([program, "--help"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"usage: {command} ")


@pytest.mark.parametrize("folder", ["environment", "an environment", "e" * 200])
def test_the_environment_may_have_any_path(folder: str, tmp_path: Path) -> None:
    """What bootstrap.sh writes, in an environment where python is one that only says how it was
    called.
    """
    tree, venv = tmp_path / "tree", tmp_path / folder
    for name in ("scripts", "requirements"):
        (tree / name).mkdir(parents=True)
    for name in ("scripts/bootstrap.sh", "pyproject.toml"):
        (tree / name).write_bytes((ROOT / name).read_bytes())
        (tree / name).chmod(0o755)
    for name in ("bin", "lib/python3.11/site-packages", ".installed"):
        (venv / name).mkdir(parents=True)
    (venv / ".installed/build.txt").touch()
    (venv / "bin/python").write_text('#!/bin/sh\nfor argument; do echo "$argument"; done\n')
    (venv / "bin/python").chmod(0o755)
    environment = {"PATH": "/usr/bin:/bin", "VENV": str(venv)}
    subprocess.run([tree / "scripts/bootstrap.sh"], env=environment, check=True)
    for command in COMMANDS:
        program = venv / "bin" / command
        assert subprocess.run([program, "a b", "c"], capture_output=True, text=True).stdout.splitlines() == [
            str(program),
            "a b",
            "c",
        ]
        compile(program.read_text(), program, "exec")

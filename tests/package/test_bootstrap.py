"""What scripts/bootstrap.sh installs, and in which order."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
SETS = ("build", "test", "torch", "frameworks", "legacy_keras", "daft")


def test_torch_comes_before_what_would_bring_the_one_with_cuda(tmp_path: Path) -> None:
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "scripts/bootstrap.sh", tmp_path / "scripts")
    shutil.copytree(ROOT / "requirements", tmp_path / "requirements")
    (tmp_path / "venv/.installed").mkdir(parents=True)
    shutil.copy(ROOT / "requirements/build.txt", tmp_path / "venv/.installed")
    (tmp_path / "venv/lib/python3/site-packages").mkdir(parents=True)
    (tmp_path / "pyproject.toml").touch()
    python = tmp_path / "venv/bin/python"
    python.parent.mkdir()
    python.write_text('#!/bin/sh\ncase "$*" in *" pip install "*) echo "$*" >> calls.txt;; esac\n')
    python.chmod(0o755)
    environment = {**os.environ, "VENV": "venv"}
    subprocess.run(["scripts/bootstrap.sh", *SETS], cwd=tmp_path, env=environment, check=True, capture_output=True)

    torch, sets, keras, daft = (tmp_path / "calls.txt").read_text().splitlines()
    assert "installing torch" in torch
    assert "-r requirements/test.txt -r requirements/frameworks.txt" in sets
    assert "--no-deps -r requirements/legacy_keras.txt" in keras
    assert "--no-deps -r requirements/daft.txt" in daft

"""`make demo` installs what the example needs while compilers run."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
Demo = Callable[[str, str], "subprocess.Popen[str]"]


@pytest.fixture
def demo(tmp_path: Path) -> Demo:
    """``demo(build, install)`` starts the script with these lines of bash for its two halves."""
    scripts = tmp_path / "scripts"
    (tmp_path / ".venv/bin").mkdir(parents=True)
    scripts.mkdir()
    for name in ("demo.sh", "steps.sh"):
        shutil.copy(ROOT / "scripts" / name, scripts)
    os.mkfifo(tmp_path / "meeting")

    def write(file: Path, lines: str) -> None:
        file.write_text(f"#!/usr/bin/env bash\nset -e\necho {file.name} $*\n{lines}\n")
        file.chmod(0o755)

    def start(build: str, install: str) -> subprocess.Popen[str]:
        write(scripts / "build.sh", build)
        write(scripts / "bootstrap.sh", f'if [ "$1" = build ]; then exit; fi\n{install}')
        write(tmp_path / ".venv/bin/python", "")
        return subprocess.Popen(
            [scripts / "demo.sh"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )

    return start


def test_the_build_and_the_installation_meet(demo: Demo) -> None:
    process = demo("echo compiled >meeting", "cat meeting")
    output, _ = process.communicate(timeout=30)
    assert process.returncode == 0, output
    lines = output.splitlines()
    order = ["bootstrap.sh build", "compiled", "python examples/digits.py", "=== Elapsed"]
    assert [line for line in lines if line in order] == order


@pytest.mark.parametrize(
    ("build", "install", "status"), [("exit 3", "", 3), ("", "exit 4", 4), ("exit 3", "exit 4", 3)]
)
def test_what_fails_in_either_half_fails_the_demo(demo: Demo, build: str, install: str, status: int) -> None:
    process = demo(build, install)
    output, _ = process.communicate(timeout=30)
    assert process.returncode == status
    assert f"(exit status {status})" in output
    assert "digits.py" not in output


@pytest.mark.skipif(sys.platform != "linux", reason="signals")
def test_what_ends_the_demo_ends_the_installation(demo: Demo) -> None:
    process = demo("echo pid $PPID; cat meeting", "exec sleep infinity")
    assert process.stdout is not None
    assert any(line.startswith("pid ") for line in process.stdout)
    os.kill(process.pid, signal.SIGTERM)
    with open(Path(str(process.args[0])).parents[1] / "meeting", "w"):  # type: ignore[index]
        pass
    # The installation has standard output too: it ends when both have.
    process.communicate(timeout=30)
    assert process.returncode == -signal.SIGTERM

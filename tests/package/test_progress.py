"""What `make demo` shows and builds: a line every few seconds, and nothing that the demo does not
need.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def follow(tmp_path: Path):
    """``follow(code, *options)``: starts progress.py on a shell script, which finds the fifo ``go``
    beside it.
    """
    os.mkfifo(tmp_path / "go")
    started = []

    def start(code: str, *options: str) -> subprocess.Popen[str]:
        command = [sys.executable, ROOT / "scripts/progress.py", *options, "compiling", "sh", "-c", code]
        env = {**os.environ, "HEADWAY_PROGRESS_S": "0.05"}
        started.append(subprocess.Popen(command, cwd=tmp_path, env=env, stdout=subprocess.PIPE, text=True))
        return started[-1]

    yield start
    for process in started:
        process.stdout.close()
        process.kill()
        process.wait()


def wait_for(process: subprocess.Popen[str], text: str) -> str:
    """The first line with the text, and an error at the end of the output."""
    for line in process.stdout:
        if text in line:
            return line
    raise AssertionError(f"no line with {text!r}")


def test_how_far_ninja_is_is_said_while_it_says_nothing(follow, tmp_path: Path) -> None:
    process = follow("echo '[1/3] Building a.o'; cat go; echo '[2/3] Building b.o'; echo 'b.cpp:1: warning: c'; cat go")
    assert wait_for(process, "1 of 3").startswith("  compiling: 1 of 3, ")
    (tmp_path / "go").write_text("")
    assert wait_for(process, "warning") == "b.cpp:1: warning: c\n"
    wait_for(process, "2 of 3")
    (tmp_path / "go").write_text("")
    assert "compiling: done after" in wait_for(process, "done")
    assert process.wait() == 0


def test_what_ninja_does_before_it_compiles_is_not_counted(follow, tmp_path: Path) -> None:
    process = follow("echo '[0/2] Re-checking globbed directories...'; cat go; echo '[1/68] Building a.o'; cat go")
    assert " of " not in wait_for(process, "compiling: ")
    (tmp_path / "go").write_text("")
    wait_for(process, "compiling: 1 of 68, ")
    (tmp_path / "go").write_text("")


def test_what_pip_works_at_is_said_and_its_lines_are_not_shown(follow, tmp_path: Path) -> None:
    process = follow("echo 'WARNING: an index is gone'; echo 'Collecting torch==2.13'; cat go")
    first = process.stdout.readline()
    assert "WARNING" not in first
    wait_for(process, "collecting torch==2.13, ")
    (tmp_path / "go").write_text("")
    rest = process.stdout.read()
    assert "WARNING" not in rest
    assert process.wait() == 0


def test_a_failure_shows_all_output_and_has_its_status(follow) -> None:
    output = follow("echo 'Collecting x'; echo 'ERROR: no x'; exit 3").communicate()[0]
    assert "Collecting x\nERROR: no x\n" in output
    assert "compiling: failed after" in output


def test_a_failed_attempt_is_a_line(follow) -> None:
    process = follow("echo 'ERROR: no x'; exit 3", "--attempt")
    output = process.communicate()[0]
    assert "ERROR" not in output
    assert process.returncode == 3


def test_the_demo_builds_no_test_no_simulator_and_no_front_end_of_c_plus_plus() -> None:
    (line,) = [line for line in (ROOT / "scripts/demo.sh").read_text().splitlines() if "scripts/build.sh" in line]
    targets = line.split("scripts/build.sh")[1].split()
    ninja = [Path(sys.executable).parent / "ninja", "-C", ROOT / "build", "-t", "inputs", *targets]
    needed = subprocess.run(ninja, check=True, capture_output=True, text=True).stdout.splitlines()
    assert any("/src/driver/" in name for name in needed)
    for name in needed:
        assert not any(part in name for part in ("/tests/", "/sim/", "/src/library/", "/src/arrow/", "/bench/")), name

"""scripts/test.sh: which runners it starts, that a failure of any of them counts, and what it
prints last.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = {
    "scripts/bootstrap.sh": "",
    "scripts/build.sh": "",
    "scripts/horovod.sh": "",
    "scripts/storage_servers.sh": "",
    "scripts/slurm_servers.sh": "",
    "scripts/kubernetes_servers.sh": "",
    "scripts/browser.sh": "",
    "scripts/sanitize.sh": "echo '100% tests passed, 0 tests failed out of 9'",
    "build/sim/headway_sim": "echo 'no invariant broke'",
    ".venv/bin/python": 'echo "===== $HEADWAY_WORKER_START$* in 1.5s ====="',
    ".venv/bin/ctest": "echo '100% tests passed, 0 tests failed out of 12'",
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree whose programs note their arguments in calls.txt, and fail where FAILS is one of
    these.
    """
    for name, says in PROGRAMS.items():
        program = tmp_path / name
        program.parent.mkdir(parents=True, exist_ok=True)
        note = f'echo "{program.name} $HEADWAY_WORKER_START $*" >> calls.txt'
        fail = 'case " $* " in *" ${FAILS:-none} "*) exit 1;; esac'
        program.write_text(f"#!/bin/sh\n{note}\n{says}\n{fail}\n")
        program.chmod(0o755)
    tests = tmp_path / "tests/python"
    tests.mkdir(parents=True)
    (tests / "test_starts.py").write_text("pytestmark = pytest.mark.both_starts\n")
    (tests / "test_others.py").write_text("")
    for name in ("steps.sh", "test.sh"):
        shutil.copy(ROOT / "scripts" / name, tmp_path / "scripts")
    return tmp_path


def run(tree: Path, *arguments: str, fails: str = "none") -> tuple[int, str, list[str]]:
    """The exit status, the output, and the calls."""
    env = {**os.environ, "FAILS": fails}
    env.pop("HEADWAY_WORKER_START", None)
    done = subprocess.run(
        ["scripts/test.sh", *arguments], cwd=tree, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    return done.returncode, done.stdout, (tree / "calls.txt").read_text().splitlines()


def test_each_python_test_runs_once_and_those_that_differ_a_second_time(tree: Path) -> None:
    status, _, calls = run(tree)
    assert status == 0
    forked, by_exec = (call for call in calls if " tests/python" in call)
    assert forked.startswith("python fork ")
    assert forked.endswith("--dist worksteal --budget tests/python")
    assert by_exec.startswith("python exec ")
    assert by_exec.endswith("--dist worksteal --budget -m both_starts tests/python/test_starts.py")
    (ctest,) = [call for call in calls if call.startswith("ctest")]
    assert "--label-exclude heavy" in ctest


def test_all_runs_everything_both_ways(tree: Path) -> None:
    status, output, calls = run(tree, "all")
    assert status == 0
    assert not any("both_starts" in call or "--label-exclude" in call for call in calls)
    assert sum(call.endswith("--budget tests/python") for call in calls) == 2
    assert any(call.startswith("sanitize.sh") for call in calls)
    assert any(call.startswith("storage_servers.sh") for call in calls)
    assert any(call.startswith("horovod.sh") for call in calls)
    assert any(call.startswith("slurm_servers.sh") for call in calls)
    assert any(call.startswith("kubernetes_servers.sh") for call in calls)
    assert any(call.startswith("browser.sh") for call in calls)
    others = " frameworks legacy_keras tables daft searchers kubernetes wheel"
    assert any(call.startswith("bootstrap.sh") and call.endswith(others) for call in calls)
    assert "no invariant broke" in output.split("=== Summary")[1]


def test_the_last_lines_are_the_runners_own_summaries_after_the_seconds_of_each_step(tree: Path) -> None:
    _, output, _ = run(tree)
    steps, summary = output.split("=== Elapsed")[1].split("=== Summary")
    assert [line.partition(":")[0] for line in steps.split("\n") if line] == [
        "install into .venv",
        "build",
        "Python, workers forked",
        "Python, workers started by exec",
        "C++",
        "Lint checks and packaging",
        "all",
    ]
    assert "100% tests passed, 0 tests failed out of 12" in summary
    assert summary.count(" in 1.5s =====") == 3
    assert (tree / "build/test-summary.txt").read_text() == summary.lstrip("\n")


@pytest.mark.parametrize("fails", ["tests/python", "tests/package", "--output-on-failure"])
def test_a_failure_of_any_runner_fails_the_script_after_all_have_run(tree: Path, fails: str) -> None:
    status, output, _ = run(tree, fails=fails)
    assert status == 1
    assert "Lint checks and packaging" in output.split("=== Summary")[1]

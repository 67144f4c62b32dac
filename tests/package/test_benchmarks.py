"""`make bench`: what is installed and measured, and what a program that fails leaves."""

from __future__ import annotations

import math
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "bench"))

import run  # noqa: E402
from data_measurements import DATA_MEASUREMENTS  # noqa: E402
from execution import ProgramFailedError, run_program  # noqa: E402
from measurements import Line, Measurement  # noqa: E402


def pins(name: str) -> set[tuple[str, str]]:
    """Packages, and their versions with what these depend on."""
    lines = (ROOT / "requirements" / f"{name}.txt").read_text()
    return set(re.findall(r"^([\w-]+)==(.+)$", lines, re.MULTILINE))


def test_ray_s_environment_has_the_versions_of_the_tests() -> None:
    peers, tests = pins("peers"), pins("test")
    light = {"accelerate", "huggingface-hub", "lightgbm", "lightning", "transformers", "xgboost-cpu"}
    assert {name for name, _ in peers & tests} == light
    shared = {name for name, _ in tests}
    assert {pin for pin in peers if pin[0] in shared} <= tests
    assert {pin for pin in pins("tune_peers") if pin[0] in shared} <= tests


@pytest.mark.parametrize(
    ("options", "installed"),
    [
        (["--quick"], [".venv-ray ray torch"]),
        (["--quick", "--no-ray"], []),
        (
            ["--only", "frameworks"],
            [".venv-ray ray torch", ".venv peers legacy_keras", ".venv-ray peers legacy_keras"],
        ),
        (["--only", "launcher-xgboost", "--no-ray"], [".venv peers legacy_keras"]),
        (
            ["--only", "data", "--no-ray"],
            [".venv-mosaicml mosaicml torch", ".venv peers legacy_keras"],
        ),
        (["--only", "data-sort", "--no-ray"], [".venv peers legacy_keras"]),
        (["--only", "tune"], [".venv-ray ray torch", ".venv tune_peers", ".venv-ray tune_peers"]),
        (["--only", "tune-curves", "--no-ray"], [".venv tune_peers"]),
        (["--only", "tune-slots", "--no-ray"], []),
        (["--storage", "/data", "--only", "report", "--no-ray"], []),
        (["--help"], []),
    ],
)
def test_frameworks_are_installed_for_the_rows_that_need_them(
    tmp_path: Path, options: list[str], installed: list[str]
) -> None:
    (tmp_path / "scripts").mkdir()
    (tmp_path / ".venv/bin").mkdir(parents=True)
    shutil.copy(ROOT / "scripts/bench.sh", tmp_path / "scripts")
    stubs = {"scripts/bootstrap.sh": 'echo "installed $VENV $*"', ".venv/bin/cmake": "", ".venv/bin/python": ""}
    for name, line in stubs.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{line}\n")
        (tmp_path / name).chmod(0o755)
    output = subprocess.run([tmp_path / "scripts/bench.sh", *options], check=True, capture_output=True, text=True)
    assert [line.removeprefix("installed ") for line in output.stdout.splitlines()] == installed


# Only for programs that hang: a slow machine needs a minute for PyTorch and a few images.
HANGS_AFTER_S = 600

OF_DATA_SETS = [
    pytest.param(measurement, library, id=f"{measurement.name}-{library}")
    for measurement in DATA_MEASUREMENTS
    for library in ("headway", "alone")
    if library in measurement.programs
]


@pytest.fixture(scope="module")
def storage(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Programs leave files for the ones after them."""
    return tmp_path_factory.mktemp("storage")


@pytest.mark.parametrize(("measurement", "library"), OF_DATA_SETS)
def test_programs_of_data_sets_measure_what_their_rows_show(
    storage: Path, measurement: Measurement, library: str
) -> None:
    command = measurement.programs[library]
    if library == "alone" and command[0] == "data_decode.py":
        pytest.importorskip("simplejpeg", reason="a peer that only `make bench` installs")
    result = run_program(library, command, sys.executable, storage, size=0.001, timeout_s=HANGS_AFTER_S)
    figures = [line.key for line in measurement.lines if library == "headway" or line.key in result]
    assert figures
    assert all(math.isfinite(result[key]) for key in figures)


def test_groups_run_only_when_they_are_named() -> None:
    def chosen(*only: str) -> set[str]:
        return {each.group for each in run.ALL if run.is_chosen(each, list(only))}

    assert chosen() == {""}
    assert chosen("frameworks") == {"frameworks"}
    assert chosen("launcher-xgboost", "report") == {"launchers", ""}
    groups = {each.group for each in run.ALL} - {""}
    clusters = {"ray-cluster", "slurm-cluster"}
    assert groups == {"frameworks", "launchers", "reference", "data", "gpu", "tune", *clusters}
    assert all(chosen(group) == {group} for group in groups)


LEFT = "[sys.executable, '-c', 'import signal; signal.pause()']"
#: Its environment shows nothing before it begins another program, behind the end of the first one.
BEGINS_LATE = (
    "['sh', '-c', f'while kill -0 {os.getpid()}; do :; done; for each in $(seq 20000); do :; done; "
    "exec env BENCH_FOLDER={folder} tail -f /dev/null']"
)


@pytest.mark.parametrize(("left", "environment"), [(LEFT, "None"), (BEGINS_LATE, "{}")])
def test_a_program_that_fails_says_why_and_leaves_nothing(tmp_path: Path, left: str, environment: str) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    os.set_blocking(reader, True)
    script = tmp_path / "script.py"
    script.write_text(
        "import os, subprocess, sys\n"
        f"pipe = open({str(pipe)!r}, 'w')\n"
        "folder = os.environ['BENCH_FOLDER']\n"
        "print(folder, file=pipe, flush=True)\n"
        f"subprocess.Popen({left}, env={environment}, stdout=pipe, stderr=subprocess.DEVNULL, start_new_session=True)\n"
        "sys.exit('no framework here')\n"
    )
    with pytest.raises(ProgramFailedError, match="no framework here"):
        run_program("alone", [str(script)], sys.executable, tmp_path / "storage")
    with open(reader) as file:
        folder = file.read()  # Until the process that was left is gone, as it has the pipe open.
    assert not Path(folder.strip()).exists()


def test_a_row_without_a_result_does_not_end_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad = tmp_path / "good.py", tmp_path / "bad.py"
    good.write_text("""print('BENCH RESULT {"training_s": 1.5}')""")
    bad.write_text("import sys; sys.exit('it has no rank')")
    line = Line("training", "training_s", "≤ alone", lambda medians: medians["headway"] <= medians["alone"])
    measurements = [
        Measurement("one", {"headway": [str(good)], "alone": [str(bad)]}, [line], repeats=1, group="launchers"),
        Measurement("two", {"headway": [str(good)], "alone": [str(good)]}, [line], repeats=1, group="launchers"),
    ]
    monkeypatch.setattr(run, "ALL", measurements)
    arguments = ["run.py", "--only", "launchers", "--storage", str(tmp_path / "storage")]
    monkeypatch.setattr(sys, "argv", arguments)
    with pytest.raises(SystemExit, match=r"no result .*: one of alone$"):
        run.main()
    printed = capsys.readouterr()
    assert "one, alone: it ended with status 1; its last lines:\nit has no rank" in printed.err
    rows = [line for line in printed.out.splitlines() if line.startswith("| training")]
    assert [row.count("1.50 s") for row in rows] == [1, 2]
    assert "Headway / alone" in printed.out
    assert os.listdir(tmp_path / "storage") == []

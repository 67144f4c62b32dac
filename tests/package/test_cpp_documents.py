"""The C++ programs of the guides compile, and come to the end that they say."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "docs/cpp.md"
LIBRARY = ROOT / "build/src/library"
PROGRAMS = re.findall(r"```cpp\n(.*?)```", GUIDE.read_text(), re.DOTALL)


def compiler() -> str:
    cache = (ROOT / "build/CMakeCache.txt").read_text()
    return re.search(r"^CMAKE_CXX_COMPILER:\w+=(.+)$", cache, re.MULTILINE)[1]


def test_the_guide_shows_whole_programs() -> None:
    assert len(PROGRAMS) >= 3
    assert all("headway::Main guard(argc, argv);" in program for program in PROGRAMS)


@pytest.mark.parametrize("place", range(len(PROGRAMS)))
def test_a_program_of_the_guide_comes_to_its_end(place: int, tmp_path: Path) -> None:
    source, program = tmp_path / "program.cpp", tmp_path / "program"
    source.write_text(PROGRAMS[place])
    command = [compiler(), "-std=c++20", "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'include'}", source, "-o", program]
    command += [f"-L{LIBRARY}", "-lheadway", f"-Wl,-rpath,{LIBRARY}", "-Wl,--export-dynamic"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for start in ("fork", "exec"):
        storage = tmp_path / start
        env = {**os.environ, "HEADWAY_WORKER_START": start, "HEADWAY_STORAGE": str(storage)}
        done = subprocess.run([program], env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        assert len(list(storage.iterdir())) == 1

"""The C++ programs of the guides compile, and come to the end that they say."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "docs/cpp.md"
LIBRARY = ROOT / "build/src/library"
PROGRAMS = re.findall(r"```cpp\n(.*?)```", GUIDE.read_text(), re.DOTALL)
PLACES = [
    pytest.param(place, marks=pytest.mark.heavy if "<torch/torch.h>" in program else ())
    for place, program in enumerate(PROGRAMS)
]


def compiler() -> str:
    cache = (ROOT / "build/CMakeCache.txt").read_text()
    return re.search(r"^CMAKE_CXX_COMPILER:\w+=(.+)$", cache, re.MULTILINE)[1]


def torch_options() -> list[str]:
    """What the CMake target headway::torch gives to a compiler."""
    find = "import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0])"
    torch = subprocess.run([sys.executable, "-c", find], capture_output=True, text=True, check=True).stdout.strip()
    folders = [f"{torch}/include", f"{torch}/include/torch/csrc/api/include"]
    folders.append(str(ROOT / "include/headway/torch/declarations"))
    options = [option for folder in folders for option in ("-isystem", folder)]
    return [*options, "-O1", "-Wno-maybe-uninitialized", f"-L{torch}/lib", f"-Wl,-rpath,{torch}/lib"]


def test_the_guide_shows_whole_programs() -> None:
    assert len(PROGRAMS) >= 3
    assert any("<torch/torch.h>" in program for program in PROGRAMS)
    assert all("headway::Main guard(argc, argv);" in program for program in PROGRAMS)


@pytest.mark.parametrize("place", PLACES)
def test_a_program_of_the_guide_comes_to_its_end(place: int, tmp_path: Path) -> None:
    source, program = tmp_path / "program.cpp", tmp_path / "program"
    source.write_text(PROGRAMS[place])
    command = [compiler(), "-std=c++20", "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'include'}", source, "-o", program]
    command += [f"-L{LIBRARY}", "-lheadway", f"-Wl,-rpath,{LIBRARY}", "-Wl,--export-dynamic"]
    if "<torch/torch.h>" in PROGRAMS[place]:
        command += [*torch_options(), "-ltorch", "-ltorch_cpu", "-lc10"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for start in ("fork", "exec"):
        storage = tmp_path / start
        env = {**os.environ, "HEADWAY_WORKER_START": start, "HEADWAY_STORAGE": str(storage)}
        done = subprocess.run([program], env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        left = list(storage.iterdir()) if storage.exists() else []
        assert len(left) == any(begins in PROGRAMS[place] for begins in ("fit()", ".start()"))

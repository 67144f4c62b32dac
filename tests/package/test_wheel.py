"""The wheel and the C++ install: what they carry, and that others can build on it.

`make test` takes scripts/wheel.sh's wheel; `make test-all` that of `make wheel`, which is linked
for older systems.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOLS = Path(sys.executable).parent
PYARROW = next(iter(importlib.util.find_spec("pyarrow").submodule_search_locations))
TORCH = next(iter(getattr(importlib.util.find_spec("torch"), "submodule_search_locations", [])), "")
PORTABLE = bool(os.environ.get("HEADWAY_TEST_HEAVY")) and importlib.util.find_spec("auditwheel") is not None
VERSION = re.search(r"project\(headway VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]


def output_of(*command: object, cwd: Path = ROOT) -> str:
    """The command's output; a failure shows it whole."""
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    assert done.returncode == 0, f"{command} ended with {done.returncode}:\n{done.stdout}"
    return done.stdout


@pytest.fixture(scope="session")
def python_of_wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment's interpreter, with the wheel installed and the dependencies borrowed
    from this one.
    """
    folder = tmp_path_factory.mktemp("wheel")
    output_of(ROOT / "scripts" / ("portable_wheel.sh" if PORTABLE else "wheel.sh"), folder)
    (wheel,) = folder.glob("headway-*.whl")
    output_of(sys.executable, "-m", "venv", "--without-pip", folder / "venv")
    python = folder / "venv/bin/python"
    output_of(sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index", wheel)
    (site,) = (folder / "venv/lib").glob("python3*/site-packages")
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python


@pytest.fixture(scope="session")
def package(python_of_wheel: Path) -> Path:
    """The installed package's folder."""
    code = "import headway, pathlib; print(pathlib.Path(headway.__file__).parent)"
    return Path(output_of(python_of_wheel, "-c", code, cwd=python_of_wheel.parent).splitlines()[-1])


@pytest.fixture(scope="session")
def cpp_prefix(python_of_wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A prefix with the C++ part installed; the wheel's build came before, so all is compiled."""
    prefix = tmp_path_factory.mktemp("prefix")
    output_of(TOOLS / "cmake", "--install", "build", "--prefix", prefix, "--component", "cpp")
    return prefix


@pytest.fixture(scope="session", params=["wheel", "cpp"])
def prefix(request: pytest.FixtureRequest) -> Path:
    """What find_package looks in: the installed wheel, and the C++ install."""
    return request.getfixturevalue("package" if request.param == "wheel" else "cpp_prefix")


def configuring(project: str, folder: Path, prefix: Path, *settings: str) -> list[object]:
    source = Path(__file__).parent / project
    return [TOOLS / "cmake", "-S", source, "-B", folder, "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={TOOLS / 'ninja'}",
            f"-DCMAKE_PREFIX_PATH={prefix}", *settings]  # fmt: skip


@pytest.fixture(scope="session")
def consumer(prefix: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program of somebody else's."""
    folder = tmp_path_factory.mktemp("consumer")
    output_of(*configuring("consumer", folder, prefix))
    output_of(TOOLS / "cmake", "--build", folder)
    return folder / "consumer"


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    """A committed checkpoint of one file."""
    folder = tmp_path / "checkpoint_000000"
    folder.mkdir()
    (folder / "model.bin").write_bytes(b"weights")
    record = {"name": "model.bin", "size": 7, "checksum": "xxh3:06cc94573ff53c71", "rank": 0}
    manifest = {
        "version": 1, "checkpoint": folder.name, "index": 0, "attempt": 1, "world_size": 1, "created_unix_s": 0.0,
        "metrics": {"loss": 0.5}, "files": [record],
    }  # fmt: skip
    (folder / ".headway.json").write_text(json.dumps(manifest))
    return folder


def run(program: Path, *arguments: object) -> tuple[int, list[str]]:
    done = subprocess.run([program, *map(str, arguments)], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout.splitlines()


def test_the_installed_package_is_the_one_imported(package: Path, python_of_wheel: Path) -> None:
    assert package.is_relative_to(python_of_wheel.parents[1])
    version = "import importlib.metadata as m; print(m.version('headway'))"
    assert output_of(python_of_wheel, "-c", version).strip() == VERSION


def test_the_native_module_loads_from_the_wheel(package: Path, python_of_wheel: Path) -> None:
    code = "import headway._core as core; print(core.__file__)"
    assert Path(output_of(python_of_wheel, "-c", code, cwd=package.parent).strip()).parent == package


@pytest.mark.heavy
@pytest.mark.skipif(not PORTABLE, reason="auditwheel is not installed: scripts/bootstrap.sh wheel does it")
def test_nothing_in_the_wheel_needs_a_newer_system_than_its_name_says(package: Path) -> None:
    (wheel,) = package.parents[4].glob("headway-*.whl")
    assert re.search(r"-manylinux_2_28_\w+\.whl$", wheel.name)
    native = [package / "bin/headway-guard", package / "bin/headway-data", *package.rglob("*.so")]
    assert len(native) == 5
    for file in native:
        needed = [line for line in output_of("objdump", "--dynamic-syms", file).splitlines() if "*UND*" in line]
        versions = [tuple(map(int, each)) for each in re.findall(r"\(GLIBC_(\d+)\.(\d+)", "\n".join(needed))]
        assert max(versions) <= (2, 28), file
        if file.name != "libheadway.so":
            assert not any("GLIBCXX" in line for line in needed), file


@pytest.mark.heavy
def test_the_wheel_trains_with_a_data_set(python_of_wheel: Path, tmp_path: Path) -> None:
    """The data process has the wheel's libstdc++ and that of Arrow in it."""
    script = Path(__file__).with_name("trains.py")
    assert output_of(python_of_wheel, script, cwd=tmp_path).splitlines()[-1] == "the sum is 2450"


def test_the_guard_program_is_executable(package: Path) -> None:
    assert os.access(package / "bin/headway-guard", os.X_OK)


def test_the_command_is_installed(python_of_wheel: Path, checkpoint: Path) -> None:
    command = python_of_wheel.parent / "headway"
    assert output_of(command, "--version").strip() == f"headway {VERSION}"
    assert output_of(command, "checkpoint", "verify", checkpoint).strip() == f"good: {checkpoint} (1 file, 7 B)"


def test_the_metadata_takes_any_arrow_and_names_the_one_it_was_built_with(python_of_wheel: Path) -> None:
    code = "import importlib.metadata as m; print(*m.requires('headway'), sep='\\n')"
    required = output_of(python_of_wheel, "-c", code).splitlines()
    built_with = "25" if sys.version_info < (3, 11) else "26"
    of_pyarrow = [line for line in required if line.startswith("pyarrow")]
    assert "pyarrow>=18" in of_pyarrow
    named = [line for line in of_pyarrow if line.startswith(f"pyarrow=={built_with}.*")]
    assert len(named) == 1
    assert 'extra == "storage"' in named[0].replace("'", '"')


def test_only_our_names_leave_the_library(package: Path) -> None:
    exported = output_of("nm", "--dynamic", "--demangle", "--defined-only", package / "lib/libheadway.so").splitlines()
    names = [line.split(maxsplit=2)[2] for line in exported]
    assert any(name.startswith("headway::Checkpoint::open(") for name in names)
    # That one notes where exceptions were thrown.
    assert [name for name in names if "headway::" not in name] == ["__cxa_throw"]


def test_a_consumer_reads_and_verifies_a_checkpoint(consumer: Path, checkpoint: Path) -> None:
    assert run(consumer, checkpoint) == (0, [f"headway {VERSION}", "model.bin 7", "verified"])


def test_a_consumer_is_told_of_a_changed_file(consumer: Path, checkpoint: Path) -> None:
    (checkpoint / "model.bin").write_bytes(b"weighty")
    status, lines = run(consumer, checkpoint)
    assert status == 1
    assert "model.bin" in lines[-1]


def test_a_consumer_is_told_where_no_checkpoint_is(consumer: Path, tmp_path: Path) -> None:
    status, lines = run(consumer, tmp_path)
    assert status == 2
    assert lines[-1].startswith("not_found: ")
    assert str(tmp_path) in lines[-1]


@pytest.mark.parametrize("start", ["fork", "exec"])
def test_a_consumer_trains(consumer: Path, tmp_path: Path, start: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWAY_WORKER_START", start)
    status, lines = run(consumer, "train", tmp_path)
    assert (status, lines[-1]) == (0, "the sum is 3")


def test_a_consumer_reads_a_data_set(consumer: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program headway-data is found in both, and Arrow where the variable says."""
    monkeypatch.setenv("HEADWAY_PYARROW", PYARROW)
    assert run(consumer, "count", 7) == (0, ["4 even numbers"])


@pytest.mark.heavy
@pytest.mark.skipif(not TORCH, reason="there is no PyTorch here")
def test_a_consumer_trains_with_libtorch(prefix: Path, tmp_path: Path) -> None:
    output_of(*configuring("consumer_torch", tmp_path / "build", prefix, f"-DHEADWAY_TORCH_DIR={TORCH}"))
    output_of(TOOLS / "cmake", "--build", tmp_path / "build")
    status, lines = run(tmp_path / "build/consumer_torch", tmp_path / "storage")
    assert (status, lines[-1]) == (0, "the sum is 3"), lines


def test_a_component_without_libtorch_is_told(prefix: Path, tmp_path: Path) -> None:
    command = configuring("consumer_torch", tmp_path / "build", prefix, "-DHEADWAY_TORCH_DIR=/none")
    done = subprocess.run([str(part) for part in command], text=True, capture_output=True)
    assert done.returncode != 0
    words = " ".join(done.stderr.split())
    assert (
        "no libtorch was found; set HEADWAY_TORCH_DIR to the folder of one, or of an installed torch package" in words
    )

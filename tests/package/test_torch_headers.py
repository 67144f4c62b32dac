"""headway/torch.hpp where there is another libtorch than the one here: of another version, or with
CUDA.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest
from test_cpp_documents import compiler

ROOT = Path(__file__).resolve().parents[2]
TOOLS = Path(sys.executable).parent
INCLUDE = ROOT / "include"
STAND_INS = Path(__file__).parent / "nccl"
TORCH = Path(importlib.util.find_spec("torch").submodule_search_locations[0])


def compiled(source: str, *folders: Path, define: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """What the compiler says of a file; nothing is written."""
    command = [
        compiler(),
        "-std=c++20",
        "-fsyntax-only",
        "-Wall",
        "-Wextra",
        "-Werror",
        f"-I{INCLUDE}",
        "-x",
        "c++",
        "-",
    ]
    command += [f"-D{name}" for name in define]
    for folder in folders:
        command += ["-isystem", str(folder)]
    return subprocess.run(command, input=source, capture_output=True, text=True)


@pytest.mark.parametrize(("major", "minor"), [(2, 12), (2, 14), (3, 13)])
def test_another_version_of_pytorch_is_refused(tmp_path: Path, major: int, minor: int) -> None:
    header = tmp_path / "torch/version.h"
    header.parent.mkdir()
    header.write_text(f"#define TORCH_VERSION_MAJOR {major}\n#define TORCH_VERSION_MINOR {minor}\n")
    done = compiled("#include <headway/torch/version.hpp>\n", tmp_path)
    assert done.returncode != 0
    assert "headway/torch.hpp of this version of Headway is made for PyTorch 2.13" in done.stderr


NCCL = """#include <headway/torch/nccl.hpp>
static_assert(headway::torch::detail::has_nccl);
auto make(const c10::intrusive_ptr<c10d::Store>& store) {
  return headway::torch::detail::make_nccl(store, 1, 2, std::chrono::minutes(3));
}
"""
TORCH_INCLUDES = (TORCH / "include", TORCH / "include/torch/csrc/api/include")


@pytest.mark.heavy
def test_a_group_over_nccl_compiles_against_what_libtorch_declares() -> None:
    done = compiled(NCCL, STAND_INS, *TORCH_INCLUDES, define=("USE_C10D_NCCL",))
    assert done.returncode == 0, done.stderr


def test_nccl_without_its_headers_is_told() -> None:
    done = compiled("#include <headway/torch/nccl.hpp>\n", *TORCH_INCLUDES, define=("USE_C10D_NCCL",))
    assert done.returncode != 0
    assert "USE_C10D_NCCL is defined, but nccl.h or cuda_runtime_api.h is not to be found" in done.stderr


def test_the_stand_in_declares_what_libtorch_declares() -> None:
    name = "torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp"
    real, stand_in = (" ".join((folder / name).read_text().split()) for folder in (TORCH / "include", STAND_INS))
    declarations = [
        "struct Options : Backend::Options {",
        "static c10::intrusive_ptr<Options> create( bool is_high_priority_stream = false)",
        "ProcessGroupNCCL( c10::intrusive_ptr<Store> store, int rank, int size, "
        "c10::intrusive_ptr<Options> options = Options::create());",
    ]
    for declaration in declarations:
        assert declaration in real
        assert declaration in stand_in


def configured(folder: Path, torch: Path) -> str:
    """What CMake says of a project that uses headway::torch with that torch package."""
    (folder / "CMakeLists.txt").write_text(f"""
cmake_minimum_required(VERSION 3.26)
project(user LANGUAGES NONE)
add_library(library INTERFACE)
add_library(headway::headway ALIAS library)
target_include_directories(library INTERFACE "{INCLUDE}")
set(HEADWAY_TORCH_DIR "{torch}")
include("{ROOT}/cmake/headway-torch.cmake")
foreach(property INTERFACE_COMPILE_DEFINITIONS INTERFACE_SYSTEM_INCLUDE_DIRECTORIES INTERFACE_LINK_LIBRARIES)
  get_target_property(value headway_torch ${{property}})
  message(STATUS "${{property}}: ${{value}}")
endforeach()
""")
    command = [TOOLS / "cmake", "-S", folder, "-B", folder / "build", "-G", "Ninja"]
    command += [f"-DCMAKE_MAKE_PROGRAM={TOOLS / 'ninja'}"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout
    return done.stdout


def torch_with(folder: Path, *libraries: str) -> Path:
    torch = folder / "site-packages/torch"
    (torch / "lib").mkdir(parents=True)
    for name in libraries:
        (torch / "lib" / f"lib{name}.so").touch()
    return torch


CPU_LIBRARIES = ("torch", "torch_cpu", "c10")


def test_a_libtorch_without_cuda_has_no_nccl(tmp_path: Path) -> None:
    output = configured(tmp_path, torch_with(tmp_path, *CPU_LIBRARIES))
    assert "INTERFACE_COMPILE_DEFINITIONS: value-NOTFOUND" in output
    assert "NCCL" not in output


def test_a_libtorch_with_cuda_has_nccl_by_the_headers_beside_it(tmp_path: Path) -> None:
    torch = torch_with(tmp_path, *CPU_LIBRARIES, "torch_cuda", "c10_cuda")
    cuda, nccl = torch.parent / "nvidia/cu13/include", torch.parent / "nvidia/nccl/include"
    for header in (cuda / "cuda_runtime_api.h", cuda / "cublas_v2.h", cuda / "cusparse.h", cuda / "cusolverDn.h"):
        header.parent.mkdir(parents=True, exist_ok=True)
        header.touch()
    nccl.mkdir(parents=True)
    (nccl / "nccl.h").touch()
    output = configured(tmp_path, torch)
    assert re.search(r"INTERFACE_COMPILE_DEFINITIONS: .*USE_C10D_NCCL", output)
    assert "nvidia/cu13/include" in output
    assert "nvidia/nccl/include" in output
    assert "lib/libtorch_cuda.so" in output
    (nccl / "nccl.h").unlink()
    again = tmp_path / "again"
    again.mkdir()
    output = configured(again, torch)
    assert "headway::torch is without NCCL: no nccl.h (HEADWAY_CUDA_INCLUDE names folders to look in)" in output
    assert "INTERFACE_COMPILE_DEFINITIONS: value-NOTFOUND" in output


@pytest.mark.heavy
def test_the_programs_of_the_benchmarks_compile() -> None:
    command = [TOOLS / "cmake", "--build", ROOT / "build", "--target", "bench_cpp", "simulated_agents"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout

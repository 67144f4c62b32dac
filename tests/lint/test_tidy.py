import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import tidy

TOOLS = Path(sys.executable).parent
ROOT = Path(__file__).resolve().parents[2]


def git(root: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=Test", "-c", "user.email=test@example.org"]
    subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with two commits: one.cpp, then two.cpp."""
    git(tmp_path, "init", "--initial-branch=main")
    for name in ["one.cpp", "two.cpp"]:
        (tmp_path / name).write_text("")
        git(tmp_path, "add", name)
        git(tmp_path, "commit", "--message", name)
    return tmp_path


def test_the_precompiled_header_is_taken_out_of_the_commands() -> None:
    command = "c++ -O2 -Werror -Winvalid-pch -include /b/cmake_pch.hxx -Wno-restrict -Wno-array-bounds -c /s/a.cpp"
    (entry,) = tidy.clang_commands(
        [{"file": "/s/a.cpp", "command": command}, {"file": "/b/cmake_pch.hxx.cxx", "command": "c++"}]
    )
    assert entry == {"file": "/s/a.cpp", "command": "c++ -O2 -Wno-array-bounds -c /s/a.cpp"}


def test_files_that_are_compiled_in_one_go_are_checked_one_by_one(tmp_path: Path) -> None:
    batch = tmp_path / "Unity" / "unity_0_cxx.cxx"
    batch.parent.mkdir()
    batch.write_text('/* by CMake */\n#include "/s/a.cpp"\n\n#include "/s/b.cpp"\n')
    entries = tidy.clang_commands([{"file": str(batch), "command": f"c++ -O2 -c {batch}"}])
    assert entries == [{"file": f"/s/{name}.cpp", "command": f"c++ -O2 -c /s/{name}.cpp"} for name in "ab"]


def test_on_a_clean_tree_the_last_commit_is_what_changed(repository: Path) -> None:
    assert tidy.changed_files(repository) == [repository / "two.cpp"]


def test_edited_and_new_files_have_changed(repository: Path) -> None:
    (repository / "one.cpp").write_text("int a;\n")
    (repository / "three.cpp").write_text("int b;\n")
    assert tidy.changed_files(repository) == [repository / "one.cpp", repository / "three.cpp"]


def test_a_branch_is_compared_with_its_merge_base(repository: Path) -> None:
    git(repository, "update-ref", "refs/remotes/origin/main", "HEAD~1")
    (repository / "three.cpp").write_text("int b;\n")
    git(repository, "add", "three.cpp")
    git(repository, "commit", "--message", "three")
    assert tidy.changed_files(repository) == [repository / "three.cpp", repository / "two.cpp"]


def test_a_changed_header_brings_its_own_source() -> None:
    compiled = [Path("/s/a.cpp"), Path("/s/b.cpp"), Path("/s/c.cpp")]
    assert tidy.sources_to_check([Path("/s/a.hpp"), Path("/s/c.cpp")], compiled) == [Path("/s/a.cpp"), Path("/s/c.cpp")]


needs_clang_tidy = pytest.mark.skipif(not (TOOLS / "clang-tidy").exists(), reason="clang-tidy comes with `make lint`")
needs_clang_format = pytest.mark.skipif(
    not (TOOLS / "clang-format").exists(), reason="clang-format comes with `make lint`"
)


@needs_clang_tidy
@pytest.mark.parametrize(
    ("text", "passes"),
    [
        ("int twice(int a) { return a + a; }\n", True),
        ("#include <string>\nvoid f(std::string);\nvoid g(std::string a) { f(std::move(a)); f(a); }\n", False),
    ],
)
def test_the_settings_find_a_use_after_move(tmp_path: Path, text: str, passes: bool) -> None:
    shutil.copy(ROOT / ".clang-tidy", tmp_path)
    (tmp_path / "a.cpp").write_text(text)
    done = subprocess.run(
        [TOOLS / "clang-tidy", "--quiet", tmp_path / "a.cpp", "--", "-std=c++20"], capture_output=True, text=True
    )
    assert (done.returncode == 0) == passes, done.stdout
    assert ("bugprone-use-after-move" in done.stdout) != passes


@needs_clang_format
@pytest.mark.parametrize(("text", "passes"), [("int a = 1;\n", True), ("int  a=1 ;\n", False)])
def test_the_settings_refuse_what_is_not_formatted(tmp_path: Path, text: str, passes: bool) -> None:
    shutil.copy(ROOT / ".clang-format", tmp_path)
    (tmp_path / "a.cpp").write_text(text)
    done = subprocess.run([TOOLS / "clang-format", "--dry-run", "-Werror", tmp_path / "a.cpp"], capture_output=True)
    assert (done.returncode == 0) == passes

from pathlib import Path

import paths
import pytest


def found(root: Path, text: str) -> list[str]:
    for name in ("src/control/marks.hpp", "python/headway/train/backend.py", "tests/control/a_test.cpp"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    (root / "ARCHITECTURE.md").write_text(text)
    return list(paths.check(root, Path("ARCHITECTURE.md")))


@pytest.mark.parametrize(
    "name",
    ["src/control/marks.hpp", "control/marks.hpp", "src/control/", "train/backend.py", "tests/control/*_test.cpp",
     "docs/decisions/NNN-title.md", "python/headway/train/<framework>/", "logs/rank_0.log", "and/or", "build/a.txt",
     "/etc/ssl/a.txt"],
)  # fmt: skip
def test_what_is_there_and_what_is_no_place_in_the_tree_pass(tmp_path: Path, name: str) -> None:
    assert found(tmp_path, f"See `{name}`.\n") == []


@pytest.mark.parametrize("name", ["src/control/mark.hpp", "control/mark.hpp", "src/cellar/", "tests/cellar/*_test.cpp"])
def test_what_is_not_there_is_named(tmp_path: Path, name: str) -> None:
    assert found(tmp_path, f"a\n\nSee `{name}`.\n") == [f"ARCHITECTURE.md:3: there is no {name}"]


def test_a_place_that_is_kept_for_something_new_passes(tmp_path: Path) -> None:
    assert found(tmp_path, "It goes to new: `src/data/` and `src/flow/`.\n") == []
    assert found(tmp_path, "It goes to new: `src/data/`, beside `src/flow/`.\n") != []


def test_code_blocks_are_not_looked_at(tmp_path: Path) -> None:
    assert found(tmp_path, "```sh\n# `src/cellar/`\n```\n") == []

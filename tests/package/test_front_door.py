"""What others see first: the package's extras, the workflow, templates, checks before a commit."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
# Distributions under another name, or other ones that bring the same package.
SAME = {"xgboost": "xgboost-cpu", "tensorflow": "tensorflow-cpu", "comet-ml": "comet_ml"}


def pinned() -> dict[str, set[str]]:
    """The versions that the tests install, by package."""
    found: dict[str, set[str]] = {}
    for file in (ROOT / "requirements").glob("*.txt"):
        for name, version in re.findall(r"^([\w.-]+)(?:\[\w+\])?==([\d.]+)", file.read_text(), re.MULTILINE):
            found.setdefault(name.lower(), set()).add(version)
    return found


def extras() -> dict[str, list[str]]:
    tomllib = pytest.importorskip("tomllib", reason="Python 3.10 has none")
    extras: dict[str, list[str]] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    return extras


def test_each_extra_allows_what_the_tests_install() -> None:
    requirements = pytest.importorskip("packaging.requirements")
    versions = pinned()
    for name, lines in extras().items():
        for line in lines:
            asked = requirements.Requirement(line)
            tested = versions.get(asked.name.lower()) or versions[SAME[asked.name.lower()]]
            assert any(asked.specifier.contains(version) for version in tested), (name, line, tested)


IMPORTED = """
import sys

before = set(sys.modules)  # Of what the environment's .pth files import.

import importlib.metadata
import json

import headway.data

assert headway.data.range(20).map(lambda row: {"x": row["id"] + 1}).take(1) == [{"x": 1}]
owners = importlib.metadata.packages_distributions()
roots = {name.partition(".")[0] for name in set(sys.modules) - before}
print(json.dumps(sorted({owner for root in roots for owner in owners.get(root, ())})))
"""


def test_data_sets_import_only_what_the_package_depends_on() -> None:
    tomllib = pytest.importorskip("tomllib", reason="Python 3.10 has none")
    asked = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    names = {re.match(r"[\w-]+", line)[0] for line in asked}  # type: ignore[index]
    made = subprocess.run([sys.executable, "-c", IMPORTED], capture_output=True, text=True, check=True, cwd=ROOT)
    imported = {name.lower() for name in json.loads(made.stdout.splitlines()[-1])}
    assert "numpy" in imported
    assert imported - {"headway"} <= names


def test_the_guide_lists_every_extra() -> None:
    guide = (ROOT / "docs/getting-started.md").read_text()
    table = guide.partition("| extra | what for |")[2].partition("\n\n")[0]
    assert sorted(re.findall(r"`([\w-]+)`", table)) == sorted(extras())


def test_the_workflow_runs_what_a_change_must_pass() -> None:
    workflow = yaml.safe_load((ROOT / ".github/workflows/checks.yml").read_text())
    (job,) = workflow["jobs"].values()
    commands = [step["run"] for step in job["steps"] if "run" in step]
    assert commands[-1] == ".ci/run"
    assert workflow["permissions"] == {"contents": "read"}


def test_the_templates_for_reports_are_forms() -> None:
    for file in ("bug", "wish"):
        form = yaml.safe_load((ROOT / f".github/ISSUE_TEMPLATE/{file}.yml").read_text())
        assert {"name", "description", "body"} == set(form)
        assert all(part["type"] in ("textarea", "input") and part["attributes"]["label"] for part in form["body"])


def test_checks_before_a_commit_are_those_of_lint() -> None:
    (repository,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    lint = (ROOT / "scripts/lint/run.sh").read_text()
    for hook in repository["hooks"]:
        program, *arguments = hook["entry"].split()
        assert Path(program).name in ("ruff", "clang-format", "python")
        for script in [argument for argument in arguments if argument.endswith(".py")]:
            assert f'"$bin/python" {script}' in lint


def test_lines_end_as_the_editor_is_told_to_end_them() -> None:
    """What .editorconfig says: no blanks at a line's end, a line break at the file's."""
    files = subprocess.run(
        ["git", "ls-files", "*.md", "*.sh", "*.toml", "*.yml", "*.js", "*.css", "*.cmake", "Makefile"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    if not files:
        pytest.skip("this is no git repository")
    for file in files:
        if "/vendor/" in file:
            continue
        text = (ROOT / file).read_text()
        assert text.endswith("\n"), file
        assert not re.search(r"[ \t]+$", text, re.MULTILINE), file


def test_this_python_is_one_that_the_package_names() -> None:
    classifiers = re.findall(r"Python :: (3\.\d+)", (ROOT / "pyproject.toml").read_text())
    assert classifiers == ["3.10", "3.11", "3.12", "3.13"]
    assert "{}.{}".format(*sys.version_info) in classifiers

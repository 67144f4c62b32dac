"""The examples run as the README says, each loses a rank on the way, and they learn."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
LIMIT_S = 400  # Importing a framework takes longer than training does.

CLASSIFIERS = [
    "xgboost_table",
    *(
        pytest.param(name, marks=pytest.mark.heavy)
        for name in ("resnet_images", "transformers_text", "lightning_digits", "keras_digits", "jax_digits")
    ),
]


@pytest.fixture
def time_limit():
    """In place of that of conftest.py: the process that ``run`` starts has its own."""


@pytest.fixture
def run(tmp_path):
    """``run(name)``: what the example prints, after a rank was killed and the run was resumed."""

    def start(name):
        environment = {**os.environ, "HEADWAY_STORAGE": str(tmp_path / "results"), "HEADWAY_EXAMPLE_KILL": "1"}
        done = subprocess.run(
            [sys.executable, EXAMPLES / f"{name}.py"],
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            cwd=tmp_path,
            env=environment,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert "was killed by SIGKILL" in done.stderr
        assert done.stderr.count(", 1 restart;") == 1
        return done.stdout

    return start


@pytest.fixture
def reports(tmp_path):
    """``reports()``: the reports of each run of an example, in order."""

    def read():
        runs = sorted((tmp_path / "results").iterdir(), key=lambda folder: folder.stat().st_ctime)
        return [
            [json.loads(line) for line in folder.joinpath("result.json").read_text().splitlines()] for folder in runs
        ]

    return read


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_classifier_that_lost_a_rank_is_right_about_what_it_has_not_seen(name, run, reports):
    output = run(name)
    found = re.search(r"^Test accuracy: (\d\.\d+)$", output, re.MULTILINE)
    assert found, output
    assert float(found[1]) > 0.95
    attempts = [report["attempt"] for report in reports()[0]]
    assert sorted(set(attempts)) == [1, 2]
    if name == "resnet_images":
        assert "Each rank has trained on 1200 images, in 4 epochs of 300." in output
        assert reports()[0][-1]["seen"] == 1200


@pytest.mark.heavy
@pytest.mark.parametrize("name", ["gpt_fsdp", "gpt_deepspeed"])
def test_a_gpt_knows_the_zen_of_python_after_training_on_two_ranks_and_then_three(name, run, reports):
    assert "Beautiful is better than ugly.\n" in run(name)
    first, second = reports()
    assert [report["step"] for report in first + second] == [50, 100, 150, 200, 250, 300]
    assert second[-1]["loss"] < 0.25 < 1.5 < first[0]["loss"]


@pytest.mark.heavy
def test_a_new_word_is_learned_from_five_images_and_the_old_one_kept(run):
    shares = re.findall(r"for '(.*?)': (\d\.\d\d) before, (\d\.\d\d) after", run("dreambooth"))
    (old, *_, old_after), (new, new_before, new_after) = shares
    assert (old, new) == ("a ball", "a sks ball")
    assert float(new_before) < 0.2 < 0.7 < float(new_after)
    assert float(old_after) < 0.3


@pytest.mark.heavy
def test_tuning_finds_good_settings_and_saves_epochs(tmp_path):
    done = subprocess.run(
        [sys.executable, EXAMPLES / "tune_digits.py"],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        cwd=tmp_path,
        env={**os.environ, "HEADWAY_STORAGE": str(tmp_path / "results")},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    accuracy = re.search(r"^Best test accuracy: (\d\.\d+), with ", done.stdout, re.MULTILINE)
    assert float(accuracy[1]) > 0.96
    trained, of_all = re.search(r"Early stopping: (\d+) of (\d+) epochs were trained", done.stdout).groups()
    assert int(trained) < int(of_all) / 2
    assert (tmp_path / "results/tune-digits/picture.svg").exists()


def test_each_example_has_a_row_in_the_readme():
    table = re.findall(r"^\| \[([a-z_]+\.py)\]", EXAMPLES.joinpath("README.md").read_text(), re.MULTILINE)
    scripts = {file.name for file in EXAMPLES.glob("*.py")} - {"lose_a_rank.py"}
    assert sorted(table) == sorted(scripts)

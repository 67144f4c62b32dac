"""The C++ example with LightGBM grows the trees of LightGBM alone, and no others after a rank was
killed.
"""

import importlib.metadata
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy
import pytest

pytestmark = pytest.mark.heavy

ROOT = Path(__file__).parents[2]
TOOLS = Path(sys.executable).parent
ROUNDS = 40
TRAINING_ROWS, TEST_ROWS, COLUMNS = 20000, 5000, 8


def output_of(*command, **environment):
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=300, cwd=ROOT, env={**os.environ, **environment}
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """The example, built as its README says."""
    prefix, lightgbm, build = (tmp_path_factory.mktemp(name) for name in ("prefix", "lightgbm", "build"))
    output_of(ROOT / "examples/cpp/boosting/get_lightgbm.sh", lightgbm, PYTHON=sys.executable)
    output_of(TOOLS / "cmake", "--install", "build", "--prefix", prefix, "--component", "cpp")
    ninja = f"-DCMAKE_MAKE_PROGRAM={TOOLS / 'ninja'}"
    places = [f"-DCMAKE_PREFIX_PATH={prefix}", f"-DLIGHTGBM_DIR={lightgbm}"]
    output_of(TOOLS / "cmake", "-S", "examples/cpp", "-B", build, "-G", "Ninja", ninja, *places)
    output_of(TOOLS / "cmake", "--build", build, "--target", "example_boosting")
    return build / "example_boosting"


class Run:
    """A run of the example: what it printed, and what it left."""

    def __init__(self, program, storage, ranks, **environment):
        self.output = output_of(program, str(ranks), str(ROUNDS), storage, **environment)
        (folder,) = storage.iterdir()
        self.reports = [json.loads(line) for line in (folder / "result.json").read_text().splitlines()]
        self.model = Path(re.search(r"^The model: (.+)$", self.output, re.MULTILINE)[1])
        self.accuracy = float(re.search(r"^Test accuracy: (\d\.\d+)$", self.output, re.MULTILINE)[1])


@pytest.fixture(scope="module")
def undisturbed(program, tmp_path_factory):
    return Run(program, tmp_path_factory.mktemp("undisturbed"), 2)


def table(first, count):
    """The rows that the program makes: splitmix64 of their places."""
    rows = numpy.arange(first, first + count, dtype=numpy.uint64)[:, None]
    bits = (rows * numpy.uint64(COLUMNS + 1) + numpy.arange(1, COLUMNS + 2, dtype=numpy.uint64)) * numpy.uint64(
        0x9E3779B97F4A7C15
    )
    bits = (bits ^ (bits >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
    numbers = (((bits ^ (bits >> numpy.uint64(31))) >> numpy.uint64(54)).astype(float) - 512) / 256
    x = numbers[:, :COLUMNS]
    return x, x[:, 0] * x[:, 1] + x[:, 0] + x[:, 2] + numbers[:, COLUMNS] / 8 > 0


def trees(model_text):
    """A model's text without its parameters, in which the number of ranks is one."""
    assert model_text.count("\nTree=") == ROUNDS
    return model_text[: model_text.index("end of trees")]


def test_two_ranks_learn_and_report_means_over_both(undisturbed):
    assert "2 workers" in undisturbed.output
    assert "Trees: 40, after 1 lives of the group" in undisturbed.output
    assert undisturbed.accuracy > 0.95
    assert [report["trees"] for report in undisturbed.reports] == list(range(5, ROUNDS + 1, 5))
    # The ranks have looked at half of the test rows each.
    assert undisturbed.reports[-1]["accuracy"] == pytest.approx(undisturbed.accuracy, abs=1e-9)


@pytest.mark.parametrize("start", ["fork", "exec"])
def test_a_killed_rank_changes_neither_the_trees_nor_the_accuracy(program, undisturbed, tmp_path, start):
    killed = Run(program, tmp_path, 2, HEADWAY_EXAMPLE_KILL="1", HEADWAY_WORKER_START=start)
    assert "rank 1" in killed.output
    assert "was killed by SIGKILL" in killed.output
    assert "Trees: 40, after 2 lives of the group" in killed.output
    assert [(report["trees"], report["attempt"]) for report in killed.reports] == [
        (grown, 1 if grown <= 20 else 2) for grown in range(5, ROUNDS + 1, 5)
    ]
    assert trees(killed.model.read_text()) == trees(undisturbed.model.read_text())
    assert killed.accuracy == undisturbed.accuracy


def test_one_rank_grows_the_trees_of_the_python_package(program, tmp_path):
    lightgbm = pytest.importorskip("lightgbm")
    assert (
        f"version={importlib.metadata.version('lightgbm')}\n"
        in (ROOT / "examples/cpp/boosting/get_lightgbm.sh").read_text()
    )
    alone = Run(program, tmp_path, 1)
    parameters = {"objective": "binary", "num_leaves": 15, "learning_rate": 0.2, "max_bin": 63, "verbosity": -1}
    parameters |= {"deterministic": True, "force_col_wise": True, "num_threads": 1}
    features, labels = table(0, TRAINING_ROWS)
    model = lightgbm.train(parameters, lightgbm.Dataset(features, labels), ROUNDS)
    assert trees(alone.model.read_text()) == trees(model.model_to_string())
    features, labels = table(TRAINING_ROWS, TEST_ROWS)
    assert alone.accuracy == pytest.approx(((model.predict(features) > 0.5) == labels).mean(), abs=1e-6)

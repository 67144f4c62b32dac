"""The C++ example with libtorch trains as the Python example does, and recovers as it does."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import cloudpickle
import pytest
from headway import train
from headway.train.torch import TorchTrainer

pytestmark = pytest.mark.heavy

ROOT = Path(__file__).parents[2]
PROGRAM = Path(os.environ.get("HEADWAY_TEST_EXAMPLES", ROOT / "build/tests/examples")) / "example_digits"
EPOCHS = 3


@pytest.fixture(scope="module")
def digits():
    spec = importlib.util.spec_from_file_location("digits", ROOT / "examples/digits.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["digits"] = module
    spec.loader.exec_module(module)
    cloudpickle.register_pickle_by_value(module)  # Workers do not find it by its name.
    yield module
    cloudpickle.unregister_pickle_by_value(module)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    subprocess.run([sys.executable, ROOT / "examples/cpp/digits/export_data.py", folder], check=True)
    return folder


def reports(folder):
    return [json.loads(line) for line in (folder / "result.json").read_text().splitlines()]


def run_program(data, storage, epochs=EPOCHS):
    done = subprocess.run([PROGRAM, data, str(epochs), storage], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    (folder,) = storage.iterdir()
    return folder, done.stdout


def test_the_losses_are_those_of_the_python_example(digits, data, tmp_path):
    python = TorchTrainer(
        digits.train_digits,
        train_loop_config={"epochs": EPOCHS},
        scaling_config=train.ScalingConfig(num_workers=2),
        run_config=train.RunConfig(storage_path=str(tmp_path / "python"), name="run"),
    ).fit()
    folder, output = run_program(data, tmp_path / "cpp")
    wanted, found = reports(Path(python.path)), reports(folder)
    assert [line["epoch"] for line in found] == [1, 2, 3]
    for one, other in zip(wanted, found, strict=True):
        assert other["loss"] == pytest.approx(one["loss"], abs=1e-5)
        assert other["accuracy"] == pytest.approx(one["accuracy"], abs=1e-6)
    assert found[-1]["accuracy"] > 0.8
    assert "checkpoint_000002" in output


def test_workers_by_exec_come_to_the_same_losses(data, tmp_path, monkeypatch):
    other = "fork" if os.environ.get("HEADWAY_WORKER_START") == "exec" else "exec"
    first, _ = run_program(data, tmp_path / "one", epochs=1)
    monkeypatch.setenv("HEADWAY_WORKER_START", other)
    second, _ = run_program(data, tmp_path / "other", epochs=1)
    assert reports(second)[0]["loss"] == reports(first)[0]["loss"]

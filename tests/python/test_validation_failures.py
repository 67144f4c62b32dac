"""Validation functions that fail: the training is not touched, and the failure is shown."""

import re
import sys
import tempfile
from pathlib import Path

import pytest
from headway import train
from headway.train import Checkpoint, ValidationConfig


def load(checkpoint):
    with checkpoint.as_directory() as directory:
        return int(Path(directory, "value").read_text())


def loop(config):
    for value in config["values"]:
        with tempfile.TemporaryDirectory() as directory:
            Path(directory, "value").write_text(str(value))
            train.report({"value": value}, Checkpoint.from_directory(directory), validation=True)


def kept(result):
    return [metrics for _, metrics in result.best_checkpoints]


def test_a_function_that_raises_ends_nothing(fit, capsys):
    def validate(checkpoint):
        value = load(checkpoint)
        return {"inverse": 1 / value}

    result = fit(loop, workers=1, config={"values": [0, 4]}, validation_config=ValidationConfig(validate))
    assert kept(result) == [{"value": 0}, {"value": 4, "inverse": 0.25}]
    told = capsys.readouterr().err
    assert "the validation of checkpoint_000000 failed" in told
    assert "ZeroDivisionError: division by zero" in told
    assert '{"inverse": 1 / value}' in told, "the frame that raised"


def test_a_signal_that_comes_with_its_exception_hides_nothing(fit, capsys):
    """A DataLoader's process that is killed: torch's handler raises once the function has ended."""

    def validate(checkpoint):
        import ctypes
        import signal

        def handler(number, frame):
            raise RuntimeError("a child was killed")

        signal.signal(signal.SIGCHLD, handler)
        come = ctypes.PyDLL(None).PyErr_SetInterruptEx
        come.errcheck = int  # It raises a TypeError, before Python sees the signal.
        come(signal.SIGCHLD)

    fit(loop, workers=1, config={"values": [1]}, validation_config=ValidationConfig(validate))
    told = capsys.readouterr().err
    assert re.search(r"checkpoint_000000 failed.*TypeError: .*in validate", told, re.DOTALL), told
    assert "a child was killed" not in told


def test_a_function_that_closes_its_output_returns_its_metrics(fit):
    def validate(checkpoint):
        sys.stdout.close()
        return {"score": 1}

    result = fit(loop, workers=1, config={"values": [1]}, validation_config=ValidationConfig(validate))
    assert kept(result) == [{"value": 1, "score": 1}]


@pytest.mark.parametrize(
    ("returned", "words"),
    [(None, "returned None (NoneType)"), ({"x": object()}, "metrics['x'] is an object"), ({1: 2}, "key 1")],
)
def test_what_is_no_metrics_fails(fit, capsys, returned, words):
    result = fit(loop, workers=1, config={"values": [1]}, validation_config=ValidationConfig(lambda c: returned))
    assert kept(result) == [{"value": 1}]
    assert words in capsys.readouterr().err

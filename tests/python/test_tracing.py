"""Debuggers, profilers, coverage: what traces Python works before, during and after a run."""

import os
import subprocess
import sys
import textwrap

import pytest

PACKAGES = os.pathsep.join(path for path in sys.path if path)

TRAIN = """
import sys
from headway import train

def loop():
    for step in range(3):
        train.report({"step": step})

def fit(workers):
    scaling = train.ScalingConfig(num_workers=workers)
    return train.DataParallelTrainer(loop, scaling_config=scaling, run_config=train.RunConfig(verbose=0)).fit()
"""


@pytest.fixture
def traced(storage, tmp_path):
    """Runs a program and returns its output."""

    def run(code, typed="", options=()):
        (tmp_path / "traced.py").write_text(TRAIN + textwrap.dedent(code))
        done = subprocess.run(
            [sys.executable, *options, tmp_path / "traced.py"],
            input=typed,
            env={**os.environ, "PYTHONPATH": PACKAGES, "HEADWAY_STORAGE": storage},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.mark.parametrize("workers", [0, 1])
@pytest.mark.parametrize("hook", ["settrace", "setprofile"])
def test_a_run_is_traced(traced, hook, workers):
    code = f"""
    seen = set()

    def note(frame, event, argument):
        seen.add(frame.f_code.co_name)
        return note

    sys.{hook}(note)
    result = fit({workers})
    sys.{hook}(None)
    print("fit" in seen, result.metrics["step"])
    """
    assert traced(code) == "True 2\n"


def test_a_program_is_traced_after_a_run(traced):
    code = """
    fit(1)
    seen = []
    sys.settrace(lambda frame, event, argument: seen.append(frame.f_code.co_name))
    (lambda: None)()
    sys.settrace(None)
    print(seen)
    """
    assert traced(code) == "['<lambda>']\n"


def test_a_profiler_runs_a_training(traced):
    assert "traced.py" in traced("fit(0)", options=["-m", "cProfile"])


def test_a_debugger_steps_through_the_training_function(traced):
    code = """
    def loop():
        breakpoint()
        answer = 41
        train.report({"answer": answer})
        answer = answer + 1
        train.report({"answer": answer})

    print("reported", fit(0).metrics["answer"])
    """
    output = traced(code, typed="next\nnext\nnext\nprint('seen', answer)\nnext\ncontinue\n")
    assert "seen 4" in output
    assert "reported 42" in output

"""A notebook as the driver: a real Jupyter kernel defines the loop, shows the output, and survives
an interrupt.
"""

import itertools
import json
import os
import pathlib
import queue
import re
import time

import processes
import pytest
from conftest import PACKAGES

pytestmark = pytest.mark.both_starts

jupyter_client = pytest.importorskip("jupyter_client")
pytest.importorskip("ipykernel")

CELL_LIMIT_S = 60


class Notebook:
    """A kernel, and cells that run in it."""

    def __init__(self, storage, mark):
        environment = {**os.environ, "PYTHONPATH": PACKAGES, "HEADWAY_STORAGE": storage, processes.MARK: mark}
        self.kernel = jupyter_client.KernelManager(kernel_name="python3")
        self.kernel.start_kernel(env=environment)
        self.client = self.kernel.blocking_client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=CELL_LIMIT_S)

    def run(self, code, interrupt_at=None, shown=None):
        """Runs a cell; returns (its stream output, the name of its error or None).

        `shown` is (a line that moves, a pipe): the pipe is opened and closed once the line is seen.
        """
        cell = self.client.execute(code)
        output, error = "", None
        self.shown, self.drawn, self.moved, self.error = "", [], [], ""
        self.pictures = 0
        deadline = time.monotonic() + CELL_LIMIT_S
        while time.monotonic() < deadline:
            try:
                message = self.client.get_iopub_msg(timeout=1)
            except queue.Empty:
                continue
            if message["parent_header"].get("msg_id") != cell:
                continue
            kind, content = message["msg_type"], message["content"]
            if kind == "stream":
                output += content["text"]
            elif kind in ("display_data", "update_display_data"):
                if "text/html" in content["data"]:
                    self.shown = content["data"]["text/html"]
                    self.drawn.append(kind)
                else:
                    self.moved.append(content["data"]["text/plain"])
                    if shown is not None and shown[0] == self.moved[-1]:
                        os.close(os.open(shown[1], os.O_WRONLY))
                        shown = None
            elif kind == "execute_result":
                self.pictures += "image/svg+xml" in content["data"]
            elif kind == "error":
                error, self.error, self.frames = content["ename"], content["evalue"], content["traceback"]
            elif kind == "status" and content["execution_state"] == "idle":
                return output, error
            if interrupt_at is not None and interrupt_at in output:
                self.kernel.interrupt_kernel()
                interrupt_at = None
        raise AssertionError(f"the cell did not end; its output: {output}")

    def close(self):
        self.client.stop_channels()
        self.kernel.shutdown_kernel()


@pytest.fixture
def notebook(storage):
    mark = os.path.basename(os.path.dirname(storage)) + str(os.getpid())
    notebook = Notebook(storage, mark)
    yield notebook
    notebook.close()
    assert processes.wait_gone(lambda: processes.marked(mark), 10) == {}, "the kernel's end leaves nothing"


def test_a_notebook_trains_is_interrupted_and_trains_again(notebook):
    output, error = notebook.run("""
from headway import train
from headway.train.torch import TorchTrainer
scaling = train.ScalingConfig(num_workers=2)
offset = 40

def loop(config):
    import torch
    import torch.distributed as dist
    total = torch.ones(1)
    dist.all_reduce(total)
    print("hello from", train.get_context().get_world_rank())
    train.report({"answer": offset + total.item()})
""")
    assert (output, error) == ("", None)
    output, error = notebook.run("print(TorchTrainer(loop, scaling_config=scaling).fit().metrics['answer'])")
    assert error is None, output
    for text in ("(rank 0) hello from 0\n", "(rank 1) hello from 1\n", "42.0\n"):
        assert text in output
    assert notebook.drawn[:1] == ["display_data"]
    assert notebook.moved[-1:] in ([], [""]), "the line that moved is gone"
    assert "<th>answer</th>" in notebook.shown
    assert "<td>42.00</td>" in notebook.shown
    output, error = notebook.run(
        """
def endless():
    import threading
    print("waiting", flush=True)
    threading.Event().wait()

TorchTrainer(endless, scaling_config=scaling).fit()
""",
        interrupt_at="(rank 1) waiting",
    )
    assert error == "KeyboardInterrupt"
    assert "stopped by Ctrl-C" in output
    assert notebook.frames == ["KeyboardInterrupt"]
    output, error = notebook.run("print(TorchTrainer(loop, scaling_config=scaling).fit().metrics['answer'])")
    assert error is None, output
    assert output.endswith("42.0\n")
    later = [text for text in notebook.moved if text and not text.startswith("preparing")]
    assert later, f"a run of less than a second shows where it is too: {notebook.moved}"
    assert all(one != other for one, other in itertools.pairwise(notebook.moved)), "nothing is sent twice"


def test_a_cell_trains_in_the_notebook_s_own_process(notebook):
    output, error = notebook.run("""
from headway import train
local, seen = train.ScalingConfig(num_workers=0), []

def loop():
    print("in the cell")
    for step in range(2):
        train.report({"loss": 0.5, "eval": {"accuracy": step}})
    train.report({"late": 3})
    seen.append("a variable of the notebook's")

train.DataParallelTrainer(loop, scaling_config=local).fit()
print(seen)
""")
    assert error is None, output
    said = [line for line in output.splitlines() if not line.startswith("headway: ")]
    assert said == ["in the cell", '["a variable of the notebook\'s"]']
    assert notebook.drawn == ["display_data", "update_display_data", "update_display_data"]
    titles = ("report", "loss", "eval/accuracy", "late", "time_s", "checkpoint")
    assert "".join(f"<th>{title}</th>" for title in titles) in notebook.shown
    # By row: metrics that it has not, and no checkpoint.
    assert notebook.shown.count("<td></td>") == 2 + 2 + 3
    output, error = notebook.run(
        """
def endless():
    import signal
    print("waiting", flush=True)
    while True:  # A signal between the line above and pause() would be missed.
        signal.sigtimedwait([], 0.1)

train.DataParallelTrainer(endless, scaling_config=local).fit()
""",
        interrupt_at="waiting",
    )
    assert error == "KeyboardInterrupt"
    output, error = notebook.run(
        "print(train.DataParallelTrainer(lambda: 'again', scaling_config=local).fit().return_value)"
    )
    assert error is None
    assert output.endswith("again\n")


def test_an_exception_of_a_cell_shows_the_cell_s_line(notebook):
    notebook.run("""
from headway import train

class Model:
    def step(self):
        raise ValueError("too hot")  # in the model's cell
""")
    _, error = notebook.run("""
def loop():
    Model().step()  # in the loop's cell

train.DataParallelTrainer(loop).fit()
""")
    assert error == "WorkerGroupError"
    assert '    raise ValueError("too hot")  # in the model\'s cell\n' in notebook.error
    assert "    Model().step()  # in the loop's cell\n" in notebook.error


def test_a_notebook_has_a_dashboard_unless_it_wants_none(notebook):
    output, error = notebook.run("""
import urllib.request
import headway
headway.init(num_cpus=1)
urllib.request.urlopen(headway.dashboard_url()).status
""")
    assert error is None, notebook.frames
    assert re.search(r"dashboard: http://127\.0\.0\.1:\d+/\?token=[0-9a-f]{32}\n", output), output
    for off in (
        "headway.init(num_cpus=1, dashboard=False)",
        "import os; os.environ['HEADWAY_DASHBOARD'] = '0'; headway.init()",
    ):
        output, error = notebook.run(f"headway.shutdown(); {off}; print(headway.dashboard_url())")
        assert (output, error) == ("None\n", None)


def test_a_progress_bar_moves_in_a_cell(notebook, tmp_path):
    pipe = tmp_path / "first value was seen"
    os.mkfifo(pipe)
    notebook.run(
        f"""
import sys
from headway import train

def loop():
    for step in range(3):
        print(f"\\r{{step}} of 2", end="", file=sys.stderr, flush=True)
        if step == 0:
            open({str(pipe)!r}).close()
        train.report({{"step": step}})
    print(file=sys.stderr)

train.DataParallelTrainer(loop).fit()
""",
        shown=("(rank 0) 0 of 2", pipe),
    )
    assert "(rank 0) 0 of 2" in notebook.moved
    assert notebook.moved[-1] == ""


@pytest.mark.heavy
def test_the_first_notebook_of_the_examples_runs_as_it_is(notebook):
    path = pathlib.Path(__file__).parents[2] / "examples/first_steps.ipynb"
    cells = [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
    printed, pictures = "", 0
    for cell in cells:
        assert (cell["outputs"], cell["execution_count"]) == ([], None), "it is kept without output"
        output, error = notebook.run("".join(cell["source"]))
        assert error is None, (cell, output, notebook.error)
        printed += output
        pictures += notebook.pictures
    assert pictures == 1
    assert "Restarting the worker group (failure 1 of 1 allowed) from checkpoint_000003: rank 1 " in printed
    accuracy = float(printed.partition("test accuracy: ")[2].split()[0])
    assert accuracy > 0.85
    read, labels = (printed.partition(words)[2].splitlines()[0] for words in ("model reads", "labels say "))
    assert sum(a == b for a, b in zip(json.loads(read), json.loads(labels), strict=True)) >= 7

"""Libraries that only some functions need: the rest works without them, and those say what to
install.
"""

import os

import pytest
from conftest import PACKAGES

HIDE = """
import sys

class Hiding:
    def __init__(self, finder):
        self.finder = finder

    def find_spec(self, name, path=None, target=None):
        hidden = name.partition(".")[0] in {names!r}
        return None if hidden else self.finder.find_spec(name, path, target)

    def __getattr__(self, name):
        return getattr(self.finder, name)

sys.meta_path[:] = map(Hiding, sys.meta_path)
"""

LOOP = """
import os, sys, tempfile
from headway import train

def loop(config):
    with tempfile.TemporaryDirectory() as directory:
        open(os.path.join(directory, "weights"), "w").write("7")
        train.report({"loss": 0.5}, checkpoint=train.Checkpoint.from_directory(directory))

def fit(workers=2, **run):
    trainer = train.DataParallelTrainer(loop, train_loop_config={}, run_config=train.RunConfig(**run),
                                        scaling_config=train.ScalingConfig(num_workers=workers))
    return trainer.fit()
"""


@pytest.fixture
def without(tmp_path):
    """The environment of a script that finds none of the named packages, and neither do its
    processes.
    """

    def hide(*names):
        folder = tmp_path / "hiding"
        folder.mkdir()
        (folder / "sitecustomize.py").write_text(HIDE.format(names=set(names)))
        return {"PYTHONPATH": os.pathsep.join([str(folder), PACKAGES])}

    return hide


@pytest.mark.parametrize("workers", [0, 2])
def test_a_run_needs_none_of_numpy_pandas_and_pyarrow(without, script, workers):
    status, output = script.run(
        LOOP
        + f"""
import headway, headway.train, headway.tune
result = fit({workers}, name="run")
with result.checkpoint.as_directory() as directory:
    print(open(os.path.join(directory, "weights")).read(), result.metrics["loss"], result.error)
again = train.Result.from_path(result.path)
print(again.metrics["loss"], again.checkpoint == result.checkpoint)
try:
    result.metrics_dataframe
except ImportError as error:
    print(error)
""",
        **without("numpy", "pandas", "pyarrow"),
    )
    assert status == 0, output
    assert output.splitlines()[-3:] == [
        "7 0.5 None",
        "0.5 True",
        "metrics_dataframe needs pandas, which is not installed: pip install pandas",
    ]


def test_ddp_needs_no_numpy(without, script):
    status, output = script.run(
        """
import sys, torch
from headway import train
from headway.train.torch import TorchTrainer, prepare_data_loader, prepare_model

def loop():
    model = prepare_model(torch.nn.Linear(2, 1))
    data = torch.utils.data.TensorDataset(torch.ones(8, 2))
    for (batch,) in prepare_data_loader(torch.utils.data.DataLoader(data, batch_size=2)):
        loss = model(batch).sum()
        loss.backward()
    train.report({"loss": loss, "has_numpy": "numpy" in sys.modules})

result = TorchTrainer(loop, scaling_config=train.ScalingConfig(num_workers=2)).fit()
print(result.metrics["has_numpy"], type(result.metrics["loss"]).__name__)
""",
        **without("numpy", "pandas"),
    )
    assert (status, output.splitlines()[-1]) == (0, "False float"), output
    # torch warns that it is missing; Headway's factories do not.
    assert "could not import numpy" not in output


def test_remote_storage_without_pyarrow_says_what_to_install(without, script):
    status, output = script.run(
        LOOP
        + """
try:
    fit(storage_path="s3://bucket/runs")
except Exception as error:
    print(type(error).__name__, error)
""",
        **without("pyarrow"),
    )
    assert status == 0, output
    assert "URLs need pyarrow, which is not installed: pip install 'pyarrow==" in output.splitlines()[-1]

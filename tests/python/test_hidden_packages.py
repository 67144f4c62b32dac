"""A script with the name of a package that workers import is refused before anything starts."""

import subprocess
import sys

import pytest

SCRIPT = """
print("runs as", __name__, flush=True)
IMPORTS
def loop():
    pass

train.DataParallelTrainer(loop).fit()
print("trained")
"""


def run(path, *options):
    ended = subprocess.run(
        [sys.executable, *options, str(path)], capture_output=True, text=True, timeout=60, check=False
    )
    return ended.returncode, ended.stdout, ended.stderr.splitlines()[-1] if ended.stderr else ""


@pytest.mark.parametrize(
    ("name", "imports"),
    [
        ("torch", "from headway import train; from headway.train.torch import TorchTrainer"),
        ("numpy", "from headway import data, train"),
        ("cloudpickle", "from headway import train"),
    ],
)
def test_a_script_that_hides_a_package_is_named(tmp_path, name, imports):
    script = tmp_path / f"{name}.py"
    script.write_text(SCRIPT.replace("IMPORTS", imports))
    status, output, words = run(script)
    assert (status, output) == (1, "runs as __main__\n")
    assert words == (
        f"ImportError: {script} hides the package {name}: what imports {name}, such as a worker, would run this script "
        "in its place; rename the script"
    )


def test_other_scripts_are_not_refused(tmp_path):
    """Names of files that are not the script, or whose folder nobody imports from."""
    (tmp_path / "torch.py").write_text("import headway; print('no script')")
    (tmp_path / "script.py").write_text("import torch")
    assert run(tmp_path / "script.py")[:2] == (0, "no script\n")
    (tmp_path / "numpy.py").write_text("import sys; del sys.path[0]; import headway; print('imported')")
    assert run(tmp_path / "numpy.py")[:2] == (0, "imported\n")

"""The stub in the tree is the one that the extension gives."""

import subprocess
import sys
from pathlib import Path

import headway


def test_the_extensions_stub_is_up_to_date(tmp_path):
    fresh = tmp_path / "_core.pyi"
    subprocess.run(
        [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "headway._core", "-o", fresh], check=True, timeout=60
    )
    kept = Path(headway.__file__).with_name("_core.pyi")
    # The build's pyarrow is written into the module and may differ from machine to machine.
    assert _without_pyarrow(fresh) == _without_pyarrow(kept)


def _without_pyarrow(stub):
    return [line for line in stub.read_text().splitlines() if not line.startswith("pyarrow_version")]

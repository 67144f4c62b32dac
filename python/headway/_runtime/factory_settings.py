"""How worker factories are started."""

from __future__ import annotations

import os
import sys

from headway._runtime.environment import factory_command
from headway._values.py_spy import find_py_spy

# A library that starts threads when it is imported would keep the factory from forking; workers set
# their own numbers.
_FACTORY_ENV = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    # pyarrow's allocator, which pandas and so scikit-learn bring in, would start one too.
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
}


def worker_start() -> str:
    """How workers are started: ``"fork"`` or ``"exec"``.

    Raises:
        ValueError: the environment says something else.
    """
    start = os.environ.get("HEADWAY_WORKER_START", "fork")
    if start not in ("fork", "exec"):
        raise ValueError(f'HEADWAY_WORKER_START is {start!r} in the environment; allowed: "fork" (default) or "exec"')
    return start


def factory_settings() -> tuple[str, list[str], dict[str, str], str]:
    """How worker factories are started: the guard's path, the command, its environment, the path of
    py-spy.
    """
    worker_start()
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    command = factory_command(sys.executable, sys.path, sys.argv)
    return os.path.join(package, "bin", "headway-guard"), command, _FACTORY_ENV, find_py_spy()

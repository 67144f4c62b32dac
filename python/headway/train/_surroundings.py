"""What of the driver's surroundings its workers get: environment, import path, arguments, working directory."""

from __future__ import annotations

import os
import sys
from typing import Any

from headway._worker.threads import own_variables


def surroundings() -> dict[str, Any]:
    """For a worker's set-up.

    Ranks work in another directory: entries of the import path that are relative to the driver's become absolute.
    """
    cwd = os.getcwd()
    # A trainer within a validation function: how many threads the function was given is nothing to its workers.
    env = {name: value for name, value in os.environ.items() if name not in own_variables}
    if "PYTHONPATH" in env:
        env["PYTHONPATH"] = os.pathsep.join(_absolute(entry) for entry in env["PYTHONPATH"].split(os.pathsep))
    return {"env": env, "sys_path": [_absolute(entry) for entry in sys.path], "cwd": cwd, "argv": sys.argv}


def _absolute(entry: str) -> str:
    # What is no path (the finders of editable installs stand there by a name of their own) stays as it is.
    return os.path.abspath(entry) if not entry or os.path.exists(entry) else entry


def works_in_run_directory() -> bool:
    """Whether ranks leave the driver's working directory for one of the run's own.

    Raises:
        ValueError: ``HEADWAY_CHDIR_TO_TRIAL_DIR`` (or ``RAY_CHDIR_TO_TRIAL_DIR``) is neither 0 nor 1.
    """
    for name in ("HEADWAY_CHDIR_TO_TRIAL_DIR", "RAY_CHDIR_TO_TRIAL_DIR"):
        value = os.environ.get(name)
        if value in ("0", "1"):
            return value == "1"
        if value:
            raise ValueError(f"{name} is {value!r} in the environment; allowed: 1 (default) or 0")
    return True

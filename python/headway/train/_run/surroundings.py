"""What of the driver's surroundings its workers get: environment, import path, arguments, working
directory.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from headway._worker.threads import own_variables


def surroundings() -> dict[str, Any]:
    """For a worker's set-up.

    Ranks work in another directory: entries of the import path that are relative to the driver's
    become absolute.
    """
    try:
        cwd = os.getcwd()
    except FileNotFoundError as error:
        raise FileNotFoundError(
            "the working directory of this process is gone, and workers would look there for the script's modules; "
            "os.chdir() to one that exists"
        ) from error
    # A trainer within a validation function: how many threads the function was given is nothing to
    # its workers.
    env = {name: value for name, value in os.environ.items() if name not in own_variables}
    if "PYTHONPATH" in env:
        env["PYTHONPATH"] = os.pathsep.join(_absolute(entry) for entry in env["PYTHONPATH"].split(os.pathsep))
    return {"env": env, "sys_path": [_absolute(entry) for entry in sys.path], "cwd": cwd, "argv": sys.argv}


def _absolute(entry: str) -> str:
    # What is no path (the finders of editable installs stand there by a special name) stays as it
    # is.
    return os.path.abspath(entry) if not entry or os.path.exists(entry) else entry

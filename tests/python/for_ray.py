"""Runs scripts that were written for Ray Train, as they are, by ``headway run --as-ray``."""

import os
import subprocess
import sys
import textwrap

from conftest import PACKAGES

LIMIT_S = 400  # Importing a framework takes longer than training does.


def run(folder, code, *arguments, **environment):
    """The script's output; it must end with the line ``done``.

    Args:
        folder: The directory that it runs in; results go to its ``results``.
        code: The script.
        *arguments: Its arguments.
        **environment: Further variables.
    """
    path = folder / "for_ray.py"
    path.write_text(textwrap.dedent(code))
    command = [sys.executable, "-m", "headway", "run", "--as-ray", path, *map(str, arguments)]
    places = {"PYTHONPATH": PACKAGES, "HEADWAY_STORAGE": str(folder / "results")}
    done = subprocess.run(
        command,
        env={**os.environ, **places, **environment},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert (done.returncode, done.stdout.splitlines()[-1:]) == (0, ["done"]), done.stdout + done.stderr
    return done.stdout + done.stderr

"""Where py-spy is, which shows what a process is doing."""

from __future__ import annotations

import os
import shutil
import sysconfig


def find_py_spy() -> str:
    """Its path; empty when it is not installed."""
    beside = os.path.join(sysconfig.get_path("scripts"), "py-spy")
    return beside if os.access(beside, os.X_OK) else shutil.which("py-spy") or ""

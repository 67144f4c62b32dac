"""Headway: distributed training with warm workers, durable checkpoints and recovery in
milliseconds.

``headway.train`` has the trainers, ``headway.train.torch`` the PyTorch one. A run starts Headway by
itself; :func:`init` is there to say what of the machine may be used, or to start early.
"""

from __future__ import annotations

import importlib
from typing import Any

try:
    from headway._core import version as __version__
except ModuleNotFoundError as missing:
    if missing.name != "headway._core":
        raise
    from headway._values.built_for import why_no_core

    raise ImportError(why_no_core(), name="headway._core") from None
from headway._values.hidden_packages import hidden_by_script

if hidden_by_script() is not None:  # Before anything imports it.
    raise ImportError(hidden_by_script())
from headway._places.finder import TABLE_FINDER
from headway._ray import as_ray
from headway._runtime.dashboard import dashboard_url
from headway._runtime.nodes import nodes
from headway._runtime.runs import runs
from headway._runtime.runtime import (
    available_resources,
    cluster_resources,
    init,
    is_initialized,
    join_address,
    shutdown,
)
from headway._values.named_arguments import offer

__all__ = [
    "__version__",
    "as_ray",
    "available_resources",
    "cluster_resources",
    "dashboard_url",
    "init",
    "is_initialized",
    "join_address",
    "nodes",
    "runs",
    "shutdown",
]

offer(globals(), __all__)
# Older and longer names of modules can be imported.
TABLE_FINDER.install()

_MODULES = ("data", "train", "tune")
"""Those that ``import headway`` alone gives."""


def __getattr__(name: str) -> Any:
    """A module is imported when it is first used."""
    if name in _MODULES:
        return importlib.import_module(f"headway.{name}")
    raise AttributeError(f"module 'headway' has no attribute {name!r}")

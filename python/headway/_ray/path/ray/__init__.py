"""``ray``, as far as Headway has it: ``ray.train`` and ``ray.air`` are ``headway.train`` and
``headway.air``.

Found by ``import ray`` after :func:`headway.as_ray`, or under ``headway run --as-ray``.
"""

from __future__ import annotations

import importlib
from typing import Any

from headway._ray import core_names, finder
from headway._ray.init import init
from headway._runtime.nodes import nodes
from headway._runtime.runtime import available_resources, cluster_resources, is_initialized, shutdown

__all__ = [
    "__version__",
    "available_resources",
    "cluster_resources",
    "init",
    "is_initialized",
    "nodes",
    "shutdown",
]

# Of the Ray whose names these are: scripts compare it.
__version__ = "2.60.0"

finder.FINDER.install()


def __getattr__(name: str) -> Any:
    """Ray Core's functions, each of which says that it is not there; and modules, imported when
    they are first used.
    """
    if name in core_names.FUNCTIONS:
        return core_names.refusal(name)
    if not name.startswith("_"):
        try:
            return importlib.import_module(f"ray.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"headway.{name}":
                raise
            words = str(error) if name in ("data", "tune") else core_names.explanation(name)
            raise AttributeError(words) from None
    raise AttributeError(f"module 'ray' has no attribute {name!r}")

"""``import ray`` that means Headway, for scripts that are not to be changed."""

from __future__ import annotations

import importlib
import os
import sys

_PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "path")


def import_path() -> str:
    """The folder whose ``ray`` is Headway's; in front of the import path it hides an installed
    Ray.
    """
    return _PATH


def as_ray() -> None:
    """From here on, ``import ray``, ``from ray.train.torch import ...`` and so on mean Headway; in
    workers too.

    It does not matter whether Ray is installed. What belongs to Ray Core (tasks, actors, objects)
    is not there: using it raises an error that says so. A second call does nothing.

    Raises:
        RuntimeError: ``ray`` is imported already, and is not Headway's.

    Example:
        >>> import headway
        >>> headway.as_ray()
        >>> from ray.train import ScalingConfig
        >>> ScalingConfig is headway.train.ScalingConfig
        True
    """
    imported = sys.modules.get("ray")
    if imported is not None:
        place = getattr(imported, "__file__", None) or "an unknown place"
        if os.path.dirname(os.path.dirname(place)) == _PATH:
            return
        raise RuntimeError(
            f"ray is imported already, from {place}; call headway.as_ray() before anything imports it, "
            "or start the script with `headway run --as-ray`"
        )
    # Workers and a data loader's processes take the driver's path over, and so find the same.
    if _PATH in sys.path:
        sys.path.remove(_PATH)
    sys.path.insert(0, _PATH)
    importlib.import_module("ray")

"""What ``headway.init("ray", ...)`` may be given, checked before anything starts."""

from __future__ import annotations

import importlib.machinery
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from headway._values.arguments import check_number, check_str, refuse

RAY_NAMES = ("bridge_python", "grace_s", "namespace", "python", "ray_init")
#: Arguments of ``ray.init`` that the bridge sets itself.
_OWN = ("address", "log_to_driver", "logging_level", "namespace", "runtime_env")
_LIMIT_S = 60.0  # For a Python to say whether it has Ray.
_FIND_RAY = "import importlib.util, sys; sys.exit(importlib.util.find_spec('ray') is None)"


def check_ray(address: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options as the bridge reads them.

    Args:
        address: ``"ray"``, ``"ray://host:port"`` or ``"host:port"``.
        options: As a user gave them.

    Raises:
        TypeError, ValueError, FileNotFoundError: what is wrong, by its name. ModuleNotFoundError:
        ray is not installed.
    """
    bridge_python = _program("bridge_python", options["bridge_python"]) if options.get("bridge_python") else None
    python = options.get("python")
    if python is not None:
        check_str("python", python, "None or the path of a Python on Ray's nodes")
    namespace = options.get("namespace")
    if namespace is not None:
        check_str("namespace", namespace, "None or the name of a namespace of Ray")
    grace_s = check_number("grace_s", options.get("grace_s", 30.0), "seconds, 0 or more")
    if grace_s < 0:
        raise ValueError(f"grace_s is {grace_s:g}; allowed: seconds, 0 or more")
    checked = {
        "address": "auto" if address == "ray" else address,
        "bridge_python": bridge_python,
        "grace_s": grace_s,
        "namespace": namespace,
        "python": python,
        "ray_init": _ray_init(options.get("ray_init")),
    }
    _check_ray_is_there(bridge_python)
    return checked


def _program(argument: str, value: object) -> str:
    allowed = "None or the path of a Python that has ray"
    if not isinstance(value, (str, os.PathLike)):
        refuse(argument, value, allowed)
    path = os.path.expanduser(os.fspath(value))
    found = shutil.which(path)
    if found is None:
        raise FileNotFoundError(f"{argument} is {value!r}, which is no program here; allowed: {allowed}")
    return os.path.abspath(found)


def _ray_init(value: object) -> dict[str, Any]:
    allowed = "None or a dict with further arguments of ray.init"
    if value is None:
        return {}
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        refuse("ray_init", value, allowed)
    for name in value:
        if name in _OWN:
            raise ValueError(f"ray_init has {name!r}; allowed: {allowed} other than {', '.join(_OWN)}")
    try:
        json.dumps(value)
    except (TypeError, ValueError) as error:
        raise ValueError(f"ray_init can't be written as JSON: {error}; allowed: {allowed} that can") from None
    return dict(value)


def without_own_ray(path: Sequence[str]) -> list[str]:
    """An import path that does not find Headway's ``ray``, which scripts have that run as Ray's."""
    own = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "_ray", "path")
    return [entry for entry in path if entry != own]


def _check_ray_is_there(python: str | None) -> None:
    if python is None:
        if importlib.machinery.PathFinder.find_spec("ray", without_own_ray(sys.path)) is not None:
            return
        python = sys.executable
    else:
        done = subprocess.run([python, "-c", _FIND_RAY], check=False, timeout=_LIMIT_S, capture_output=True)
        if done.returncode == 0:
            return
    raise ModuleNotFoundError(
        f"ray is not installed for {python}, which would speak with the cluster; install it there (the cluster's "
        'version), or name a Python that has it: headway.init("ray", bridge_python="/path/to/python")'
    )

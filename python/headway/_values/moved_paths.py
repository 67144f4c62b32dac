"""Paths of the driver's machine that lie elsewhere on this one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

#: In a factory's environment: the places, as JSON, and what went wrong with them.
PLACES_VARIABLE = "HEADWAY_NODE_PLACES"
TROUBLE_VARIABLE = "HEADWAY_NODE_TROUBLE"


def moved_path(path: str, places: Mapping[str, Sequence[str]]) -> list[str]:
    """Where ``path`` lies here.

    Args:
        path: A path of the driver's.
        places: By directories and files of the driver's, what stands for them here; it holds for
            all that is below them as well.
    """
    for place, here in places.items():
        if path == place:
            return list(here)
        if path.startswith(place + os.sep) and len(here) == 1:
            return [here[0] + path[len(place) :]]
    return [path]


def moved_paths(paths: Iterable[str], places: Mapping[str, Sequence[str]]) -> list[str]:
    """The same of several, in order."""
    return [here for path in paths for here in moved_path(path, places)]


def moved_variable(value: str, places: Mapping[str, Sequence[str]]) -> str:
    """The same of a variable such as ``PATH``."""
    return os.pathsep.join(moved_paths(value.split(os.pathsep), places))

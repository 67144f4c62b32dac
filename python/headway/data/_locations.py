"""Where a user's paths lie, as the data engine opens them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from headway._storage import locations
from headway._values.arguments import check_texts, refuse

if TYPE_CHECKING:
    import pyarrow.fs

_PATHS = "a path, a URL, or a list of them"


def column_names(argument: str, given: Any) -> list[str] | None:
    """Names of columns, or None for all."""
    if given is None:
        return None
    names = check_texts(argument, [given] if isinstance(given, str) else given, "None or a list of columns' names")
    if not names:
        raise ValueError(f"{argument} is []; allowed: None or a list of columns' names")
    return names


def location(argument: str, path: Any, filesystem: pyarrow.fs.FileSystem | None) -> str:
    """A place that the data engine can read or write.

    Raises:
        ValueError: it is on a filesystem that exists only in Python.
    """
    if isinstance(path, (str, os.PathLike)) and os.fspath(path) in ("", b""):
        raise ValueError(f"{argument} is ''; allowed: {_PATHS}")
    place = locations.location_of(path, filesystem, argument=argument)
    if place.startswith("python-"):
        raise ValueError(
            f"filesystem is {type(filesystem).__name__}; allowed: None or a local filesystem. The data engine opens "
            "URLs by itself, such as s3://bucket/path?endpoint_override=host:port or gs://bucket/path"
        )
    return place


def all_of(paths: Any, filesystem: Any) -> list[str]:
    """The places that a reader's ``paths`` names."""
    if isinstance(paths, (str, os.PathLike)):
        return [location("paths", paths, filesystem)]
    if isinstance(paths, (bytes, dict)) or not isinstance(paths, Iterable):
        refuse("paths", paths, _PATHS)
    places = [location(f"paths[{index}]", each, filesystem) for index, each in enumerate(paths)]
    if not places:
        raise ValueError(f"paths is empty; allowed: {_PATHS}")
    return places


def check_there(places: Sequence[str]) -> None:
    """Raises FileNotFoundError for a local path that does not exist."""
    for place in places:
        if not locations.is_remote(place) and not os.path.exists(locations.local_path(place)):
            raise FileNotFoundError(f"paths: {place} does not exist")


def filtered(places: Sequence[str], partition_filter: Any) -> list[str]:
    """The files below these places that a user's filter keeps."""
    if not callable(partition_filter):
        refuse("partition_filter", partition_filter, "None or a function from paths to paths")
    files = [file for place in places for file in _files_below(place)]
    kept = list(partition_filter(files))
    if not kept:
        raise ValueError(f"partition_filter has kept none of {len(files)} files; allowed: one that keeps some")
    return kept


def _files_below(place: str) -> list[str]:
    if not locations.is_remote(place):
        path = locations.local_path(place)
        if not os.path.isdir(path):
            return [path]
        found = [os.path.join(root, name) for root, _, names in os.walk(path) for name in names]
        return sorted(each for each in found if os.path.basename(each)[0] not in "._")
    import pyarrow.fs

    path, filesystem = locations.split(place)
    infos = filesystem.get_file_info(pyarrow.fs.FileSelector(path, recursive=True))
    below = [info.path.removeprefix(path).strip("/") for info in infos if info.is_file]
    return [locations.join(place, *name.split("/")) for name in sorted(below)] or [place]

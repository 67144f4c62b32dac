"""Where a user's paths lie, as the data engine opens them."""

from __future__ import annotations

import glob
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
    """The place that a path stands for; see ``on_python_filesystem``."""
    return _located(argument, _on(filesystem, path), filesystem)


def _located(argument: str, path: Any, filesystem: Any) -> str:
    if isinstance(path, (str, os.PathLike)) and os.fspath(path) in ("", b""):
        raise ValueError(f"{argument} is ''; allowed: {_PATHS}")
    return locations.location_of(path, filesystem, argument=argument)


def on_python_filesystem(place: str) -> bool:
    """Whether it is on a filesystem that exists only in Python: function workers read its files."""
    return place.startswith("python-")


def all_of(paths: Any, filesystem: Any, argument: str = "paths") -> list[str]:
    """The places that a reader's ``paths`` names, on any filesystem of ``pyarrow.fs`` or fsspec."""
    filesystem = of_pyarrow(filesystem)
    if isinstance(paths, (str, os.PathLike)):
        return [_located(argument, _on(filesystem, paths), filesystem)]
    if isinstance(paths, (bytes, dict)) or not isinstance(paths, Iterable):
        refuse(argument, paths, _PATHS)
    places = [
        _located(f"{argument}[{index}]", _on(filesystem, each), filesystem) for index, each in enumerate(list(paths))
    ]
    if not places:
        raise ValueError(f"{argument} is empty; allowed: {_PATHS}")
    return places


def of_pyarrow(filesystem: Any) -> Any:
    """A filesystem of fsspec as one of ``pyarrow.fs``; others as they are."""
    protocol = getattr(filesystem, "protocol", None)
    if protocol is None or not hasattr(filesystem, "_strip_protocol"):
        return filesystem
    import pyarrow.fs

    if "file" in ((protocol,) if isinstance(protocol, str) else protocol):
        return pyarrow.fs.LocalFileSystem()
    return pyarrow.fs.PyFileSystem(pyarrow.fs.FSSpecHandler(filesystem))


def _on(filesystem: Any, path: Any) -> Any:
    """A path on a filesystem; a URL such as ``s3://bucket/x`` is ``bucket/x`` there."""
    if filesystem is None or not isinstance(path, str):
        return path
    return path.partition("://")[2] if "://" in path and not path.startswith("file://") else path


def check_there(places: Sequence[str]) -> None:
    """Raises FileNotFoundError for a local path that does not exist."""
    for place in places:
        if not locations.is_remote(place) and not os.path.exists(locations.local_path(place)):
            hint = "; patterns are no paths: give a folder, or the list of glob.glob()" if glob.has_magic(place) else ""
            raise FileNotFoundError(f"paths: {place} does not exist{hint}")


def filtered(places: Sequence[str], partition_filter: Any) -> list[str]:
    """The files below these places that a user's filter keeps."""
    if not callable(partition_filter):
        refuse("partition_filter", partition_filter, "None or a function from paths to paths")
    files = {_users_path(file): file for place in places for file in _files_below(place)}
    kept = [files.get(each, each) for each in partition_filter(list(files))]
    if not kept:
        raise ValueError(f"partition_filter has kept none of {len(files)} files; allowed: one that keeps some")
    return kept


def without(places: Sequence[str], skipped: Sequence[str], extensions: Sequence[str] | None) -> list[str]:
    """These places without files and folders that are left out, whether these exist or not.

    Args:
        extensions: Of files that are read of a folder; None: all.

    Raises:
        ValueError: nothing is left.
    """
    gone = [locations.path_of(each) for each in skipped]

    def is_gone(place: str) -> bool:
        path = locations.path_of(place)
        return any(path == each or path.startswith(f"{each}/") for each in gone)

    kept: list[str] = []
    for place in places:
        below = f"{locations.path_of(place)}/"
        if is_gone(place):
            continue
        if not any(each.startswith(below) for each in gone):
            kept.append(place)
            continue
        ends = None if extensions is None else tuple(f".{each.removeprefix('.')}" for each in extensions)
        files = [each for each in _files_below(place) if not is_gone(each)]
        kept += [each for each in files if ends is None or locations.path_of(each).endswith(ends)]
    if not kept:
        raise ValueError("skip_paths leaves none of the files; allowed: paths of which some are left")
    return kept


def _users_path(place: str) -> str:
    """A place as its user has given it: on a Python filesystem, the path there."""
    return locations.path_of(place) if on_python_filesystem(place) else place


def _files_below(place: str) -> list[str]:
    if not locations.is_remote(place):
        path = locations.local_path(place)
        if not os.path.isdir(path):
            return [path]
        found = [os.path.join(root, name) for root, _, names in os.walk(path) for name in names]
        return sorted(each for each in found if os.path.basename(each)[0] not in "._")
    import pyarrow.fs

    path, filesystem = locations.split(place)
    if filesystem.get_file_info(path).is_file:
        return [place]
    infos = filesystem.get_file_info(pyarrow.fs.FileSelector(path, recursive=True))
    below = (info.path.removeprefix(path).strip("/").split("/") for info in infos if info.is_file)
    shown = sorted(parts for parts in below if not any(part[0] in "._" for part in parts))
    return [locations.join(place, *parts) for parts in shown] or [place]

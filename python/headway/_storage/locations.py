"""Where storage lies: from a path, perhaps on a filesystem, to a *location*, the text that the core
takes, and back.

A location is an absolute path, a URL (``s3://bucket/path?region=...``), or ``python-<id>://path``:
a path on a Python filesystem that this process has registered under that scheme. The id comes from
the pickled filesystem, so that the driver and its workers mean the same by it.
"""

from __future__ import annotations

import importlib.util
import os
import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import cloudpickle

from headway import _core
from headway import _session as worker_session
from headway._storage.python_files import PythonFiles, UrlFiles
from headway._values.arguments import is_utf8, refuse
from headway._values.ending import STORAGE, at_end
from headway._values.log import notice

if TYPE_CHECKING:
    import pyarrow.fs

_PYTHON = "python-"
_OF_BUCKETS = ("s3", "gs", "gcs")
# What Arrow has filesystems for.
_SCHEMES = (*_OF_BUCKETS, "hdfs", "viewfs", "abfs", "abfss")
_lock = threading.Lock()
_prepared = False
# By scheme: the filesystem and its pickled form.
_filesystems: dict[str, tuple[Any, bytes]] = {}


def default_storage() -> str:
    """The storage path of runs that were given none."""
    default = os.path.join("~", "headway_results")
    return os.environ.get("HEADWAY_STORAGE") or os.environ.get("RAY_STORAGE") or default


def is_remote(location: str) -> bool:
    """Whether it is a URL or lies on a Python filesystem, as against a path or ``file://``."""
    return _core.is_remote(location)


def join(location: str, *names: str) -> str:
    """The location of a name below a location; a URL's query stays at its end."""
    for name in names:
        location = _core.join_location(location, name)
    return location


def parent(location: str) -> str:
    """The location of the directory that a location lies in."""
    return _core.parent_location(location)


def name_of(location: str) -> str:
    """A location's own name, the last part of its path."""
    return _core.name_of(location)


def shown(location: str) -> str:
    """A location as people may read it, without secrets."""
    scheme, _, path = location.partition("://")
    if scheme in _filesystems:
        return f"{path} on the {_filesystems[scheme][0].type_name} filesystem"
    return _core.shown_location(location)


def kind_of(location: str) -> str:
    """The kind of filesystem in a word: ``"local"``, ``"s3"``, or what a Python filesystem calls
    itself.
    """
    if not is_remote(location):
        return "local"
    scheme = location.partition("://")[0]
    if not scheme.startswith(_PYTHON):
        return scheme
    return _filesystems[scheme][0].type_name if scheme in _filesystems else scheme


def location_of(
    path: str | os.PathLike[str],
    filesystem: pyarrow.fs.FileSystem | None = None,
    *,
    argument: str = "path",
    filesystem_argument: str = "filesystem",
) -> str:
    """The location that a user's path stands for; ready to be used in this process.

    Args:
        path: A path (made absolute, ``~`` is the home directory) or a URL; with ``filesystem`` a
            path on it.
        filesystem: A ``pyarrow.fs.FileSystem``. A local one's paths are plain paths.
        argument: What the user calls ``path``, for errors.
        filesystem_argument: What the user calls ``filesystem``.

    Raises:
        TypeError: something that is no path, or a filesystem that is no filesystem or cannot be
            pickled.
        ValueError: an empty path, a URL of no known kind, or one together with a filesystem.
    """
    location = _located(path, filesystem, argument, filesystem_argument)
    if "\0" in location or not is_utf8(location):
        raise ValueError(f"{argument} is {os.fspath(path)!r}; allowed: text that UTF-8 has, without null characters")
    return location


def _located(
    path: str | os.PathLike[str],
    filesystem: pyarrow.fs.FileSystem | None,
    argument: str,
    filesystem_argument: str,
) -> str:
    if not isinstance(path, (str, os.PathLike)):
        refuse(argument, path, "a path or a URL")
    text = os.fspath(path)
    if not isinstance(text, str):
        refuse(argument, path, "a path or a URL as text")
    if not text:
        raise ValueError(f"{argument} is ''; allowed: a path or a URL")
    if filesystem is None and text.partition("://")[0] in _filesystems:
        return text.rstrip("/")
    if filesystem is None:
        return _without_filesystem(text, argument)
    scheme = register(filesystem, argument=filesystem_argument)
    if "://" in text:
        raise ValueError(
            f"{argument} is {_core.shown_location(text)!r} together with {filesystem_argument}; allowed: a path on "
            f"that filesystem without {text.split('://')[0]}://, such as 'bucket/path'"
        )
    if scheme is None:
        return os.path.abspath(text)
    return f"{scheme}://{text if text == '/' else text.rstrip('/')}"


def split(location: str) -> tuple[str, pyarrow.fs.FileSystem]:
    """The path and the ``pyarrow.fs`` filesystem that a location stands for."""
    import pyarrow.fs

    scheme, separator, path = location.partition("://")
    if not is_remote(location):
        return (local_path(location) if separator else location), pyarrow.fs.LocalFileSystem()
    if scheme.startswith(_PYTHON):
        return path, _registered(scheme)[0]
    filesystem, path = pyarrow.fs.FileSystem.from_uri(location)
    return path, filesystem


def path_of(location: str) -> str:
    """The path on its filesystem that a location stands for: ``bucket/run`` of
    ``s3://bucket/run?region=...``.

    Nothing is opened for it: making an S3 filesystem may ask the network for the bucket's region.
    """
    if not is_remote(location):
        return local_path(location)
    scheme, _, rest = location.partition("://")
    if scheme.startswith(_PYTHON):
        return rest
    if scheme not in ("s3", "gs", "gcs"):
        return split(location)[0]
    bucket, slash, path = rest.partition("?")[0].partition("/")
    return unquote(bucket.rpartition("@")[2] + slash + path)


def local_path(location: str) -> str:
    """The path that an absolute path or ``file:///path`` stands for."""
    return unquote(urlsplit(location).path) if location.startswith("file://") else location


def register(filesystem: pyarrow.fs.FileSystem, *, argument: str = "filesystem") -> str | None:
    """Registers a filesystem in this process.

    Returns:
        Its scheme, the same for equal pickles; None for a local filesystem, whose paths are plain
        paths.

    Raises:
        TypeError: it is no ``pyarrow.fs.FileSystem``, or it cannot be pickled (workers need it
            too).
    """
    import pyarrow.fs

    if not isinstance(filesystem, pyarrow.fs.FileSystem):
        allowed = "a pyarrow.fs.FileSystem (an fsspec one: pyarrow.fs.PyFileSystem(pyarrow.fs.FSSpecHandler(...)))"
        refuse(argument, filesystem, allowed)
    if type(filesystem) is pyarrow.fs.LocalFileSystem:
        return None
    try:
        pickled = cloudpickle.dumps(filesystem)
    except Exception as error:
        raise TypeError(
            f"{argument} is {filesystem!r}, which cannot be sent to the workers: it cannot be pickled ({error})"
        ) from error
    import hashlib  # Here: it loads OpenSSL, which few runs need.

    scheme = _PYTHON + hashlib.blake2b(pickled, digest_size=4).hexdigest()
    _keep(scheme, filesystem, pickled)
    return scheme


def prepare(location: str) -> str:
    """Makes a location usable in this process; returns it. Cheap: libraries are loaded when it is
    used first.
    """
    global _prepared
    if not is_remote(location) or location.startswith(_PYTHON):
        return location
    with _lock:
        if _prepared:
            return location
        _prepared = True
    _find_arrow()
    # A worker ends without the destructors that the threads would disturb.
    if not worker_session.in_worker():
        # Arrow's threads must be gone before the interpreter is.
        at_end(STORAGE, _core.finish_remote)
    return location


def _find_arrow() -> None:
    """Has URLs opened by the core with the C++ libraries of the installed pyarrow, or, where they
    are others than Headway was built with, by ``pyarrow.fs``.
    """
    installed = importlib.util.find_spec("pyarrow")
    if installed is None or installed.origin is None or not installed.submodule_search_locations:
        return  # The core's error says what to install.
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    library = os.path.join(package, "lib", "libheadway_arrow.so")
    if _core.use_arrow_libraries(library, installed.submodule_search_locations[0]):
        return
    # Now: what it does at the process's end comes after our own end.
    import pyarrow.fs

    _core.set_url_opener(UrlFiles)
    if not worker_session.in_worker():
        built = _core.pyarrow_version.partition(".")[0]
        notice(
            f"Headway was built for pyarrow {built}, and {pyarrow.__version__} is installed: remote storage goes "
            f"through pyarrow.fs; it is faster with pip install 'pyarrow=={built}.*'"
        )


def registrations(locations: Iterable[str | None]) -> list[tuple[str, bytes]]:
    """What another process needs for these locations: ``(scheme, pickled filesystem)`` of each
    Python filesystem.
    """
    schemes = {location.partition("://")[0] for location in locations if location and location.startswith(_PYTHON)}
    return [(scheme, _registered(scheme)[1]) for scheme in sorted(schemes)]


def adopt(registered: Iterable[tuple[str, bytes]]) -> None:
    """Takes over another process's registrations. Unpickling imports pyarrow: never in the worker
    factory.
    """
    for scheme, pickled in registered:
        if scheme not in _filesystems:
            _keep(scheme, cloudpickle.loads(pickled), pickled)


def read_file(location: str) -> bytes:
    """The whole of a small file. Raises FileNotFoundError when it is not there."""
    return _core.read_file(prepare(location))


def directories_in(location: str) -> list[str]:
    """The names of the directories in a directory, sorted; none when it is not there."""
    return sorted(name for name, is_directory in _entries(location) if is_directory)


def files_in(location: str) -> list[str]:
    """The names of what else is in a directory, sorted; none when it is not there."""
    return sorted(name for name, is_directory in _entries(location) if not is_directory)


def _entries(location: str) -> list[tuple[str, bool]]:
    """Names in a directory, each with whether it is one."""
    if not is_remote(location):
        path = local_path(location)
        return [(entry.name, entry.is_dir()) for entry in os.scandir(path)] if os.path.isdir(path) else []
    path, filesystem = split(location)
    return [(name, is_directory) for name, is_directory, _ in PythonFiles(filesystem).list(path, recursive=False)]


def replace_file(location: str, content: bytes) -> None:
    """Replaces a small file whole, and durably where that can be had."""
    _core.replace_file(prepare(location), content)


def download(location: str, target: str) -> None:
    """Copies the files of a directory at a location into a local one; a checkpoint's are compared
    with its manifest.
    """
    _core.fetch(prepare(location), target)


def _without_filesystem(text: str, argument: str) -> str:
    scheme, separator, _ = text.partition("://")
    if not separator or text.startswith("/"):
        return os.path.abspath(os.path.expanduser(text))
    if scheme == "file":
        path = local_path(text)
        if not path.startswith("/") or urlsplit(text).netloc:
            raise ValueError(f"{argument} is {text!r}; allowed: file:///path, a path or a URL")
        return os.path.abspath(path)
    head, question, query = text.partition("?")
    if not scheme.startswith(_PYTHON):
        _check_url(scheme, head.partition("://")[2], text, argument)
    return prepare(head.rstrip("/") + question + query)


def _check_url(scheme: str, place: str, text: str, argument: str) -> None:
    if scheme not in _SCHEMES:
        kinds = ", ".join(f"{known}://" for known in _SCHEMES)
        raise ValueError(
            f"{argument} is {_core.shown_location(text)!r}; allowed: a path, or a URL that begins with file://, {kinds}"
        )
    if not place.strip("/") or (scheme in _OF_BUCKETS and place.startswith("/")):
        raise ValueError(f"{argument} is {text!r}; allowed: {scheme}:// and a place, such as {scheme}://bucket/path")


def _registered(scheme: str) -> tuple[Any, bytes]:
    if scheme not in _filesystems:
        raise ValueError(f"{scheme}:// stands for no filesystem of this process; give the filesystem again")
    return _filesystems[scheme]


def _keep(scheme: str, filesystem: Any, pickled: bytes) -> None:
    with _lock:
        if scheme not in _filesystems:
            _core.register_files(scheme, PythonFiles(filesystem))
            _filesystems[scheme] = (filesystem, pickled)

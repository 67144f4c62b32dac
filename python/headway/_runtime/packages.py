"""Directories and files of this machine as archives, for workers on others."""

from __future__ import annotations

import fnmatch
import gzip
import io
import os
import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from headway import _core

# What the content lies in, within an archive.
CONTENT = "content"
_BYTES_MAX = 512 << 20
_BYTES_VARIABLE = "HEADWAY_ENV_BYTES_MAX"
# As many as a session has in use at once, while all of them are not larger than one may be.
_KEPT_MAX = 16
_KEPT_BYTES_MAX = _BYTES_MAX
# What no worker needs, and what changes while nobody changes anything.
_NEVER = ("__pycache__", ".git")


@dataclass(frozen=True)
class _Entry:
    """A directory or file: its path within the archive, and on this machine."""

    name: str
    path: str
    is_directory: bool
    size: int
    mode: int
    changed: int


@dataclass(frozen=True)
class _Kept:
    """A package that the next run gets as well, unless something has changed."""

    entries: list[_Entry]
    package: _core.Package
    size: int


# The last one is the one that was used last.
_kept: dict[tuple[str, tuple[str, ...], bool], _Kept] = {}


def package_of(argument: str, path: str, excludes: Sequence[str] = (), *, by_name: bool = False) -> _core.Package:
    """What is at ``path`` now. What has not changed since the last time is not read again.

    Args:
        argument: For messages.
        path: A directory, or one file.
        excludes: Patterns of names, or of paths below the directory, that are left out.
        by_name: The content is the directory itself, not what is in it. Of a file it always is.

    Raises:
        ValueError: it is larger than ``HEADWAY_ENV_BYTES_MAX`` allows.
        OSError: it cannot be read.
    """
    key = (path, tuple(excludes), by_name)
    try:
        entries = list(_entries(path, excludes, by_name))
        _check_size(argument, path, entries)
        kept = _kept.pop(key, None)
        if kept is None or kept.entries != entries:
            import hashlib  # Here, as in locations.py.

            content = _packed(entries)
            kept = _Kept(entries, _core.Package(hashlib.sha256(content).hexdigest(), content), len(content))
    except OSError as error:
        raise OSError(f"{argument} is {path!r}, which cannot be read: {error}") from error
    _kept[key] = kept
    while len(_kept) > 1 and (len(_kept) > _KEPT_MAX or sum(each.size for each in _kept.values()) > _KEPT_BYTES_MAX):
        del _kept[next(iter(_kept))]
    return kept.package


def bytes_max(variable: str, otherwise: int) -> int:
    """A number of bytes from the environment.

    Raises:
        ValueError: it is none.
    """
    text = os.environ.get(variable)
    if text is None:
        return otherwise
    if not text.isdecimal():
        raise ValueError(f"{variable} is {text!r} in the environment; allowed: a number of bytes")
    return int(text)


def _check_size(argument: str, path: str, entries: Sequence[_Entry]) -> None:
    most = bytes_max(_BYTES_VARIABLE, _BYTES_MAX)
    size = sum(entry.size for entry in entries)
    if size > most:
        raise ValueError(
            f"{argument} is {path!r}, which has {size} bytes to be sent to other machines; allowed: at "
            f"most {most} ({_BYTES_VARIABLE} of the environment says how many); 'excludes' leaves files "
            "out, and data is better read from shared storage"
        )


def _entries(path: str, excludes: Sequence[str], by_name: bool) -> Iterator[_Entry]:
    is_directory = os.path.isdir(path)
    name = CONTENT
    if by_name or not is_directory:
        yield _Entry(CONTENT, path, True, 0, 0o755, 0)
        name = f"{CONTENT}/{os.path.basename(path)}"
    if is_directory:
        yield from _below(path, name, "", tuple(each.strip("/") for each in excludes), ())
    else:
        yield _entry(name, path)


def _below(
    path: str, name: str, inner: str, excludes: tuple[str, ...], above: tuple[tuple[int, int], ...]
) -> Iterator[_Entry]:
    """A directory and what is in it, in order. Links are followed: what they lead to may not be
    elsewhere.
    """
    found = os.stat(path)
    if (found.st_dev, found.st_ino) in above:
        return  # A link to a directory that holds it.
    yield _Entry(name, path, True, 0, 0o755, 0)
    for entry in sorted(os.scandir(path), key=lambda entry: entry.name):
        own = f"{inner}/{entry.name}" if inner else entry.name
        if entry.name in _NEVER or any(fnmatch.fnmatch(own if "/" in each else entry.name, each) for each in excludes):
            continue
        if entry.is_dir():
            yield from _below(entry.path, f"{name}/{entry.name}", own, excludes, (*above, (found.st_dev, found.st_ino)))
        elif entry.is_file():
            yield _entry(f"{name}/{entry.name}", entry.path)


def _entry(name: str, path: str) -> _Entry:
    found = os.stat(path)
    mode = 0o755 if found.st_mode & 0o100 else 0o644
    return _Entry(name, path, False, found.st_size, mode, found.st_mtime_ns)


def _packed(entries: Sequence[_Entry]) -> bytes:
    """The same bytes for the same content: no times, no owners."""
    bytes_of = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=bytes_of, mode="wb", compresslevel=1, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for entry in entries:
            about = tarfile.TarInfo(entry.name)
            about.mode = entry.mode
            if entry.is_directory:
                about.type = tarfile.DIRTYPE
                archive.addfile(about)
                continue
            with open(entry.path, "rb") as file:
                about.size = os.fstat(file.fileno()).st_size
                archive.addfile(about, file)
    return bytes_of.getvalue()

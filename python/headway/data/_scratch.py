"""Scratch files: what data sets from memory are written to.

A file is named after its content, so the same data in another process is the same file. Each user
of a file holds a shared lock on it; the last one deletes it. A killed process drops its locks, so
what it leaves is deleted by the next one that makes a scratch file.
"""

from __future__ import annotations

import contextlib
import fcntl
import getpass
import hashlib
import os
import shutil
import tempfile
import time
import weakref
from collections.abc import Callable, Iterator
from typing import Any

#: In which environment variable a rank finds the machine's folder for temporary files.
OF_MACHINE = "HEADWAY_MACHINE_TMPDIR"
#: From when on nobody needs the folder of an attempt any more, in seconds.
_OLD_S = 7 * 86400


class ScratchFile:
    """A file that lasts as long as some process holds it.

    Attributes:
        path: Where it lies.
    """

    def __init__(self, path: str):
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        self.path = path
        self._release = weakref.finalize(self, _release, path, descriptor, os.getpid())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ScratchFile) and other.path == self.path

    def __hash__(self) -> int:
        return hash(self.path)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return _adopted, (self.path, os.uname().nodename)


class MissingScratchFile:
    """A scratch file of another machine: reading it fails with words."""

    def __init__(self, path: str, machine: str):
        self.path = path
        self.machine = machine


def _adopted(path: str, machine: str) -> ScratchFile | MissingScratchFile:
    try:
        return ScratchFile(path)
    except FileNotFoundError:
        return MissingScratchFile(path, machine)


def folder() -> str:
    """This user's folder for scratch files, which all processes of the machine share."""
    place = os.environ.get(OF_MACHINE) or tempfile.gettempdir()
    path = os.path.join(place, f"headway-data-{getpass.getuser()}")
    os.makedirs(path, mode=0o700, exist_ok=True)
    if os.stat(path).st_uid != os.getuid():
        raise PermissionError(f"{path} belongs to another user; set TMPDIR to a folder of this user")
    return path


@contextlib.contextmanager
def written(suffix: str) -> Iterator[tuple[str, list[ScratchFile]]]:
    """Yields the path to write to and a list, which has the finished file afterwards.

    Example:
        with written(".arrow") as (path, made):
            write(path)
        file = made[0]
    """
    place = folder()
    _sweep(place)
    descriptor, path = tempfile.mkstemp(prefix="new-", suffix=suffix, dir=place)
    made: list[ScratchFile] = []
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        yield path, made
        name = os.path.join(place, f"{_digest(path)}{suffix}")
        made.append(_kept(path, name))
    finally:
        os.close(descriptor)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)


def _digest(path: str) -> str:
    """Of a file's content."""
    digest = hashlib.blake2b(digest_size=16)
    with open(path, "rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()


def _kept(path: str, name: str) -> ScratchFile:
    """The file under its lasting name, held."""
    while True:
        with contextlib.suppress(FileExistsError):
            os.link(path, name)
        with contextlib.suppress(FileNotFoundError):
            file = ScratchFile(name)
            # Somebody may have deleted it between the two.
            if os.path.exists(name):
                return file


def _release(path: str, descriptor: int, owner: int) -> None:
    try:
        if os.getpid() == owner:  # A forked child shares the lock.
            _delete_unused(path, descriptor)
    finally:
        os.close(descriptor)


def _delete_unused(path: str, descriptor: int) -> None:
    with contextlib.suppress(BlockingIOError, FileNotFoundError):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.stat(path).st_ino == os.fstat(descriptor).st_ino:
            os.unlink(path)


def _sweep(place: str) -> None:
    """Deletes what killed processes have left."""
    for entry in os.scandir(place):
        with contextlib.suppress(FileNotFoundError):  # Others delete what they do not need.
            if entry.is_dir():  # Ranks of one attempt found their data process by it.
                if time.time() - entry.stat().st_mtime > _OLD_S:
                    shutil.rmtree(entry.path, ignore_errors=True)
                continue
            descriptor = os.open(entry.path, os.O_RDONLY | os.O_CLOEXEC)
            try:
                _delete_unused(entry.path, descriptor)
            finally:
                os.close(descriptor)

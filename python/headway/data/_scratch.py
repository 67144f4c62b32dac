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
import threading
import time
import uuid
import weakref
from collections.abc import Callable, Iterator
from typing import Any

#: In which environment variable a rank finds the machine's folder for temporary files.
OF_MACHINE = "HEADWAY_MACHINE_TMPDIR"
#: From when on nobody needs the folder of an attempt any more, in seconds.
_OLD_S = 7 * 86400
#: A file is read from so many bytes on, before it is whole.
_READ_FROM = 8 << 20


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


class NewFile:
    """A file that is written.

    Attributes:
        path: Where to.
        digest: Of its content.
        file: The finished file, afterwards.
    """

    file: ScratchFile

    def __init__(self, path: str):
        self.path = path
        self.digest = GrowingDigest(path)


@contextlib.contextmanager
def written(suffix: str) -> Iterator[NewFile]:
    """Yields a file to write.

    Example:
        with written(".arrow") as new:
            write(new.path)
        file = new.file
    """
    place = folder()
    _sweep(place)
    path = os.path.join(place, f"new-{uuid.uuid4().hex}{suffix}")
    new = NewFile(path)
    descriptor = -1
    # Ctrl-C may come as soon as the file is there.
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        yield new
        name = os.path.join(place, f"{new.digest.finished()}{suffix}")
        new.file = _kept(path, name)
    finally:
        new.digest.close()
        if descriptor >= 0:
            os.close(descriptor)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)


class GrowingDigest:
    """The digest of a file's content. A large file is read by a thread while it is written, as its
    pages are still in memory.

    Args:
        path: The file, to which nothing is written but at its end.
    """

    def __init__(self, path: str):
        self._path = path
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self.begin_again()

    def begin_again(self) -> None:
        """The file is written anew."""
        self.close()
        self._digest = hashlib.blake2b(digest_size=16)
        self._read = self._size = 0
        self._is_whole = False

    def grown(self, size: int) -> None:
        """So many bytes of the file are written."""
        if self._thread is None:
            if size < _READ_FROM:
                return
            self._thread = threading.Thread(target=self._follow, name="headway-digest")
            self._thread.start()
        with self._changed:
            self._size = size
            self._changed.notify()

    def finished(self) -> str:
        """The file is whole."""
        self.close()
        self._read_to(os.path.getsize(self._path))
        return self._digest.hexdigest()

    def close(self) -> None:
        """Ends the thread."""
        if self._thread is not None:
            with self._changed:
                self._is_whole = True
                self._changed.notify()
            self._thread.join()
            self._thread = None

    def _follow(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._is_whole or self._size > self._read)
                if self._is_whole:
                    return
                size = self._size
            self._read_to(size)

    def _read_to(self, size: int) -> None:
        with open(self._path, "rb", buffering=0) as file:
            file.seek(self._read)
            while self._read < size and not (self._is_whole and self._thread is threading.current_thread()):
                piece = file.read(min(size - self._read, 1 << 20))
                self._digest.update(piece)
                self._read += len(piece)


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

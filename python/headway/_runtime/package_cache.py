"""Packages of drivers, unpacked on this machine and kept for the next run."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tarfile
from pathlib import Path

from headway._runtime.packages import CONTENT, bytes_max
from headway._runtime.pip_environment import cache_directory

_BYTES_MAX = 10 << 30
_BYTES_VARIABLE = "HEADWAY_CACHE_BYTES_MAX"
_READ_BYTES = 1 << 20


def packages_folder() -> Path:
    """Where they are, each in a folder of its hash."""
    return cache_directory() / "packages"


def unpacked(hash_of: str, arrived: str | None) -> str:
    """The directory with the content of a package, which stays as long as this process lives, and
    over an exec.

    Args:
        hash_of: Its hash.
        arrived: Where it can be read as it has come; None: it should be unpacked already.

    Raises:
        OSError: it cannot be stored, or is not there.
    """
    folder = packages_folder()
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / hash_of
    if hash_of not in _in_use:
        lock = _in_place(place, arrived)
        os.set_inheritable(lock, True)
        _in_use[hash_of] = lock
        os.utime(place)
        _tidy(folder)
    return str(place / CONTENT)


# By hash, the lock that this process has.
_in_use: dict[str, int] = {}


def _in_place(place: Path, arrived: str | None) -> int:
    """Unpacks a package unless it is there; a descriptor with a shared lock of it."""
    path = place.with_suffix(".lock")
    while True:
        lock = _lock(path, fcntl.LOCK_SH)
        if place.is_dir():
            return lock
        os.close(lock)
        lock = _lock(path, fcntl.LOCK_EX)  # Nobody can be using it, so nobody keeps this one long.
        try:
            if not place.is_dir():
                _make(place, arrived, lock)
        finally:
            os.close(lock)


def _make(place: Path, arrived: str | None, lock: int) -> None:
    if arrived is None:
        raise FileNotFoundError(f"{place} has been removed meanwhile")
    part = place.with_suffix(".part")
    shutil.rmtree(part, ignore_errors=True)  # Of a process that was killed over it.
    try:
        size = _unpack(place.name, arrived, part)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    os.ftruncate(lock, 0)
    os.pwrite(lock, str(size).encode(), 0)
    part.rename(place)


def _unpack(hash_of: str, arrived: str, part: Path) -> int:
    import hashlib  # Here, as in locations.py.

    digest = hashlib.sha256()
    with open(arrived, "rb") as file:
        while piece := file.read(_READ_BYTES):
            digest.update(piece)
        if digest.hexdigest() != hash_of:
            raise OSError(f"what has come as package {hash_of} is something else")
        file.seek(0)
        with tarfile.open(fileobj=file, mode="r:gz") as archive:
            members = archive.getmembers()
            part.mkdir()
            # Newer versions of Python warn where nothing is chosen; older ones have no choice.
            archive.extraction_filter = getattr(tarfile, "data_filter", lambda member, _: member)
            archive.extractall(part, members)
    return sum(member.size for member in members)


def _lock(path: Path, how: int) -> int:
    """A descriptor with the lock of the file that is at ``path``: another process may have removed
    the one that was.
    """
    while True:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(file, how)
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(file), os.stat(path)):
                    return file
        except BaseException:
            os.close(file)
            raise
        os.close(file)


def _tidy(folder: Path) -> None:
    """Removes what killed processes have left, and then, while all is more than is allowed, what
    has not been used for longest and is not in use.
    """
    sizes = {}
    for lock in folder.glob("*.lock"):
        with contextlib.suppress(OSError, ValueError):
            if lock.with_suffix(".part").exists():
                _remove(lock)
            sizes[lock] = (lock.with_suffix("").stat().st_mtime_ns, int(lock.read_text() or 0))
    total = sum(size for _, size in sizes.values())
    most = bytes_max(_BYTES_VARIABLE, _BYTES_MAX)
    for lock, (_, size) in sorted(sizes.items(), key=lambda each: each[1]):
        if total <= most:
            return
        if _remove(lock):
            total -= size


def _remove(lock: Path) -> bool:
    """Whether nobody used it."""
    try:
        file = _lock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    try:
        for path in (lock.with_suffix(""), lock.with_suffix(".part")):
            shutil.rmtree(path, ignore_errors=True)
        lock.unlink()
    finally:
        os.close(file)
    return True

"""The folder where DuckDB writes what memory does not hold."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
from collections.abc import Iterator
from typing import BinaryIO


@contextlib.contextmanager
def locked(folder: str) -> Iterator[None]:
    """Holds the folder's lock. Folders beside it whose processes are gone are removed: a power cut
    ends them all at once.
    """
    parent, name = os.path.split(folder)
    with contextlib.ExitStack() as held:
        while not (own := _lock_of(folder, fcntl.LOCK_EX)):
            os.makedirs(folder, exist_ok=True)
        held.enter_context(own)
        for other in os.listdir(parent):
            path = os.path.join(parent, other)
            if other == name or not other.startswith("whole-"):
                continue
            with contextlib.suppress(OSError):
                if lock := _lock_of(path, fcntl.LOCK_EX | fcntl.LOCK_NB):
                    with lock:
                        shutil.rmtree(path, ignore_errors=True)
        yield


def _lock_of(folder: str, how: int) -> BinaryIO | None:
    """The folder's lock file, locked and made where it is not: a folder whose removal was cut
    short, because its process still wrote, may have none. None: the folder is gone.
    """
    path = os.path.join(folder, "lock")
    try:
        lock = open(path, "ab")  # noqa: SIM115 - handed on
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(lock, how)
        if os.path.samestat(os.fstat(lock.fileno()), os.stat(path)):
            return lock
    except FileNotFoundError:  # Somebody removed it before it was locked.
        pass
    except BaseException:
        lock.close()
        raise
    lock.close()
    return None

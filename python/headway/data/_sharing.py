"""How processes that share rows find one data engine: by a folder of the run's attempt, or of the
process that called ``streaming_split``.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import os
import shutil
import uuid

from headway import _session as worker_session
from headway.data import _scratch

_PREFIX = "split-"
#: By process: the folder's name of the splits that it made.
_names: dict[int, str] = {}


def new_group() -> str:
    """The name of a group of iterators, which leads processes to their folder."""
    if os.getpid() not in _names:
        _names[os.getpid()] = f"{_PREFIX}{uuid.uuid4().hex}"
        atexit.register(_remove, _names[os.getpid()], os.getpid())
    return f"{_names[os.getpid()]}.{uuid.uuid4().hex}"


def folder_of(group: str) -> str:
    """The folder of a group, which is made; empty where the group has none."""
    name, separator, _ = group.partition(".")
    if not separator or not name.startswith(_PREFIX):
        return ""
    path = os.path.join(_scratch.folder(), name)
    os.makedirs(path, mode=0o700, exist_ok=True)
    return path


def folder_of_ranks() -> str:
    """The folder by which the ranks of a node and attempt find one process; empty outside of
    ranks.
    """
    session = worker_session.active()
    if session is None or session.context["world_size"] == 1:
        return ""
    if os.environ.get(_scratch.OF_MACHINE):
        return os.environ["TMPDIR"]  # Of the attempt, on this node.
    context = session.context
    name = f"attempt-{context['trial_id']}-{context['attempt']}-{context['plan']['node_rank']}"
    path = os.path.join(_scratch.folder(), name)
    with contextlib.suppress(FileExistsError):
        os.mkdir(path, mode=0o700)
    return path


def publish(folder: str, address: str) -> None:
    """The engine of this process is the folder's, unless there is one already."""
    with open(os.path.join(folder, "data.lock"), "a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        place = os.path.join(folder, "data.address")
        if not os.path.exists(place):
            with open(place, "w") as file:
                file.write(f"{address}\n")


def _remove(name: str, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(os.path.join(_scratch.folder(), name), ignore_errors=True)

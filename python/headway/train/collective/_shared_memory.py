"""Large objects from one rank to the others of its machine, without a way through the driver."""

from __future__ import annotations

import json
import mmap
import os
from collections.abc import Iterator
from contextlib import contextmanager

#: From how many bytes on it is worth the second message that ends it.
LARGE = 1 << 20


@contextmanager
def offered(content: bytes) -> Iterator[bytes]:
    """Puts ``content`` where other processes of this user can read it, and gives what tells them
    where.

    It is memory without a name: nothing is left behind when this process is killed.
    """
    descriptor = os.memfd_create("headway-broadcast", os.MFD_CLOEXEC)
    try:
        with open(descriptor, "wb", closefd=False) as file:
            file.write(content)
        yield json.dumps({"path": f"/proc/{os.getpid()}/fd/{descriptor}", "size": len(content)}).encode()
    finally:
        os.close(descriptor)


def is_offer(message: bytes) -> bool:
    """Whether it tells where something is, rather than being it: every pickle begins with another
    byte.
    """
    return message.startswith(b"{")


@contextmanager
def taken(offer: bytes) -> Iterator[mmap.mmap]:
    """What another process has offered, as memory that is read only."""
    told = json.loads(offer)
    with open(told["path"], "rb") as file, mmap.mmap(file.fileno(), told["size"], access=mmap.ACCESS_READ) as content:
        yield content

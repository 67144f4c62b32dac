"""Messages between the data process and those of Python functions: JSON, and beside it raw bytes
and descriptors, as ``src/wire/frame.hpp`` describes them.
"""

from __future__ import annotations

import json
import os
import socket
import struct
from dataclasses import dataclass
from typing import Any

_HEADER = struct.Struct("<IIQ")
_DESCRIPTORS_MAX = 8


@dataclass
class Frame:
    """One message.

    Attributes:
        kind: Its name.
        fields: What it says.
        blob: Its raw part.
        fds: Descriptors, which are the receiver's.
    """

    kind: str
    fields: dict[str, Any]
    blob: bytes
    fds: list[int]


class Link:
    """Sends and receives frames over a stream socket, and blocks meanwhile."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        #: The peer is that of another process.
        self.dropped = False

    def fileno(self) -> int:
        """The socket's descriptor."""
        return self._connection.fileno()

    def drop(self) -> None:
        """In a forked child: the peer is its parent's alone, whose end the peer must see. The child
        finds the link ended.
        """
        self.dropped = True
        ours, theirs = socket.socketpair()
        theirs.close()
        os.dup2(ours.fileno(), self._connection.fileno(), inheritable=False)
        ours.close()

    def send(self, kind: str, fields: dict[str, Any], blob: bytes = b"", fds: tuple[int, ...] = ()) -> None:
        """Sends a message; descriptors stay open.

        Raises:
            OSError: the peer is gone.
        """
        text = json.dumps({"is": kind, "fields": fields}, separators=(",", ":")).encode()
        head = _HEADER.pack(len(text), len(fds), len(blob)) + text
        if fds:
            sent = socket.send_fds(self._connection, [head], fds)
            head = head[sent:]
        self._connection.sendall(head)
        if blob:
            self._connection.sendall(blob)

    def receive(self) -> Frame | None:
        """The next message; None at the end of the stream.

        Raises:
            OSError: the stream breaks within a message.
        """
        fds: list[int] = []
        header = self._exactly(_HEADER.size, fds)
        if not header:
            return None
        json_size, _, blob_size = _HEADER.unpack(header)
        message = json.loads(self._exactly(json_size, fds))
        blob = self._exactly(blob_size, fds) if blob_size else b""
        return Frame(message["is"], message["fields"], blob, fds)

    def _exactly(self, size: int, fds: list[int]) -> bytes:
        """So many bytes; none at the end of the stream."""
        parts = []
        missing = size
        while missing > 0:
            part, received, _, _ = socket.recv_fds(
                self._connection, min(missing, 1 << 20), _DESCRIPTORS_MAX, socket.MSG_CMSG_CLOEXEC
            )
            fds.extend(received)
            if not part:
                if missing == size and size == _HEADER.size:
                    return b""
                raise ConnectionResetError("the data process is gone in the middle of a message")
            parts.append(part)
            missing -= len(part)
        return b"".join(parts)


def adopted(fd: int) -> Link:
    """The link over a descriptor that this process was given, which its children do not get."""
    os.set_inheritable(fd, False)
    return Link(socket.socket(fileno=fd))

"""How torchrun's other ranks connect to rank 0."""

from __future__ import annotations

import selectors
import socket

TOKEN_CHARACTERS = 32
RANK_CHARACTERS = 8
_GREETING_BYTES = TOKEN_CHARACTERS + RANK_CHARACTERS
# Connections that have said nothing yet, beside those of the ranks; one more closes the oldest.
_SILENT_MAX = 64


class Door:
    """Where the other ranks connect to rank 0.

    A rank sends the token and its number, in ``RANK_CHARACTERS`` digits. Strangers, who send
    nothing or something else, keep nobody waiting; the oldest of too many silent ones is closed.

    Args:
        listener: A listening socket; the caller's.
        token: ``TOKEN_CHARACTERS`` characters that only ranks know.
        ranks: How many ranks connect.
    """

    def __init__(self, listener: socket.socket, token: str, ranks: int):
        self._listener = listener
        self._token = token.encode()
        self._ranks = ranks
        self._said: dict[socket.socket, bytes] = {}
        self._selector = selectors.DefaultSelector()
        self._selector.register(listener, selectors.EVENT_READ)
        self._peers: dict[int, socket.socket] = {}

    def wait(self) -> dict[int, socket.socket]:
        """The ranks' sockets, by rank, once all have come."""
        with self._selector:
            while len(self._peers) < self._ranks:
                for key, _ in self._selector.select():
                    if key.fileobj is self._listener:
                        self._accept()
                    elif key.fileobj in self._said:
                        self._read(key.fileobj)
            for stranger in self._said:
                stranger.close()
        return self._peers

    def _accept(self) -> None:
        peer, _ = self._listener.accept()
        self._said[peer] = b""
        self._selector.register(peer, selectors.EVENT_READ)
        if len(self._said) > self._ranks + _SILENT_MAX:
            self._forget(next(iter(self._said))).close()

    def _read(self, peer: socket.socket) -> None:
        try:
            part = peer.recv(_GREETING_BYTES - len(self._said[peer]))
        except OSError:
            part = b""
        self._said[peer] += part
        whole = self._said[peer] if len(self._said[peer]) == _GREETING_BYTES else b""
        if self._is_from_a_rank(whole):
            self._peers[int(whole[TOKEN_CHARACTERS:])] = self._forget(peer)
            peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        elif whole or not part:
            self._forget(peer).close()

    def _is_from_a_rank(self, greeting: bytes) -> bool:
        import hmac  # Here: it loads OpenSSL, which only torchrun's ranks need.

        return hmac.compare_digest(greeting[:TOKEN_CHARACTERS], self._token)

    def _forget(self, peer: socket.socket) -> socket.socket:
        self._selector.unregister(peer)
        del self._said[peer]
        return peer

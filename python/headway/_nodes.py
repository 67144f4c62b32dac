"""The machines that runs may use."""

from __future__ import annotations

import socket
from typing import Any

from headway._runtime import cluster_resources


def nodes() -> list[dict[str, Any]]:
    """The nodes, one dict each: this machine. Starts Headway if need be.

    Returns:
        Dicts with ``NodeID``, ``Alive``, ``NodeManagerAddress``, ``NodeManagerHostname`` and ``Resources`` (as
        :func:`cluster_resources` has them).

    Example:
        >>> import headway
        >>> [node["Alive"] for node in headway.nodes()]
        [True]
    """
    hostname = socket.gethostname()
    return [
        {
            "NodeID": "local",
            "Alive": True,
            "NodeManagerAddress": "127.0.0.1",
            "NodeManagerHostname": hostname,
            "Resources": cluster_resources(),
        }
    ]

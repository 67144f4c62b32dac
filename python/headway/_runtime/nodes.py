"""The machines that runs may use."""

from __future__ import annotations

import json
from typing import Any

from headway._runtime.runtime import get_runtime


def nodes() -> list[dict[str, Any]]:
    """The nodes, one dict each: this machine, and those that have joined. Starts Headway if need
    be.

    Returns:
        Dicts with ``NodeID``, ``Alive``, ``NodeManagerAddress``, ``NodeManagerHostname`` and
        ``Resources`` (as :func:`cluster_resources` has them).

    Example:
        >>> import headway
        >>> [node["Alive"] for node in headway.nodes()]
        [True]
    """
    return [
        {
            "NodeID": node["node_id"],
            "Alive": True,
            "NodeManagerAddress": node["node_ip"],
            "NodeManagerHostname": node["hostname"],
            "Resources": node["total"],
        }
        for node in json.loads(get_runtime().nodes())
    ]

"""The machines that runs may use."""

from __future__ import annotations

import json
from typing import Any

from headway._runtime.runtime import get_runtime

# Those by which Headway knows nodes that it has asked an engine for.
_OWN_LABELS = "headway.io/"


def nodes() -> list[dict[str, Any]]:
    """The nodes, one dict each: this machine, and those that have joined. Starts Headway if need
    be.

    Returns:
        Dicts with ``NodeID``, ``Alive``, ``NodeManagerAddress``, ``NodeManagerHostname``,
        ``Resources`` (as :func:`cluster_resources` has them) and ``Labels``, which a
        ``label_selector`` may ask for.

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
            "Labels": {name: value for name, value in node["labels"].items() if not name.startswith(_OWN_LABELS)},
        }
        for node in json.loads(get_runtime().nodes())
    ]

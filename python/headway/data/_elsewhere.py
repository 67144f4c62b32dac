"""Function workers on other nodes, for the data engine of a rank's node."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from headway import _session as worker_session
from headway._values.log import warn

if TYPE_CHECKING:
    from headway import _core
    from headway.data._context import DataContext
    from headway.data._plan import Plan


def ask_for_workers(plan: Plan, context: DataContext, client: _core.DataClient) -> str:
    """Before a rank reads a plan: has its data engine let function workers of other nodes in, and
    the driver start some. Elsewhere than in a rank, and where the engine wants none, nothing
    happens. Does not wait for them.

    Args:
        plan: The plan.
        context: The settings.
        client: Of the engine.

    Returns:
        What the engine hears with the plan: ``"never"``, ``"beside"`` its machine's workers, or
        ``"first"``.
    """
    session = worker_session.active()
    if session is None or session.local:
        return "never"
    labels = context.execution_options.label_selector or {}
    functions = [node["args"] for node in plan.nodes if node["op"] == "function"]
    if not any(labels or each.get("workers") for each in functions):
        return "never"
    if not json.loads(session.context["setup"]["json"])["nodes_may_join"]:
        return "never"
    host = session.context["plan"]["slot"]["node_ip"]
    invitation = {"host": host, "first": bool(labels), "plan": plan.json(), "blobs": len(plan.blobs)}
    wanted = json.loads(client.invite(json.dumps(invitation)))
    if wanted["problem"]:
        warn(
            f"no function workers of other nodes: they would connect to the data process on {os.uname().nodename}, "
            f"which cannot listen: {wanted['problem']}"
        )
    if wanted["workers"] == 0:
        return "never"
    session.core.want_function_workers(wanted["port"], wanted["token"], wanted["workers"], wanted["cpus"], labels)
    return "first" if labels else "beside"

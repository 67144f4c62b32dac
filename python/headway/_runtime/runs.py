"""The runs of this process, as they are at this moment."""

from __future__ import annotations

import json
from typing import Any

from headway._runtime.runtime import current_runtime

# A snapshot is taken within a quarter of a second; more only where the machine is overloaded.
_WAIT_S = 60.0


def runs() -> list[dict[str, Any]]:
    """The runs of this process: those at work, and the last 64 that have ended. The first one comes
    first.

    Any thread may call it, while ``fit()`` is under way in another one. It changes nothing about
    the runs, and does not slow them down. It takes up to a quarter of a second. Without a run,
    Headway is not started.

    Returns:
        A dict for each run. Among its entries are ``name``, ``path`` (the run's folder), ``state``
        (``"created"``, ``"preparing"``, ``"scheduling"``, ``"starting"``, ``"running"``,
        ``"restarting"``, ``"shutting_down"``, ``"validating"``, ``"closing"``; at the end
        ``"finished"``, ``"failed"`` or ``"aborted"``, as ``headway ls`` says), ``attempt``,
        ``workers``, ``ranks`` (a dict for each rank, with ``node_id``, ``pid``, ``phase`` and
        ``waits_for``), ``reports`` (``count``, and ``last``, the last line), ``loop`` (``steps``,
        ``steps_per_s``, ``samples_per_s``, ``epoch`` and ``epoch_left_s``, as far as they are
        known; None before the first optimizer step that is counted), ``checkpoints`` (those that
        are kept), ``wait`` (what the run waits for: its ``words`` and how many seconds, ``for_s``)
        and ``failure``. Durations are seconds up to ``taken_unix_s``, when something about the run
        last changed.

    Example:
        >>> import headway
        >>> reports = {run["name"]: run["reports"]["count"] for run in headway.runs()}
    """
    runtime = current_runtime()
    if runtime is None:
        return []
    try:
        snapshot = runtime.watch().next(_WAIT_S)
    except RuntimeError:
        if current_runtime() is runtime:
            raise
        return []  # It was shut down meanwhile.
    return json.loads(snapshot)["runs"] if snapshot is not None else []

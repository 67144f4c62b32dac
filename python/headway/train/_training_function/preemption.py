"""Whether nodes of this group are about to be taken away, asked in the training function."""

from __future__ import annotations

import json

from headway import _session as worker_session
from headway.train._errors.preemption import PreemptionInfo


def get_preemption_info() -> PreemptionInfo | None:
    """What is known of nodes that are being taken away from this run; None while none is.

    A node is when its ``headway-agent`` has received SIGTERM; all are when the driver has. Then
    save a checkpoint and continue. After a node's deadline the group resumes elsewhere, from the
    newest checkpoint, as ``FailureConfig(max_preemption_failures)`` allows. With its driver the run
    ends, at the latest at the deadline, and the next start resumes it. A training function that
    returns before that has finished.

    Every rank must call it equally often: it is a barrier of all ranks, and gives the same to each.
    It costs as much as :func:`headway.train.collective.barrier`.

    Raises:
        RuntimeError: called outside of a training function.

    Example:
        >>> from headway import train
        >>> def loop(config):
        ...     saved = False
        ...     for step in range(config["steps"]):
        ...         if not saved and train.get_preemption_info():
        ...             train.report({"step": step}, checkpoint=config["save"]())
        ...             saved = True
    """
    told = worker_session.current("get_preemption_info()").core.preemption_info()
    return PreemptionInfo._load(json.loads(told)) if told is not None else None

"""What a training function may ask about the checkpoints that were reported so far."""

from __future__ import annotations

import enum
import json
from dataclasses import dataclass
from typing import Any

from headway import _session as worker_session
from headway._checkpoint.checkpoint import Checkpoint
from headway._values.arguments import check_number, refuse


class CheckpointConsistencyMode(enum.Enum):
    """What :func:`get_all_reported_checkpoints` waits for.

    Example:
        >>> from headway import train
        >>> def loop():
        ...     train.get_all_reported_checkpoints(train.CheckpointConsistencyMode.COMMITTED)
    """

    COMMITTED = "COMMITTED"
    """That the checkpoints of all of this worker's reports are committed."""
    VALIDATED = "VALIDATED"
    """And that no validation is left."""


class ReportedCheckpointStatus(enum.Enum):
    """Where a checkpoint stands.

    Example:
        >>> from headway import train
        >>> def validated():
        ...     wanted = train.ReportedCheckpointStatus.VALIDATED
        ...     return [each for each in train.get_all_reported_checkpoints() if each.status is wanted]
    """

    COMMITTED = "COMMITTED"
    """It is stored, and nobody asked for a validation."""
    PENDING_VALIDATION = "PENDING_VALIDATION"
    """It is stored, and a validation runs or waits."""
    VALIDATED = "VALIDATED"
    """The validation's metrics are among its own."""
    VALIDATION_FAILED = "VALIDATION_FAILED"
    """The validation function raised, or its process died."""
    VALIDATION_TIMEOUT = "VALIDATION_TIMEOUT"
    """The validation took longer than ``ValidationTaskConfig.timeout_s``."""


@dataclass
class ReportedCheckpoint:
    """A checkpoint that is kept.

    Attributes:
        checkpoint: The checkpoint.
        metrics: Its report's metrics, and over them those of its validation.
        status: Whether and how it was validated.

    Example:
        >>> from headway import train
        >>> def loop():
        ...     for reported in train.get_all_reported_checkpoints():
        ...         print(reported.checkpoint.path, reported.metrics, reported.status.name)
    """

    checkpoint: Checkpoint
    metrics: dict[str, Any]
    status: ReportedCheckpointStatus


def get_all_reported_checkpoints(
    consistency_mode: CheckpointConsistencyMode = CheckpointConsistencyMode.VALIDATED,
    timeout_s: float | None = None,
) -> list[ReportedCheckpoint]:
    """The run's checkpoints that are kept, those of earlier attempts too. No barrier: any rank may
    ask by itself.

    Args:
        consistency_mode: What to wait for first.
        timeout_s: Seconds to wait at most, at least 0; then it is what there is. None: as long as
            it takes.

    Returns:
        The checkpoints, oldest first.

    Raises:
        RuntimeError: called outside of a training function.
        TypeError, ValueError: a bad argument, named.

    Example:
        >>> from headway import train
        >>> def loop():
        ...     for reported in train.get_all_reported_checkpoints():
        ...         print(reported.checkpoint, reported.metrics, reported.status)
    """
    core = worker_session.current("get_all_reported_checkpoints()").core
    if not isinstance(consistency_mode, CheckpointConsistencyMode):
        refuse("consistency_mode", consistency_mode, "a member of CheckpointConsistencyMode: COMMITTED, VALIDATED")
    if timeout_s is not None:
        allowed = "None, or seconds from 0 up to 1000000000"
        timeout_s = check_number("timeout_s", timeout_s, allowed)
        if not 0 <= timeout_s <= 1e9:
            raise ValueError(f"timeout_s is {timeout_s!r}; allowed: {allowed}")
    told = json.loads(core.ask_checkpoints(consistency_mode is CheckpointConsistencyMode.VALIDATED, timeout_s))
    return [
        ReportedCheckpoint(
            Checkpoint._at(each["checkpoint"]), each["metrics"], ReportedCheckpointStatus(each["status"])
        )
        for each in told
    ]

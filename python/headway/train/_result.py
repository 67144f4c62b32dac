"""What ``fit()`` returns."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from headway.train._checkpoint import Checkpoint

if TYPE_CHECKING:
    import pandas


@dataclass
class Result:
    """The outcome of a run.

    Attributes:
        metrics: The last report's, with or without a checkpoint, and beside the user's the automatic ones
            (``training_iteration``, ``time_total_s`` in seconds, ``timestamp`` in seconds since 1970, ...); None
            without any.
        checkpoint: The newest committed checkpoint, or None.
        error: Why the run failed, or None.
        path: The run's folder.
        best_checkpoints: ``(checkpoint, its report's metrics)`` of all that are kept, oldest first.
        return_value: What rank 0's training function returned.
    """

    metrics: dict[str, Any] | None
    checkpoint: Checkpoint | None
    error: Exception | None
    path: str
    best_checkpoints: list[tuple[Checkpoint, dict[str, Any]]] = field(default_factory=list)
    return_value: Any = None

    @property
    def metrics_dataframe(self) -> pandas.DataFrame | None:
        """Every report, a row each, as a pandas DataFrame; None when there was none."""
        reports = read_reports(self.path)
        if not reports:
            return None
        import pandas

        return pandas.DataFrame(reports)


def read_reports(path: str) -> list[dict[str, Any]]:
    """The lines of a run's result.json."""
    try:
        with open(os.path.join(path, "result.json"), encoding="utf-8") as lines:
            return [json.loads(line) for line in lines if line.endswith("\n")]
    except FileNotFoundError:
        return []

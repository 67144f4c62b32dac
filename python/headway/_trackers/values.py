"""What of a run trackers are given: metrics under flat names, and the configuration as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headway._storage.run_files import flat
from headway._values.metrics import ReportedMetrics

# Of the automatic metrics those that a chart is made of.
_TIMES = ("time_total_s", "time_this_iter_s", "training_iteration", "timestamp")
_DEPTH_MAX = 50


def metrics_of(result: Mapping[str, Any]) -> dict[str, Any]:
    """The user's metrics of a report, and the automatic ones about time, under names such as
    ``eval/loss``.
    """
    metrics = ReportedMetrics.of_line({name: value for name, value in result.items() if name != "config"})
    times = {name: metrics.automatic[name] for name in _TIMES if name in metrics.automatic}
    return flat({**times, **metrics})


def numbers_of(metrics: Mapping[str, Any]) -> dict[str, float]:
    """Those metrics that are numbers; True and False are 1 and 0."""
    return {name: float(value) for name, value in metrics.items() if isinstance(value, (int, float))}


def plain(value: Any, depth: int = 0) -> Any:
    """A configuration's value as JSON has it: what JSON does not have is text."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if depth < _DEPTH_MAX and isinstance(value, Mapping):
        return {str(name): plain(item, depth + 1) for name, item in value.items()}
    if depth < _DEPTH_MAX and isinstance(value, (list, tuple)):
        return [plain(item, depth + 1) for item in value]
    name = getattr(value, "__qualname__", None)
    return name if isinstance(name, str) else _text(value)


def _text(value: Any) -> str:
    try:
        return str(value)[:500]
    except Exception:  # A user's own class may fail at it.
        return object.__repr__(value)

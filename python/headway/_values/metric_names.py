"""Which of a framework's metrics are reported, and under which names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from headway._values.arguments import check_str, refuse

_ALLOWED = "None, a metric's name, a list of them, or a dict from names to metrics"


def metric_names(metrics: Any) -> dict[str, str] | None:
    """The argument ``metrics`` of callbacks: the framework's names by those in a report; None for
    all metrics.

    Raises:
        TypeError: it is something else.
    """
    if metrics is None:
        return None
    if isinstance(metrics, str):
        metrics = [metrics]
    if not isinstance(metrics, (Sequence, Mapping)):
        refuse("metrics", metrics, _ALLOWED)
    named = metrics if isinstance(metrics, Mapping) else {each: each for each in metrics}
    for name, metric in named.items():
        check_str("a name in metrics", name, _ALLOWED)
        check_str(f"metrics[{name!r}]", metric, _ALLOWED)
    return dict(named)


def renamed(values: dict[str, Any], names: Mapping[str, str] | None) -> dict[str, Any]:
    """The values that are reported.

    Args:
        values: All, by the framework's names.
        names: What :func:`metric_names` has made.

    Raises:
        ValueError: there is no such value.
    """
    if names is None:
        return values
    missing = [metric for metric in names.values() if metric not in values]
    if missing:
        raise ValueError(f"metrics has {missing[0]!r}; what is evaluated: {', '.join(values) or 'nothing'}")
    return {name: values[metric] for name, metric in names.items()}

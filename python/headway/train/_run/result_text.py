"""A result for people: in a line, and as a table in a notebook."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from typing import Any, Protocol

from headway._values.nested import flat_items

_METRICS_MAX = 4
_TEXT_MAX = 60


class Shown(Protocol):
    """What is shown of a result."""

    metrics: dict[str, Any] | None
    checkpoint: Any
    error: Exception | None
    best_checkpoints: list[Any]


def outcome(result: Shown) -> list[str]:
    """The first metrics, the error and the newest checkpoint, each in a few words."""
    metrics = dict(flat_items(result.metrics or {}))
    parts = [f"{name}={_value(value)}" for name, value in list(metrics.items())[:_METRICS_MAX]]
    if len(metrics) > _METRICS_MAX:
        parts.append(f"+{len(metrics) - _METRICS_MAX} more")
    if not metrics:
        parts.append("no report")
    if result.error is not None:
        parts.append(f"error={_error(result.error)!r}")
    return [*parts, _checkpoints(result)]


def html(result: Shown, folder: str) -> str:
    """A table with a row for each thing."""
    rows = [(name, _value(value)) for name, value in flat_items(result.metrics or {})]
    rows.append(("checkpoint", _checkpoints(result)))
    if result.error is not None:
        rows.append(("error", _error(result.error)))
    return table([*rows, ("folder", folder)])


def table(rows: Iterable[tuple[str, str]]) -> str:
    """A table of names with their values, in HTML."""
    import html  # Here: notebooks alone need it.

    cells = (f"<tr><th>{html.escape(name)}</th><td>{html.escape(value)}</td></tr>" for name, value in rows)
    return f"<table>{''.join(cells)}</table>"


def _checkpoints(result: Shown) -> str:
    if result.checkpoint is None:
        return "no checkpoint"
    name = os.path.basename(str(result.checkpoint.path).rstrip("/"))
    kept = len(result.best_checkpoints)
    return name if kept <= 1 else f"{name} (one of {kept})"


def _error(error: Exception) -> str:
    first = (str(error).splitlines() or [type(error).__name__])[0]
    return first if len(first) <= _TEXT_MAX else first[: _TEXT_MAX - 3] + "..."


def in_words(config: dict[str, Any]) -> str:
    """A configuration or metrics in a line."""
    return ", ".join(f"{name}={_value(value)}" for name, value in flat_items(config))


def _value(value: object) -> str:
    if isinstance(value, float) and math.isfinite(value):
        return f"{value:.4g}"
    text = str(value)
    return text if len(text) <= _TEXT_MAX else text[: _TEXT_MAX - 3] + "..."

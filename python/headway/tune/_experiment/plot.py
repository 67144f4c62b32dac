"""A picture of an experiment as SVG: its history, its configurations, its trials' reports."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import Any

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 760, 280, 70, 20, 34, 40
_GREY, _BEST = "#b9c4cc", "#00796b"
#: More curves than this hide each other: the best are drawn.
CURVES_MAX = 100

Point = tuple[float, float]


def history(values: Sequence[float | None], metric: str, mode: str) -> str:
    """Each trial's last value in the order of suggestion, and the best so far."""
    points = [(float(index), value) for index, value in enumerate(values) if value is not None]
    best: list[Point] = []
    for x, value in points:
        newest = value if not best else (min if mode == "min" else max)(value, best[-1][1])
        best.append((x, newest))
    frame = _Frame(points, f"{metric} of each trial, and the best so far", "trial", metric)
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{_GREY}"/>' for x, y in map(frame.at, points))
    return frame.text() + dots + frame.line(best, _BEST, 2)


def curves(reports: Sequence[Sequence[Point]], best: int | None, metric: str) -> str:
    """The reports of each trial over the iterations: where a scheduler ended trials, lines end."""
    frame = _Frame([point for each in reports for point in each], f"{metric} of each report", "iteration", metric)
    parts = [frame.line(each, _GREY, 1) + _end(frame, each) for each in reports]
    if best is not None and reports[best]:
        parts.append(frame.line(reports[best], _BEST, 2))
    return frame.text() + "".join(parts)


def coordinates(configs: Sequence[dict[str, Any]], values: Sequence[float | None], metric: str, mode: str) -> str:
    """Parallel coordinates: an axis for each parameter that differs, and one for the metric; the
    better, the darker.
    """
    names = [name for name in dict.fromkeys(name for each in configs for name in each) if _differs(configs, name)]
    axes = {name: _positions([each.get(name) for each in configs]) for name in names[:8]}
    axes[metric] = _positions(list(values))
    step = (_WIDTH - _LEFT - _RIGHT) / max(len(axes) - 1, 1)
    low, high = _TOP + 16, _HEIGHT - _BOTTOM
    order = _ranks(values, mode)
    parts = [_title("configurations: the better, the darker")]
    for index in sorted(order, key=lambda each: order[each]):
        shade = order[index]
        at = [
            (_LEFT + step * column, high - (high - low) * positions[index])
            for column, (positions, *_) in enumerate(axes.values())
        ]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in at)
        parts.append(
            f'<polyline points="{path}" fill="none" stroke="{_BEST}" stroke-opacity="{0.1 + 0.8 * shade**2:.2f}"/>'
        )
    for column, (name, (_, lowest, highest)) in enumerate(axes.items()):
        x = _LEFT + step * column
        parts.append(f'<line x1="{x:.1f}" y1="{low}" x2="{x:.1f}" y2="{high}" stroke="#455a64"/>')
        for y, label in ((low - 4, highest), (high + 14, lowest), (high + 30, name)):
            parts.append(_label(x, y, label, "middle"))
    return "".join(parts)


def document(panels: Sequence[str]) -> str:
    """The panels, one below the other."""
    shown = "".join(f'<g transform="translate(0,{_HEIGHT * row})">{each}</g>' for row, each in enumerate(panels))
    height = _HEIGHT * len(panels)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" viewBox="0 0 {_WIDTH} {height}" '
        f'font-family="sans-serif"><rect width="100%" height="100%" fill="white"/>{shown}</svg>\n'
    )


class _Frame:
    def __init__(self, points: Sequence[Point], title: str, x: str, y: str):
        self._title, self._x, self._y = title, x, y
        self._across = _range([point[0] for point in points])
        self._up = _range([point[1] for point in points])

    def at(self, point: Point) -> Point:
        """Where a point is drawn."""
        across = (point[0] - self._across[0]) / (self._across[1] - self._across[0])
        up = (point[1] - self._up[0]) / (self._up[1] - self._up[0])
        width, height = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
        return _LEFT + across * width, _HEIGHT - _BOTTOM - up * height

    def line(self, points: Sequence[Point], colour: str, width: int) -> str:
        """A line through points."""
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in map(self.at, points))
        return f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width}"/>'

    def text(self) -> str:
        """Title, axes and their ends."""
        low = _HEIGHT - _BOTTOM
        return (
            _title(self._title)
            + f'<path d="M{_LEFT} {_TOP}V{low}H{_WIDTH - _RIGHT}" fill="none" stroke="#455a64"/>'
            + _label(_LEFT - 6, low, _short(self._up[0]), "end")
            + _label(_LEFT - 6, _TOP + 8, _short(self._up[1]), "end")
            + _label(_LEFT, low + 16, _short(self._across[0]), "start")
            + _label(_WIDTH - _RIGHT, low + 16, _short(self._across[1]), "end")
            + _label((_LEFT + _WIDTH) / 2, low + 16, self._x, "middle")
        )


def _end(frame: _Frame, points: Sequence[Point]) -> str:
    if not points:
        return ""
    x, y = frame.at(points[-1])
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2" fill="#607d8b"/>'


def _range(values: Sequence[float]) -> Point:
    low, high = min(values, default=0.0), max(values, default=1.0)
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _differs(configs: Sequence[dict[str, Any]], name: str) -> bool:
    return len({repr(each.get(name)) for each in configs}) > 1


def _positions(values: Sequence[Any]) -> tuple[list[float], str, str]:
    """From 0 to 1 for each value, and what the ends of the axis are; texts are in their order."""
    numbers = [each for each in values if _is_number(each)]
    if len(numbers) < len([each for each in values if each is not None]):
        names = sorted({str(each) for each in values})
        places = {name: index / max(len(names) - 1, 1) for index, name in enumerate(names)}
        return [places[str(each)] for each in values], names[0], names[-1]
    low, high = _range(numbers)
    is_wide = low > 0 and high / low > 100
    scale = math.log if is_wide else float
    below, above = scale(low), scale(high)
    return (
        [0.0 if each is None else (scale(each) - below) / (above - below) for each in values],
        _short(low),
        _short(high),
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _ranks(values: Sequence[float | None], mode: str) -> dict[int, float]:
    """By trial, from 0 (the worst) to 1."""
    known = [(value, index) for index, value in enumerate(values) if value is not None]
    known.sort(reverse=mode == "min")
    return {index: rank / max(len(known) - 1, 1) for rank, (_, index) in enumerate(known)}


def _title(text: str) -> str:
    return f'<text x="{_LEFT}" y="20" font-size="13" font-weight="bold">{escape(text)}</text>'


def _label(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="11" text-anchor="{anchor}">{escape(text)}</text>'


def _short(number: float) -> str:
    return f"{number:.4g}"

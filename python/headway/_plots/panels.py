"""Panels of a picture: an experiment's history, its configurations, its trials' reports and how
far they came; the reports of one run.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from headway._plots.canvas import Canvas, Point, Svg, canvas_for

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 760, 280, 70, 20, 34, 40
_GREY, _BEST, _AXIS = "#b9c4cc", "#00796b", "#455a64"
#: As the dashboard's.
_LINES = ("#1f5fbf", "#d07a15", "#2a8f82", "#8a5cc2", "#b83b5e", "#5f7f1f", "#7a5236", "#8b929c")
#: More curves than this hide each other: the best are drawn.
CURVES_MAX = 100

Panel = Callable[[Canvas], None]


def history(values: Sequence[float | None], metric: str, mode: str) -> Panel:
    """Each trial's last value in the order of suggestion, and the best so far."""
    points = [(float(index), value) for index, value in enumerate(values) if value is not None]
    best: list[Point] = []
    for x, value in points:
        newest = value if not best else (min if mode == "min" else max)(value, best[-1][1])
        best.append((x, newest))
    frame = _Frame(points, f"{metric} of each trial, and the best so far", "trial")

    def draw(canvas: Canvas) -> None:
        frame.draw(canvas)
        for point in points:
            canvas.circle(frame.at(point), 3, _GREY)
        canvas.line([frame.at(point) for point in best], _BEST, 2)

    return draw


def curves(reports: Sequence[Sequence[Point]], best: int | None, metric: str) -> Panel:
    """The reports of each trial over the iterations: where a scheduler ended trials, lines end."""
    frame = _Frame([point for each in reports for point in each], f"{metric} of each report", "iteration")

    def draw(canvas: Canvas) -> None:
        frame.draw(canvas)
        for each in reports:
            canvas.line([frame.at(point) for point in each], _GREY, 1)
            if each:
                canvas.circle(frame.at(each[-1]), 2, "#607d8b")
        if best is not None and reports[best]:
            canvas.line([frame.at(point) for point in reports[best]], _BEST, 2)

    return draw


def rungs(reports: Sequence[int]) -> Panel:
    """How many trials came to each iteration: steps are where a scheduler ended trials.

    Args:
        reports: How many reports each trial had.
    """
    longest = max(reports, default=0)
    # By the number of reports, how many trials had as many or more.
    counts = [0] * (longest + 2)
    for each in reports:
        counts[each] += 1
    for index in range(longest - 1, -1, -1):
        counts[index] += counts[index + 1]
    frame = _Frame([(0.5, 0), (longest + 0.5, len(reports))], "trials that came to each iteration", "iteration")

    def draw(canvas: Canvas) -> None:
        frame.draw(canvas)
        # As many bars as there is room for.
        step = max(1, math.ceil(longest / 200))
        for iteration in range(1, longest + 1, step):
            left, top = frame.at((iteration - 0.5 + 0.1 * step, counts[iteration]))
            right, bottom = frame.at((min(iteration - 0.5 + 0.9 * step, longest + 0.5), 0))
            canvas.bar((left, top), (right - left, bottom - top), _BEST)

    return draw


def coordinates(configs: Sequence[dict[str, Any]], values: Sequence[float | None], metric: str, mode: str) -> Panel:
    """Parallel coordinates: an axis for each parameter that differs, and one for the metric; the
    better, the darker.
    """
    names = [name for name in dict.fromkeys(name for each in configs for name in each) if _differs(configs, name)]
    axes = {name: _positions([each.get(name) for each in configs]) for name in names[:8]}
    axes[metric] = _positions(list(values))
    step = (_WIDTH - _LEFT - _RIGHT) / max(len(axes) - 1, 1)
    low, high = _TOP + 16, _HEIGHT - _BOTTOM
    order = _ranks(values, mode)

    def draw(canvas: Canvas) -> None:
        canvas.text((_LEFT, 20), "configurations: the better, the darker", 13, bold=True)
        for index in sorted(order, key=lambda each: order[each]):
            at = [
                (_LEFT + step * column, high - (high - low) * positions[index])
                for column, (positions, *_) in enumerate(axes.values())
            ]
            canvas.line(at, _BEST, 1, 0.1 + 0.8 * order[index] ** 2)
        for column, (name, (_, lowest, highest)) in enumerate(axes.items()):
            x = _LEFT + step * column
            canvas.line([(x, low), (x, high)], _AXIS, 1)
            for y, label in ((low - 4, highest), (high + 14, lowest), (high + 30, name)):
                canvas.text((x, y), label, 11, "middle")

    return draw


def of_run(reports: Sequence[Mapping[str, Any]], metrics: Sequence[str]) -> list[Panel]:
    """A panel for each metric over the reports of a run."""
    panels: list[Panel] = []
    for metric in metrics:
        points = [
            (float(index + 1), float(report[metric]))
            for index, report in enumerate(reports)
            if _is_number(report.get(metric))
        ]
        panels.append(_run_panel(points, metric))
    return panels


def of_charts(charts: Sequence[Mapping[str, Any]]) -> list[Panel]:
    """The charts of the dashboard, as ``_core.inline_charts`` gives them."""
    return [_chart_panel(chart) for chart in charts]


class Picture:
    """What ``plot()`` without a path returns: a notebook shows it below the cell.

    Attributes:
        svg: The picture's text, as SVG.
    """

    def __init__(self, svg: str):
        self.svg = svg

    def _repr_svg_(self) -> str:
        return self.svg


def write(path: str | os.PathLike[str] | None, panels: Sequence[Panel]) -> str | Picture:
    """Draws panels, one below the other.

    Args:
        path: The file, ``.svg`` or ``.png``; None draws into no file.
        panels: What is drawn.

    Returns:
        The file's path, or the picture.

    Raises:
        ValueError: another kind of file.
        ImportError: PNG needs Pillow.
    """
    if path is None:
        return Picture(svg(panels))
    canvas = canvas_for(path, _WIDTH, _HEIGHT * len(panels))
    _draw(canvas, panels)
    canvas.save(os.fspath(path))
    return os.fspath(path)


def svg(panels: Sequence[Panel]) -> str:
    """Panels one below the other, as SVG's text."""
    drawn = Svg(_WIDTH, _HEIGHT * len(panels))
    _draw(drawn, panels)
    return drawn.svg()


def _draw(canvas: Canvas, panels: Sequence[Panel]) -> None:
    for row, panel in enumerate(panels):
        canvas.move(_HEIGHT * row)
        panel(canvas)


def _run_panel(points: Sequence[Point], metric: str) -> Panel:
    frame = _Frame(points, metric, "report")

    def draw(canvas: Canvas) -> None:
        frame.draw(canvas)
        canvas.line([frame.at(point) for point in points], _BEST, 2)
        if len(points) <= CURVES_MAX:
            for point in points:
                canvas.circle(frame.at(point), 3, _BEST)

    return draw


def _chart_panel(chart: Mapping[str, Any]) -> Panel:
    """Lines over one another, each in a colour, with its ends of each part where it has them."""
    lines = [
        [
            [(x, y) for x, y in zip(line["x"], line[key], strict=True) if y is not None]
            for key in ("last", "min", "max")
            if key in line
        ]
        for line in chart["lines"]
    ]
    frame = _Frame([point for line in lines for points in line for point in points], chart["title"], chart["x"])
    failures = [mark["x"] for mark in chart["marks"] if mark["kind"] == "failure"]

    def draw(canvas: Canvas) -> None:
        frame.draw(canvas)
        for place in failures:
            frame.mark(canvas, place)
        for number, (line, of) in enumerate(zip(lines, chart["lines"], strict=True)):
            colour = _LINES[number % len(_LINES)]
            for points in line[1:]:
                canvas.line([frame.at(point) for point in points], colour, 1, 0.3)
            if of["style"] != "dots":
                canvas.line([frame.at(point) for point in line[0]], colour, 2)
            if of["style"] == "dots" or len(line[0]) == 1:
                for point in line[0]:
                    canvas.circle(frame.at(point), 3, colour)

    return draw


class _Frame:
    """Axes, and where points are between them."""

    def __init__(self, points: Sequence[Point], title: str, x: str):
        self._title, self._x = title, x
        self._across = _range([point[0] for point in points])
        self._up = _range([point[1] for point in points])

    def at(self, point: Point) -> Point:
        """Where a point is drawn."""
        across = (point[0] - self._across[0]) / (self._across[1] - self._across[0])
        up = (point[1] - self._up[0]) / (self._up[1] - self._up[0])
        width, height = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
        return _LEFT + across * width, _HEIGHT - _BOTTOM - up * height

    def mark(self, canvas: Canvas, x: float) -> None:
        """A line over the whole height, where the run failed."""
        left = self.at((x, self._up[0]))[0]
        canvas.line([(left, _TOP), (left, _HEIGHT - _BOTTOM)], "#bd2f27", 1)

    def draw(self, canvas: Canvas) -> None:
        """Title, axes and their ends."""
        low = _HEIGHT - _BOTTOM
        canvas.text((_LEFT, 20), self._title, 13, bold=True)
        canvas.line([(_LEFT, _TOP), (_LEFT, low), (_WIDTH - _RIGHT, low)], _AXIS, 1)
        canvas.text((_LEFT - 6, low), _short(self._up[0]), 11, "end")
        canvas.text((_LEFT - 6, _TOP + 8), _short(self._up[1]), 11, "end")
        canvas.text((_LEFT, low + 16), _short(self._across[0]), 11)
        canvas.text((_WIDTH - _RIGHT, low + 16), _short(self._across[1]), 11, "end")
        canvas.text(((_LEFT + _WIDTH) / 2, low + 16), self._x, 11, "middle")


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


def _short(number: float) -> str:
    return f"{number:.4g}"

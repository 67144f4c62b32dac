"""The table that the benchmarks print, as Markdown."""

from __future__ import annotations

import math
import random
import statistics

from measurements import Line, Measurement

Results = dict[str, list[dict[str, float]]]

# Programs without either library, in one column.
PEERS = ("torchrun", "alone", "mosaicml")


def rows_of(measurement: Measurement, results: Results) -> list[list[str]]:
    """The table's rows of one measurement."""
    return [_row(line, results) for line in measurement.lines]


def markdown(rows: list[list[str]], peer: str) -> str:
    """A table with columns of even width; ``peer`` is the title of the second library."""
    titles = ["", "Headway", peer, "Ray", f"Headway / {peer}", "Ray / Headway", "promised", "kept"]
    cells = [titles, *rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(titles))]
    cells.insert(1, ["-" * width for width in widths])
    padded = [[cell.ljust(width) for cell, width in zip(row, widths, strict=True)] for row in cells]
    return "\n".join(f"| {' | '.join(row)} |" for row in padded)


def show(values: list[float], unit: str) -> str:
    """The median, with the smallest and the largest."""
    scale, mark = {"s": (1, " s"), "ms": (1000, " ms"), "x": (1, "×"), "": (1, "")}[unit]
    median, low, high = (value * scale for value in (statistics.median(values), min(values), max(values)))
    digits = _decimals(median)
    return f"{median:.{digits}f}{mark} ({low:.{digits}f}–{high:.{digits}f})"


def interval_of_ratio(ours: list[float], theirs: list[float]) -> tuple[float, float, float]:
    """The geometric mean of the pairs' ratios with its 95 % interval, by bootstrap over the
    pairs.
    """
    logs = [math.log(a / b) for a, b in zip(ours, theirs, strict=True)]
    draw = random.Random(0)
    means = sorted(statistics.fmean(draw.choices(logs, k=len(logs))) for _ in range(10_000))
    low, high = means[249], means[9749]
    return math.exp(statistics.fmean(logs)), math.exp(low), math.exp(high)


def _row(line: Line, results: Results) -> list[str]:
    values = {library: _values(line, library, runs) for library, runs in results.items()}
    medians = {library: statistics.median(v) if v else math.inf for library, v in values.items()}
    for library in (*PEERS, "ray"):
        medians.setdefault(library, math.inf)
    peer = next((library for library in PEERS if values.get(library)), PEERS[0])
    return [
        line.title,
        *(show(v, line.unit) if (v := values.get(library)) else "–" for library in ("headway", peer, "ray")),
        _ratio_to_peer(line, peer, values, medians),
        _ray_by_headway(medians),
        line.promise,
        "" if not line.promise else "yes" if line.is_kept(medians) else "NO",
    ]


def _ratio_to_peer(line: Line, peer: str, values: dict[str, list[float]], medians: dict[str, float]) -> str:
    if not values.get(peer):
        return "–"
    if not line.interval or len(values["headway"]) != len(values[peer]):
        return f"{medians['headway'] / medians[peer]:.2f}"
    ratio, low, high = interval_of_ratio(values["headway"], values[peer])
    return f"{ratio:.3f} ({low:.3f}–{high:.3f})"


def _ray_by_headway(medians: dict[str, float]) -> str:
    if not math.isfinite(medians["ray"]):
        return "–"
    ratio = medians["ray"] / medians["headway"]
    return f"{ratio:.{_decimals(ratio)}f}"


def _decimals(value: float) -> int:
    """As many as make three digits."""
    return max(0, 2 - math.floor(math.log10(value))) if value > 0 else 2


def _values(line: Line, library: str, runs: list[dict[str, float]]) -> list[float]:
    key = line.torchrun_key if library == "torchrun" and line.torchrun_key else line.key
    return [run[key] for run in runs if key in run]

"""Sizes, ages, metrics and tables for people to read."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from headway._values.nested import flat_items
from headway._values.terminal_text import width as width_of


def in_bytes(count: float) -> str:
    """``"58 B"``, ``"1.2 MB"``: powers of 1000."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


def counted(count: int, thing: str) -> str:
    """``"1 file"``, ``"3 files"``."""
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


def age(seconds: float) -> str:
    """``"12 s"``, ``"3 min"``, ``"5 h"``, ``"2 d"``."""
    seconds = max(0.0, seconds)
    for unit, length, limit in (("s", 1, 120), ("min", 60, 120), ("h", 3600, 48)):
        if seconds < limit * length:
            return f"{int(seconds // length)} {unit}"
    return f"{int(seconds // 86400)} d"


def short_metrics(metrics: Mapping[str, Any], shown_max: int = 4) -> str:
    """The first numbers and short texts, nested ones with ``/`` between the keys."""
    cells = [f"{key}={_value(value)}" for key, value in flat_items(metrics) if _is_short(value)]
    return " ".join(cells[:shown_max]) + (" ..." if len(cells) > shown_max else "")


def in_one_line(text: str) -> str:
    """The text with control characters as Python writes them: a line end in a file's name ends no
    line.
    """
    return "".join(each if each >= " " and each != "\x7f" else repr(each)[1:-1] for each in text)


def table(rows: Iterable[Sequence[str]], left: Sequence[int] = (0, -1)) -> list[str]:
    """Lines with columns flush right, but for those in ``left``."""
    cells = [[in_one_line(cell) for cell in row] for row in rows]
    if not cells:
        return []
    count = len(cells[0])
    flush_left = {column % count for column in left}
    widths = [max(width_of(row[column]) for row in cells) for column in range(count)]
    return [
        "  ".join(
            cell + _gap(cell, width) if column in flush_left else _gap(cell, width) + cell
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]


def _gap(cell: str, width: int) -> str:
    return " " * (width - width_of(cell))


def _is_short(value: object) -> bool:
    return isinstance(value, (bool, int, float)) or (isinstance(value, str) and len(value) <= 24)


def _value(value: object) -> str:
    if isinstance(value, float) and math.isfinite(value):
        return f"{value:.4g}"
    return str(value)

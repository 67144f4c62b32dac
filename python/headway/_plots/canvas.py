"""What pictures are drawn on: SVG, for which no library is needed, or PNG by Pillow."""

from __future__ import annotations

import os
from collections.abc import Sequence
from html import escape
from typing import Any, Protocol

Point = tuple[float, float]
#: PNG has so many pixels for each of SVG's: it is drawn larger, and then scaled down.
_SCALE, _DRAWN = 2, 4


class Canvas(Protocol):
    """A picture. The origin is at the top left."""

    def move(self, down: float) -> None:
        """What is drawn from now on is so much lower."""

    def circle(self, centre: Point, radius: float, colour: str) -> None:
        """A disc."""

    def line(self, points: Sequence[Point], colour: str, width: float, opacity: float = 1) -> None:
        """A line through points."""

    def bar(self, corner: Point, size: Point, colour: str) -> None:
        """A rectangle, by its upper left corner."""

    def text(self, at: Point, text: str, size: int, anchor: str = "start", *, bold: bool = False) -> None:
        """A text above a point: which is its ``"start"``, ``"middle"`` or ``"end"``."""

    def save(self, path: str) -> None:
        """Writes the file."""


class Svg:
    """A picture as SVG."""

    def __init__(self, width: int, height: int):
        self._size = (width, height)
        self._parts: list[str] = []
        self._down = 0.0

    def move(self, down: float) -> None:
        """Lower."""
        self._down = down

    def circle(self, centre: Point, radius: float, colour: str) -> None:
        """A disc."""
        x, y = self._at(centre)
        self._parts.append(f'<circle cx="{x}" cy="{y}" r="{radius}" fill="{colour}"/>')

    def line(self, points: Sequence[Point], colour: str, width: float, opacity: float = 1) -> None:
        """A polyline."""
        path = " ".join(",".join(self._at(point)) for point in points)
        shade = f' stroke-opacity="{opacity:.2f}"' if opacity < 1 else ""
        self._parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width:g}"{shade}/>')

    def bar(self, corner: Point, size: Point, colour: str) -> None:
        """A rectangle."""
        x, y = self._at(corner)
        self._parts.append(f'<rect x="{x}" y="{y}" width="{size[0]:.1f}" height="{size[1]:.1f}" fill="{colour}"/>')

    def text(self, at: Point, text: str, size: int, anchor: str = "start", *, bold: bool = False) -> None:
        """A text."""
        x, y = self._at(at)
        weight = ' font-weight="bold"' if bold else ""
        self._parts.append(
            f'<text x="{x}" y="{y}" font-size="{size}" text-anchor="{anchor}"{weight}>{escape(text)}</text>'
        )

    def svg(self) -> str:
        """The file's text."""
        width, height = self._size
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} '
            f'{height}" font-family="sans-serif"><rect width="100%" height="100%" fill="white"/>'
            f"{''.join(self._parts)}</svg>\n"
        )

    def save(self, path: str) -> None:
        """Writes the file."""
        with open(path, "w") as file:
            file.write(self.svg())

    def _at(self, point: Point) -> tuple[str, str]:
        return f"{point[0]:.1f}", f"{point[1] + self._down:.1f}"


class Png:
    """A picture as PNG.

    Raises:
        ImportError: Pillow is not installed.
    """

    def __init__(self, width: int, height: int):
        try:
            from PIL import Image, ImageDraw
        except ImportError as error:
            raise ImportError("a picture as PNG needs Pillow, which is not installed: pip install pillow") from error
        self._image = Image.new("RGB", (width * _DRAWN, height * _DRAWN), "white")
        self._draw = ImageDraw.Draw(self._image, "RGBA")
        self._final = (width * _SCALE, height * _SCALE)
        self._down = 0.0
        self._fonts: dict[int, Any] = {}

    def move(self, down: float) -> None:
        """Lower."""
        self._down = down

    def circle(self, centre: Point, radius: float, colour: str) -> None:
        """A disc."""
        x, y = self._at(centre)
        reach = radius * _DRAWN
        self._draw.ellipse((x - reach, y - reach, x + reach, y + reach), fill=colour)

    def line(self, points: Sequence[Point], colour: str, width: float, opacity: float = 1) -> None:
        """Lines, with round corners."""
        shade = f"{colour}{round(255 * opacity):02x}"
        if len(points) > 1:
            self._draw.line([self._at(each) for each in points], fill=shade, width=round(width * _DRAWN), joint="curve")

    def bar(self, corner: Point, size: Point, colour: str) -> None:
        """A rectangle."""
        x, y = self._at(corner)
        self._draw.rectangle((x, y, x + size[0] * _DRAWN, y + size[1] * _DRAWN), fill=colour)

    def text(self, at: Point, text: str, size: int, anchor: str = "start", *, bold: bool = False) -> None:
        """A text."""
        from PIL import ImageFont

        if size not in self._fonts:
            self._fonts[size] = ImageFont.load_default(size * _DRAWN)
        place = {"start": "ls", "middle": "ms", "end": "rs"}[anchor]
        stroke = _DRAWN // 3 if bold else 0
        self._draw.text(
            self._at(at),
            text,
            fill="black",
            font=self._fonts[size],
            anchor=place,
            stroke_width=stroke,
            stroke_fill="black",
        )

    def save(self, path: str) -> None:
        """Writes the file."""
        from PIL import Image

        self._image.resize(self._final, Image.Resampling.LANCZOS).save(path, "PNG")

    def _at(self, point: Point) -> Point:
        return point[0] * _DRAWN, (point[1] + self._down) * _DRAWN


def canvas_for(path: str | os.PathLike[str], width: int, height: int) -> Canvas:
    """The canvas for a file.

    Args:
        path: The file.
        width: In pixels of SVG.
        height: The same.

    Raises:
        ValueError: it is a file of another kind.
        ImportError: the library for it is not installed.
    """
    kinds: dict[str, Any] = {".svg": Svg, ".png": Png}
    ending = os.path.splitext(os.fspath(path))[1].lower()
    if ending not in kinds:
        raise ValueError(f"path is {os.fspath(path)!r}; allowed: a file that ends with .svg or .png")
    canvas: Canvas = kinds[ending](width, height)
    return canvas

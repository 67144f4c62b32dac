#!/usr/bin/env python3
"""Draws what the demo shows in a terminal, for the front page: docs/demo-light.svg,
docs/demo-dark.svg.

``make picture`` calls it. It runs examples/digits.py in a terminal of COLUMNS columns, and takes
the lines from the second run on.
"""

from __future__ import annotations

import fcntl
import itertools
import os
import pty
import struct
import subprocess
import sys
import tempfile
import termios
from pathlib import Path

import pyte
from rich.console import Console
from rich.style import Style
from rich.terminal_theme import DEFAULT_TERMINAL_THEME, DIMMED_MONOKAI, TerminalTheme
from rich.text import Text

ROOT = Path(__file__).resolve().parents[1]
COLUMNS = 100
ROWS = 200
FIRST, LAST = "Training resumes from", "From the kill"
THEMES = {"light": DEFAULT_TERMINAL_THEME, "dark": DIMMED_MONOKAI}
# Rich's own names fonts of the web, which a picture in a page may not load.
SVG = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: {char_height}px;
  line-height: {line_height}px; }}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: arial, sans-serif; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def screen_of(command: list[str]) -> pyte.Screen:
    """The screen of a terminal in which the command has run. Its results are not kept.

    Raises:
        CalledProcessError: The command failed.
    """
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    results = tempfile.TemporaryDirectory(prefix="headway_")
    environment = {**os.environ, "TERM": "xterm-256color", "HEADWAY_STORAGE": results.name}
    environment.pop("COLUMNS", None)
    process = subprocess.Popen(
        command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    screen = pyte.Screen(COLUMNS, ROWS)
    stream = pyte.ByteStream(screen)
    while output := _read(ours):
        stream.feed(output)
    results.cleanup()
    if process.wait() != 0:
        print("\n".join(screen.display), file=sys.stderr)
        raise subprocess.CalledProcessError(process.returncode, command)
    return screen


def _read(terminal: int) -> bytes:
    """What a terminal shows next; nothing when all its processes have ended."""
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""


def text_of(screen: pyte.Screen) -> Text:
    """The lines of the picture, with their colours."""
    shown = screen.display
    first = next(number for number, line in enumerate(shown) if line.startswith(FIRST))
    last = next(number for number, line in enumerate(shown) if line.startswith(LAST))
    lines = []
    for number in range(first, last + 1):
        line = Text()
        characters = [screen.buffer[number][column] for column in range(len(shown[number].rstrip()))]
        for style, same in itertools.groupby(characters, _style):
            line.append("".join(character.data for character in same), style)
        lines.append(line)
    return Text("\n").join(lines)


def _style(character: pyte.screens.Char) -> Style:
    return Style(
        color=_colour(character.fg),
        bgcolor=_colour(character.bg),
        bold=character.bold,
        italic=character.italics,
        underline=character.underscore,
        reverse=character.reverse,
    )


def _colour(name: str) -> str | None:
    if name == "default":
        return None
    if len(name) == 6 and all(digit in "0123456789abcdef" for digit in name):
        return f"#{name}"
    return name.replace("bright", "bright_").replace("brown", "yellow")


def svg_of(text: Text, theme: TerminalTheme, name: str) -> str:
    """The text in a window, as SVG."""
    console = Console(record=True, width=COLUMNS, file=open(os.devnull, "w"))  # noqa: SIM115
    console.print(text, soft_wrap=True)
    return console.export_svg(title="make demo", theme=theme, code_format=SVG, unique_id=f"demo-{name}")


def main() -> int:
    """Runs the demo and draws it."""
    text = text_of(screen_of([sys.executable, "examples/digits.py"]))
    for name, theme in THEMES.items():
        (ROOT / f"docs/demo-{name}.svg").write_text(svg_of(text, theme, name))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Text as a terminal shows it: how many columns it takes."""

from __future__ import annotations

import re
from unicodedata import combining, east_asian_width

# Colours, movements of the cursor and the like (ECMA-48, 5.4), and escapes of two characters.
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[^\[])")


def width(text: str) -> int:
    """How many columns of a terminal it takes: East Asian characters two each, combining ones
    none.
    """
    return sum(map(_columns, text))


def cut(text: str, columns: int) -> str:
    """The text, or as much of its beginning as that many columns hold."""
    taken = 0
    for position, each in enumerate(text):
        taken += _columns(each)
        if taken > columns:
            return text[:position]
    return text


def without_escapes(text: str) -> str:
    """The text without colours, movements of the cursor and other control characters."""
    return "".join(each for each in _ESCAPES.sub("", text) if each.isprintable())


def _columns(character: str) -> int:
    return 0 if combining(character) else 2 if east_asian_width(character) in "WF" else 1

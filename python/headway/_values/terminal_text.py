"""Text as a terminal shows it: how many columns it takes."""

from __future__ import annotations

from headway import _core


def width(text: str) -> int:
    """How many columns of a terminal it takes: East Asian characters and emoji two each, combining
    ones none.
    """
    return len(text) if text.isascii() else _core.text_width(_utf8(text))


def cut(text: str, columns: int) -> str:
    """The text, or as much of its beginning as that many columns hold."""
    return _core.cut_to(_utf8(text), max(columns, 0))


def cut_parts(text: str, columns: int) -> str:
    """The same for text of parts with ``" · "`` between: as many whole parts as fit."""
    return _core.cut_parts(_utf8(text), max(columns, 0))


def without_escapes(text: str) -> str:
    """The text as a part of one line, without colours, movements of the cursor and other control
    characters.
    """
    return _core.without_escapes(_utf8(text))


def _utf8(text: str) -> bytes:
    # A name that is no UTF-8 comes from the system with surrogates.
    return text.encode(errors="replace")

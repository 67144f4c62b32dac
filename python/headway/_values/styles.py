"""Colours of a terminal, for the few things that should stand out."""

from __future__ import annotations

import os

BOLD = "\x1b[1m"
BEST = "\x1b[1;32m"
WARNING = "\x1b[1;33m"
_PLAIN = "\x1b[0m"


def styled(text: str, style: str, stream: object) -> str:
    """The text in a style where the stream is a terminal that has colours; else as it is.

    ``NO_COLOR`` and ``TERM=dumb`` turn colours off.
    """
    isatty = getattr(stream, "isatty", None)
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM", "dumb") == "dumb"
    if not style or plain or isatty is None or not isatty():
        return text
    return f"{style}{text}{_PLAIN}"

"""What stands out on a terminal; elsewhere text stays as it is. ``NO_COLOR`` and ``TERM=dumb`` turn
that off.
"""

from __future__ import annotations

from headway import _core


def takes_colours(stream: object) -> bool:
    """Whether text for a stream may have styles: those of ``_core``.

    Args:
        stream: A text stream, or what a program has put in place of one.
    """
    isatty = getattr(stream, "isatty", None)
    return isatty is not None and bool(isatty()) and _core.takes_colours()

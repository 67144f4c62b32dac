"""What Headway itself reports: warnings and notices, as records of the logger ``headway``.

Handlers and levels that a program has set count. Without any handler, notices and warnings are
lines on the error stream.
"""

from __future__ import annotations

import contextlib
import logging
import shutil
import sys

from headway import _core
from headway._values.styles import takes_colours

LOGGER = logging.getLogger("headway")


def warn(text: str) -> None:
    """Something that the user should look at."""
    say(logging.WARNING, text)


def notice(text: str) -> None:
    """Something that the user may want to know."""
    say(logging.INFO, text)


def say(level: int, text: str) -> None:
    """A record of this level; ``text`` may have several lines."""
    if LOGGER.hasHandlers():
        LOGGER.log(level, text, stacklevel=3)
        return
    record = LOGGER.makeRecord(LOGGER.name, level, "", 0, text, (), None)
    if level >= _shown_from() and level > LOGGER.manager.disable and not LOGGER.disabled and LOGGER.filter(record):
        _show(record)


def _shown_from() -> int:
    """The least level that is shown without a handler: notices are, unless the program has set a
    level.
    """
    untouched = LOGGER.level == logging.NOTSET and LOGGER.root.level == logging.WARNING
    return logging.INFO if untouched else LOGGER.getEffectiveLevel()


def _show(record: logging.LogRecord) -> None:
    stream = sys.stderr
    if stream is None:
        return
    kind = "" if record.levelno < logging.WARNING else f"{record.levelname.lower()}:"
    text = fill_lines(f"headway: {kind} {record.getMessage()}" if kind else f"headway: {record.getMessage()}", stream)
    if takes_colours(stream):  # Once it is filled: letters that move no cursor would count.
        text = _core.styled_notice(text)
    # If the error stream is closed, there is no place for the line.
    with contextlib.suppress(OSError):
        print(text, file=stream, flush=True)


def fill_lines(text: str, stream: object) -> str:
    """Text with each line but the first indented; on a terminal, words that do not fit go to the
    next line.
    """
    first, *rest = text.split("\n")
    lines = [first, *(f"  {line}" for line in rest)]
    if is_terminal(stream):
        width = shutil.get_terminal_size().columns
        lines = [part for line in lines for part in _wrapped(line, width)]
    return "\n".join(lines)


def is_terminal(stream: object) -> bool:
    """What a program has put in place of a standard stream may have little more than ``write``."""
    isatty = getattr(stream, "isatty", None)
    return isatty is not None and bool(isatty())


def _wrapped(line: str, width: int) -> list[str]:
    if len(line) <= width:
        return [line]
    import textwrap  # Here: few notices are that long.

    depth = len(line) - len(line.lstrip(" ")) + 4
    return textwrap.wrap(
        line,
        max(width, 40),
        subsequent_indent=" " * depth,
        drop_whitespace=True,
        break_long_words=False,
        break_on_hyphens=False,
    )

"""Ctrl-C in ``fit()``: a program that it ends says so in one sentence, without Headway's frames."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from types import TracebackType

from headway._values import log

_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep
# Of an exception that a hook has something to say of: whether its own frames are worth a look.
_MARK = "_headway_shows_frames"


def interrupted(error: KeyboardInterrupt, path: str | None, *, shows_frames: bool = False) -> None:
    """Says that Ctrl-C has stopped the run; ``error`` is then raised further as it is.

    Args:
        error: What Ctrl-C raised.
        path: The run's folder; None in torchrun's other ranks, which say nothing.
        shows_frames: Whether the user's frames say where the training function was (local mode).
    """
    setattr(error, _MARK, shows_frames)
    # What IPython shows in place of the frames.
    error._render_traceback_ = lambda: _shown(error)  # type: ignore[attr-defined]
    _Hook.install()
    if path is not None:
        log.notice(
            f"stopped by Ctrl-C; what was reported so far is in {path}; the same name and storage path resume the run"
        )


class _Hook:
    """In place of ``sys.excepthook``, once an interrupted run may end the program."""

    def __init__(self, before: Callable[..., object]):
        self._before = before

    @classmethod
    def install(cls) -> None:
        if not isinstance(sys.excepthook, cls):
            sys.excepthook = cls(sys.excepthook)

    def __call__(self, kind: type[BaseException], error: BaseException, frames: TracebackType | None) -> None:
        if not hasattr(error, _MARK):
            self._before(kind, error, frames)
        elif getattr(error, _MARK):
            shown = _without_own(error.__traceback__)
            # Python's own hook looks at the error's.
            self._before(kind, error.with_traceback(shown), shown)


def _shown(error: KeyboardInterrupt) -> list[str]:
    import traceback  # Here: interrupted programs alone need it.

    frames = _without_own(error.__traceback__) if getattr(error, _MARK) else None
    while frames is not None and f"{os.sep}IPython{os.sep}" in frames.tb_frame.f_code.co_filename:
        frames = frames.tb_next
    return "".join(traceback.format_exception(type(error), error, frames)).splitlines()


def _without_own(frames: TracebackType | None) -> TracebackType | None:
    """The frames of others' code."""
    kept = []
    while frames is not None:
        if not os.path.abspath(frames.tb_frame.f_code.co_filename).startswith(_PACKAGE):
            kept.append(frames)
        frames = frames.tb_next
    rest: TracebackType | None = None
    for each in reversed(kept):
        rest = TracebackType(rest, each.tb_frame, each.tb_lasti, each.tb_lineno)
    return rest

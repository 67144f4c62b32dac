"""What a program shows that an exception of ``fit()`` ends: Ctrl-C and SIGTERM are one sentence, a
run's failure is shown once, and Headway's frames are left out.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterator
from types import TracebackType

from headway._values import log
from headway.train._errors.exceptions import PreemptionError, TrainingFailedError

_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep
# Of an exception that the hook shows in its own way: whether its frames are worth a look.
_MARK = "_headway_shows_frames"
#: What a shell shows as the exit status of a process that SIGTERM has ended.
TERMINATED_STATUS = 128 + signal.SIGTERM
_RESUME = "what was reported so far is in {path}; the same name and storage path resume the run"


def failed(error: TrainingFailedError) -> None:
    """A run has failed; ``error``, which is raised then, has the rank's exception and frames in its
    message.
    """
    _mark(error, shows_frames=True)


def interrupted(error: KeyboardInterrupt, path: str | None, *, shows_frames: bool = False) -> None:
    """Says that Ctrl-C has stopped the run; ``error`` is then raised further as it is.

    Args:
        error: What Ctrl-C raised.
        path: The run's folder; None in torchrun's other ranks, which say nothing.
        shows_frames: Whether the user's frames say where the training function was (local mode).
    """
    _mark(error, shows_frames=shows_frames)
    if path is not None:
        log.notice(f"stopped by Ctrl-C; {_RESUME.format(path=path)}")


def terminated(error: PreemptionError, path: str | None) -> None:
    """Says that SIGTERM to this process has stopped the run; ``error`` is then raised. A program
    that it ends has the exit status 143.

    Args:
        error: What ``fit()`` raises.
        path: The run's folder; None in torchrun's other ranks, which say nothing.
    """
    _mark(error, shows_frames=False)
    if path is not None:
        headline = str(error).partition("\n")[0]
        log.notice(f"{headline}; {_RESUME.format(path=path)}")


def _mark(error: BaseException, *, shows_frames: bool) -> None:
    setattr(error, _MARK, shows_frames)
    # What IPython shows in place of the frames.
    error._render_traceback_ = lambda: _shown(error)  # type: ignore[attr-defined]
    _Hook.install()


class _Hook:
    """In place of ``sys.excepthook``, once an exception of ``fit()`` may end the program."""

    def __init__(self, before: Callable[..., object]):
        self._before = before

    @classmethod
    def install(cls) -> None:
        if not isinstance(sys.excepthook, cls):
            sys.excepthook = cls(sys.excepthook)

    def __call__(self, kind: type[BaseException], error: BaseException, frames: TracebackType | None) -> None:
        if not hasattr(error, _MARK):
            self._before(kind, error, frames)
        elif isinstance(error, PreemptionError) and error.of_driver:
            _clear(frames)
            raise SystemExit(TERMINATED_STATUS)  # The interpreter ends with it, in order.
        elif getattr(error, _MARK):
            shown = _without_own(error.__traceback__)
            with _without_cause(error):
                # Python's own hook looks at the error's.
                self._before(kind, error.with_traceback(shown), shown)


@contextlib.contextmanager
def _without_cause(error: BaseException) -> Iterator[None]:
    """The message has the cause of a run's failure."""
    cause = error.__cause__
    if isinstance(error, TrainingFailedError):
        error.__cause__ = None
    try:
        yield
    finally:
        if cause is not None:
            error.__cause__ = cause


def _shown(error: BaseException) -> list[str]:
    import traceback  # Here: interrupted programs alone need it.

    frames = _without_own(error.__traceback__) if getattr(error, _MARK) else None
    while frames is not None and f"{os.sep}IPython{os.sep}" in frames.tb_frame.f_code.co_filename:
        frames = frames.tb_next
    with _without_cause(error):
        return "".join(traceback.format_exception(type(error), error, frames)).splitlines()


def _clear(frames: TracebackType | None) -> None:
    """The interpreter holds them until its end: what their variables refer to may go before."""
    while frames is not None:
        with contextlib.suppress(RuntimeError):  # The frame is still executed.
            frames.tb_frame.clear()
        frames = frames.tb_next


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

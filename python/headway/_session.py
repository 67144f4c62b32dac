"""This worker's session: what ``headway.train``'s functions speak to from inside a training
function.
"""

from __future__ import annotations

import json
import signal
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NoReturn

from headway import _core


class SessionMisuseError(RuntimeError):
    """A function of the training function was called somewhere else.

    Example:
        >>> from headway import train
        >>> train.get_context()
        Traceback (most recent call last):
            ...
        headway.train.SessionMisuseError: get_context() was called outside of a training function: ...
    """


@dataclass
class WorkerSession:
    """One rank's connection to its run.

    Attributes:
        core: The session itself.
        context: Who the rank is.
        local: Whether this process is the user's own (local mode), and lives on.
        store: Under torchrun: torch's store, at which its ranks meet.
    """

    core: _core.Session
    context: dict[str, Any]
    #: Whether the trainer has a validation function.
    validates: bool = False
    local: bool = False
    store: Any = None
    #: This rank's shares of the trainer's data sets, by name.
    shards: dict[str, Any] = field(default_factory=dict)
    #: The one that has become the worker.
    thread: int = field(default_factory=threading.get_ident)


#: The option of Python that has :func:`function_depth` from the start of the interpreter on.
DEPTH_OPTION = "headway_depth"
_active: WorkerSession | None = None
_directory_before: str | None = None
_validating: _core.Session | None = None
_copying = False
_trial = False
_echo_tests: list[Callable[[BaseException], bool]] = []
_rank_checks: list[Callable[[], None]] = []


def context_of(core: _core.Session) -> dict[str, Any]:
    """Who this worker is: what its first message says, and beside that the fields of its role.

    ``role`` is the role's name, such as ``"RankRole"``.
    """
    context = json.loads(core.context_json)
    role = context["role"]
    return {**context, **role["fields"], "role": role["is"]}


def begin(
    core: _core.Session, context: dict[str, Any], validates: bool = False, *, local: bool = False, store: Any = None
) -> None:
    """Makes this process a rank."""
    global _active
    _active = WorkerSession(core, context, validates, local, store)


def begin_validation(core: _core.Session) -> None:
    """Makes this process one that validates a checkpoint: it is no rank of the run."""
    global _validating
    _validating = core


def begin_copying() -> None:
    """Makes this process one that copies artifacts."""
    global _copying
    _copying = True


def begin_trial(name: str) -> None:
    """This rank is a tuner's trial: the function may call ``fit()`` of a trainer."""
    global _trial
    _trial = True
    name_trial(name)


def name_trial(name: str) -> None:
    """This rank's trial is called so."""
    if _active is not None:
        _active.context["trial_name"] = name


def in_trial() -> bool:
    """Whether this process is a tuner's trial, of a function or a class."""
    return _trial and _active is not None


def is_host() -> bool:
    """Whether a trainer in this process is a guest of the driver: in one that validates a
    checkpoint, and in a trial.
    """
    return _validating is not None or in_trial()


def open_runtime() -> int:
    """The socket on which a runtime in this process speaks to the driver; -1 where it has its own
    runtime.
    """
    if _validating is not None:
        return _validating.open_runtime()
    return _active.core.open_runtime() if _active is not None and in_trial() else -1


def end() -> None:
    """This process is no worker any more."""
    global _active
    _active = None


def leave() -> NoReturn:
    """Leaves a report in which this rank waited when its run ended: as SIGTERM does, which is on
    its way.

    What cleans up is not to be interrupted by it; a user's handler still hears it.
    """
    own = getattr(signal.getsignal(signal.SIGTERM), "is_headways", False)
    if own and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise SystemExit(128 + signal.SIGTERM)


def active_core() -> _core.Session | None:
    """The session of this process if it is a rank; else None."""
    return _active.core if _active is not None else None


def in_worker() -> bool:
    """Whether this process is a worker of a run: a rank or a helper process."""
    return _active is not None or _validating is not None or _copying


def active() -> WorkerSession | None:
    """The session; None outside of a training function."""
    return _active


def enter_run_from(directory: str) -> None:
    """This process is a worker that comes from this directory: the driver's, or what stands for it
    on another machine.
    """
    global _directory_before
    _directory_before = directory


def directory_before() -> str | None:
    """Where a worker was before it entered the working directory of its run; None: this process is
    no worker.
    """
    return _directory_before


def driver_directory() -> str | None:
    """The directory in which ``fit()`` was called, in a rank that has been started by a driver;
    else None.
    """
    setup = _active.context.get("setup") if _active is not None and not _active.local else None
    return json.loads(setup["json"]).get("cwd") if setup else None


def function_depth() -> int:
    """Within how many functions of data sets this process is: 1 in the worker of one, 2 in that of
    a data set that a function uses.
    """
    return int(sys._xoptions.get(DEPTH_OPTION, 0))


def check_may_fit() -> None:
    """Refuses ``fit()`` in a rank, and in a worker of a data set's function: each worker that
    imports a module which calls it would start the next one, without end.

    Raises:
        RuntimeError: this process is one.
    """
    if function_depth() > 0:
        raise RuntimeError(
            "fit() was called in a function of a data set; start the run from the driver's script. A module or script "
            'that calls fit() while it is imported needs `if __name__ == "__main__":` before it'
        )
    if _active is None or in_trial():
        return
    if _active.thread != threading.get_ident() and _active.local:
        raise RuntimeError(
            "fit() was called while another thread of this process is in a run with ScalingConfig(num_workers=0), "
            "whose worker this process is; allowed: one run after the other, or num_workers of at least 1 in both"
        )
    raise RuntimeError(
        "fit() was called inside a training function; start the run from the driver's script, a validation function or "
        "the function of a Tuner instead"
    )


def current(caller: str) -> WorkerSession:
    """The session; ``caller`` is named in the error outside of workers."""
    if _active is None and _validating is not None:
        raise SessionMisuseError(
            f"{caller} was called in a validation function: it works in the training function; what a validation "
            "finds is what its function returns"
        )
    if _active is None:
        raise SessionMisuseError(
            f"{caller} was called outside of a training function: it works in the function that is given to a trainer, "
            "in its worker processes, while fit() runs"
        )
    return _active


def add_echo_test(test: Callable[[BaseException], bool]) -> None:
    """``test`` says whether an exception looks like the effect of another rank's death, not like an
    independent cause.
    """
    if test not in _echo_tests:
        _echo_tests.append(test)


def tells_of_lost_peer(error: BaseException) -> bool:
    """Whether an exception's words are those of a connection whose other end is gone: the words
    that Gloo, NCCL, gRPC and the system have for it.
    """
    return _core.tells_of_lost_peer(str(error))


def is_echo(error: BaseException) -> bool:
    """Whether some backend takes this exception for the effect of another rank's death."""
    return any(test(error) for test in _echo_tests)


def add_rank_check(check: Callable[[], None]) -> None:
    """``check`` raises when this rank does not train with the others."""
    if check not in _rank_checks:
        _rank_checks.append(check)


def check_rank() -> None:
    """Called with each report, and when the training function has returned.

    Raises:
        RuntimeError: a library in this rank does not train with the other ranks.
    """
    for check in _rank_checks:
        check()

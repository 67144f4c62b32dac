"""What a run is configured with beside its storage and its failures: callbacks, stop conditions,
logging.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from headway._callbacks.callback import Callback
from headway._callbacks.progress_reporter import ProgressReporter
from headway._callbacks.stopper import Stopper
from headway._callbacks.train_callback import TrainCallback
from headway._values.arguments import check_number, check_str, is_utf8, refuse

StopCondition = Mapping[str, float] | Callable[[str, dict[str, Any]], bool] | Stopper

_LEVELS = ("CRITICAL", "ERROR", "WARNING", "INFO", "DEBUG", "NOTSET")


@dataclass
class LoggingConfig:
    """How much a run says of itself on the error stream.

    Attributes:
        log_level: ``"INFO"`` (default) shows notices, such as why a group is restarted;
            ``"WARNING"`` shows warnings only, ``"ERROR"`` and ``"CRITICAL"`` neither; ``"DEBUG"``
            is like ``"INFO"``. Ranks' output and the table of reports are ``RunConfig.verbose``'s.

    Raises:
        TypeError, ValueError: no such level.

    Example:
        >>> from headway import train
        >>> train.RunConfig(logging_config=train.LoggingConfig("warning")).logging_config.log_level
        'WARNING'
    """

    log_level: str = "INFO"

    def __post_init__(self) -> None:
        allowed = f"one of {', '.join(_LEVELS)}"
        level = check_str("LoggingConfig.log_level", self.log_level, allowed).upper()
        level = {"WARN": "WARNING", "FATAL": "CRITICAL"}.get(level, level)
        if level not in _LEVELS:
            raise ValueError(f"LoggingConfig.log_level is {self.log_level!r}; allowed: {allowed}")
        self.log_level = level

    def shows(self, kind: str) -> bool:
        """Whether a ``"notice"`` or a ``"warning"`` is shown."""
        least = logging.WARNING if kind == "warning" else logging.INFO
        return getattr(logging, self.log_level) <= least


def check_callbacks(callbacks: object) -> list[TrainCallback | Callback]:
    """``RunConfig.callbacks`` as a list."""
    allowed = "None or a list of UserCallback and headway.tune.Callback objects"
    if callbacks is None:
        return []
    if isinstance(callbacks, str) or not isinstance(callbacks, Sequence):
        refuse("RunConfig.callbacks", callbacks, allowed)
    for index, callback in enumerate(callbacks):
        if not isinstance(callback, (TrainCallback, Callback)):
            refuse(
                f"RunConfig.callbacks[{index}]", callback, "an object of a subclass of UserCallback or tune.Callback"
            )
    return list(callbacks)


def check_stop(stop: object) -> dict[str, float] | None:
    """``RunConfig.stop``: the limits that it has, by metric; None when it is a function, or
    nothing.
    """
    allowed = (
        "None, a dict from metrics to values, a function of the trial's id and a report, or a tune.stopper.Stopper"
    )
    if stop is None or (callable(stop) and not isinstance(stop, type)):
        return None
    if not isinstance(stop, Mapping):
        refuse("RunConfig.stop", stop, allowed)
    limits = {}
    for name, value in stop.items():
        check_str("a metric in RunConfig.stop", name, allowed)
        # {"done": True}: a metric that is a bool counts as 0 or 1.
        number = int(value) if isinstance(value, bool) else value
        limits[name] = check_number(
            f"RunConfig.stop[{name!r}]", number, "a number or a bool: the run ends when the metric has it"
        )
        if math.isnan(limits[name]):
            raise ValueError(f"RunConfig.stop[{name!r}] is nan; allowed: a number")
    return limits


def check_reporter(reporter: object) -> ProgressReporter | None:
    """``RunConfig.progress_reporter``."""
    if reporter is not None and not isinstance(reporter, ProgressReporter):
        refuse(
            "RunConfig.progress_reporter", reporter, "None or a headway.tune.ProgressReporter, such as CLIReporter()"
        )
    return reporter


def check_log_to_file(value: object) -> tuple[bool | str | tuple[str, str], list[str] | None]:
    """``RunConfig.log_to_file`` as it is kept, and the files' names if it has any."""
    allowed = "True, False, a file's name without '/', or two different ones: standard output's and standard error's"
    if value is None or isinstance(value, bool):
        return value is not False, None
    if isinstance(value, str):
        names = [value]
    elif isinstance(value, (tuple, list)) and len(value) == 2:
        names = [check_str("a name in RunConfig.log_to_file", name, allowed) for name in value]
    else:
        refuse("RunConfig.log_to_file", value, allowed)
    if any(not name or "/" in name or "\0" in name or not is_utf8(name) for name in names) or len(set(names)) < len(
        names
    ):
        raise ValueError(f"RunConfig.log_to_file is {value!r}; allowed: {allowed}")
    return (names[0] if len(names) == 1 else (names[0], names[1])), names


def check_fail_fast(fail_fast: object, max_failures: int) -> None:
    """``FailureConfig.fail_fast``, which goes with no restarts."""
    allowed = 'False, or with max_failures=0 True or "raise"'
    if not isinstance(fail_fast, (bool, str)):
        refuse("FailureConfig.fail_fast", fail_fast, allowed)
    if fail_fast not in (False, True, "raise") or (fail_fast and max_failures != 0):
        with_failures = f" with max_failures={max_failures}" if fail_fast in (True, "raise") else ""
        raise ValueError(f"FailureConfig.fail_fast is {fail_fast!r}{with_failures}; allowed: {allowed}")

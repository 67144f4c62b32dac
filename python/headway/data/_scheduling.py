"""Arguments by which Ray schedules its tasks. Here no task is scheduled: calls take them, so that
scripts run unchanged, and look only whether they are well formed.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

from headway._values.arguments import check_number, check_str, refuse
from headway._values.named_arguments import unknown_argument

_F = TypeVar("_F", bound=Callable[..., Any])


def takes_scheduling(function: _F) -> _F:
    """The function, which takes the arguments of Ray's scheduler too, and answers a misspelled
    argument. Those that it has itself mean what it says.
    """

    @functools.cache
    def own() -> list[str]:
        kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
        parameters = inspect.signature(function).parameters.values()
        return [each.name for each in parameters if each.kind in kinds and each.name != "self"]

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not kwargs.keys() <= set(own()):
            for name in [name for name in kwargs if name not in own()]:
                if name not in _CHECKS:
                    raise TypeError(unknown_argument(_shown(function), name, own()))
                _CHECKS[name](name, kwargs.pop(name))
        return function(*args, **kwargs)

    return cast("_F", call)


def _shown(function: Callable[..., Any]) -> str:
    owner, _, name = function.__qualname__.rpartition(".")
    return name if not owner else f"{owner if owner == 'GroupedData' else 'Dataset'}.{name}"


def _number(name: str, value: Any) -> None:
    if value is not None and check_number(name, value, "None or a number from 0 on") < 0:
        raise ValueError(f"{name} is {value}; allowed: None or a number from 0 on")


def _dict(name: str, value: Any) -> None:
    if value is not None and not isinstance(value, Mapping):
        refuse(name, value, "None or a dict")


def _function(name: str, value: Any) -> None:
    if value is not None and not callable(value):
        refuse(name, value, "None or a function")


def _text(name: str, value: Any) -> None:
    if value is not None:
        check_str(name, value, "None or text")


def _anything(name: str, value: Any) -> None:
    """Of Ray's own kinds."""


def _opening(name: str, value: Any) -> None:
    """How Ray opens files."""
    _dict(name, value)
    for key, each in (value or {}).items():
        if key == "compression" and each not in (None, "detect"):
            raise ValueError(
                f'{name}["compression"] is {each!r}; allowed: None or "detect": files are decompressed by the ends of '
                "their names (.gz, .bz2, .zst, .lz4, .br), and written without compression around them"
            )
        if key not in ("compression", "buffer_size"):
            raise ValueError(f"{name} has {key!r}; allowed: compression and buffer_size")


def _refused(way: str) -> Callable[[str, Any], None]:
    """Refuses what would mean something that is not here."""

    def check(name: str, value: Any) -> None:
        if value not in (None, {}):
            raise ValueError(f"{name} is {value!r:.100}; allowed: None: {way}")

    return check


_CHECKS: dict[str, Callable[[str, Any], None]] = {
    **dict.fromkeys(("num_cpus", "num_gpus", "memory", "max_calls", "max_retries", "max_restarts"), _number),
    **dict.fromkeys(("ray_remote_args", "aggregator_ray_remote_args", "resources"), _dict),
    **dict.fromkeys(("scheduling_strategy", "fallback_strategy", "retry_exceptions", "compute"), _anything),
    "concurrency": _anything,
    "ray_remote_args_fn": _function,
    "accelerator_type": _text,
    **dict.fromkeys(("arrow_open_stream_args", "arrow_open_file_args"), _opening),
    "runtime_env": _refused(
        "functions have the driver's packages and environment; RunConfig(worker_runtime_env=...) sets those of ranks"
    ),
    "label_selector": _refused("ExecutionOptions(label_selector=...) names nodes for functions"),
}

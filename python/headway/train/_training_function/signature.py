"""The function that a trainer runs in each worker, and what it is called with."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from headway._values.arguments import refuse


class BuiltInLoop:
    """A training function of Headway's own, whose checkpoints are those that ``CheckpointConfig``
    asks for.
    """


_ALLOWED = "a function of no argument or of one, the configuration"


def check_loop_config(config: object) -> dict[str, Any]:
    """``train_loop_config`` as a dict; raises TypeError for what is none."""
    if config is None:
        return {}
    if not isinstance(config, Mapping):
        refuse("train_loop_config", config, "a dict or None")
    return dict(config)


def loop_arguments(function: object, config: dict[str, Any]) -> tuple[Any, ...]:
    """What the training function is called with; refuses what can't be one."""
    if not callable(function):
        refuse("train_loop_per_worker", function, _ALLOWED)
    for called in (function, inspect.getattr_static(type(function), "__call__", None)):
        if inspect.isgeneratorfunction(called) or inspect.isasyncgenfunction(called):
            refuse("train_loop_per_worker", function, f"{_ALLOWED}; a generator function (with yield) runs nothing")
        if inspect.iscoroutinefunction(called):
            refuse("train_loop_per_worker", function, f"{_ALLOWED}, such as lambda: asyncio.run(main()); no async def")
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # Built-in functions may have no signature.
        return (config,)
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD, p.VAR_POSITIONAL)]
    required = [p for p in parameters if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    if len(required) > 1 or any(p.kind is p.KEYWORD_ONLY for p in required):
        names = ", ".join(p.name for p in required)
        raise ValueError(f"train_loop_per_worker requires {names}; allowed: none, or one (the configuration)")
    return (config,) if positional else ()

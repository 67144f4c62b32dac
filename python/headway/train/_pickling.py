"""Functions on their way to workers; when one can't go, the error names the object at fault and the path to it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterator
from typing import Any

import cloudpickle


def dumps(values: tuple[Any, ...], names: tuple[str, ...], instead: str = "training function") -> bytes:
    """Pickles a tuple whose items the user knows by ``names``; lambdas and closures go by value.

    Args:
        values: What is pickled.
        names: What the user calls each of them.
        instead: Inside of which function what can't be pickled may be made.

    Raises:
        TypeError: naming the object that can't be pickled, and how it is reached.
    """
    try:
        return cloudpickle.dumps(values)
    except Exception as error:
        name, value = next((n, v) for n, v in zip(names, values, strict=True) if not _pickles(v))
        path, culprit = _find_culprit(value, name)
        kind = f"{type(culprit).__module__}.{type(culprit).__qualname__}"
        raise TypeError(
            f"{name} cannot be sent to the workers: {path} is a {kind}, "
            f"which cannot be pickled ({error}). Make it inside the {instead} instead."
        ) from error


def dumps_call(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bytes:
    """Pickles a call that a backend's hook asks of the workers."""
    return dumps((function, args, kwargs), ("the function for the workers", "its arguments", "its keyword arguments"))


def _find_culprit(value: Any, path: str) -> tuple[str, Any]:
    """The innermost object below ``value`` that fails on its own."""
    seen: set[int] = set()
    while id(value) not in seen:
        seen.add(id(value))
        for child_path, child in _children(value, path):
            if id(child) not in seen and not _pickles(child):
                path, value = child_path, child
                break
    return path, value


def _pickles(value: Any) -> bool:
    try:
        cloudpickle.dumps(value)
    except Exception:
        return False
    return True


def _children(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if inspect.ismethod(value):
        yield f"{path}.__self__", value.__self__
    elif inspect.isfunction(value):
        yield from _function_children(value, path)
    elif isinstance(value, functools.partial):
        yield from ((f"{path}.{part}", getattr(value, part)) for part in ("func", "args", "keywords"))
    elif isinstance(value, dict):
        yield from ((f"{path}[{key!r}]", item) for key, item in value.items())
    elif isinstance(value, (list, tuple, set, frozenset)):
        yield from ((f"{path}[{index}]", item) for index, item in enumerate(value))
    elif isinstance(getattr(value, "__dict__", None), dict):
        yield from ((f"{path}.{key}", item) for key, item in vars(value).items())


def _function_children(function: Any, path: str) -> Iterator[tuple[str, Any]]:
    try:
        variables = inspect.getclosurevars(function)
    except ValueError:
        return
    yield from ((f"{path} → closure variable {name!r}", item) for name, item in variables.nonlocals.items())
    yield from ((f"{path} → global variable {name!r}", item) for name, item in variables.globals.items())
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.default is not inspect.Parameter.empty:
            yield f"{path} → default of {name!r}", parameter.default

"""Functions on their way to workers; when one can't go, the error names the object at fault and the
path to it.
"""

from __future__ import annotations

import collections
import contextlib
import dis
import functools
import importlib
import inspect
import io
import sys
from collections.abc import Iterator, Mapping
from types import CodeType, ModuleType
from typing import Any

import cloudpickle

_OF_ACCELERATE = frozenset({"Accelerator", "AcceleratorState", "PartialState"})
# So many objects are gone into on the way to the one at fault.
_DEPTH_MAX = 30


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
        return _dumps(values)
    except Exception as error:
        failing = ((name, value) for name, value in zip(names, values, strict=True) if not _pickles(value))
        name, value = next(failing, (names[0], values[0]))
        path, culprit = _find_culprit(value, name)
        raise TypeError(
            f"{name} cannot be sent to the workers: {path} is a {_kind(culprit)}, "
            f"which cannot be pickled ({_reason(culprit) or error}). Make it inside the {instead} instead."
        ) from error


def dumps_call(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bytes:
    """Pickles a call that a backend's hook asks of the workers."""
    return dumps((function, args, kwargs), ("the function for the workers", "its arguments", "its keyword arguments"))


class _Pickler(cloudpickle.Pickler):
    """Refuses what would not do in a worker what it does here."""

    def reducer_override(self, value: Any) -> Any:
        kind = type(value)
        if kind.__module__.startswith("accelerate.") and kind.__name__ in _OF_ACCELERATE:
            raise TypeError("it was made before there were ranks, so each of them would train alone")
        if isinstance(value, ModuleType) and kind is not ModuleType and sys.modules.get(value.__name__) is value:
            # `torch.backends.cudnn` is one. cloudpickle knows modules by their exact type.
            return importlib.import_module, (value.__name__,)
        return super().reducer_override(value)


def _dumps(value: Any) -> bytes:
    with io.BytesIO() as file:
        _Pickler(file).dump(value)
        return file.getvalue()


def _find_culprit(value: Any, path: str) -> tuple[str, Any]:
    """The innermost object below ``value`` that fails on its own. Of what is nested without end,
    one not too far in.
    """
    seen: set[int] = set()
    while id(value) not in seen and len(seen) < _DEPTH_MAX:
        seen.add(id(value))
        for child_path, child in _children(value, path):
            if id(child) not in seen and not _pickles(child):
                path, value = child_path, child
                break
    return path, value


def _kind(value: Any) -> str:
    if inspect.isclass(value) or inspect.isfunction(value):
        return f"{'class' if inspect.isclass(value) else 'function'} {value.__qualname__}"
    return f"{type(value).__module__}.{type(value).__qualname__}"


def _pickles(value: Any) -> bool:
    return _reason(value) == ""


def _reason(value: Any) -> str:
    """Why it can't be pickled; empty when it can."""
    try:
        _dumps(value)
    except Exception as error:
        return str(error) or type(error).__name__
    return ""


def _children(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """What is pickled with ``value``, and how it is reached."""
    if inspect.ismethod(value):
        yield f"{path}.__self__", value.__self__
    elif inspect.isfunction(value):
        yield from _function_children(value, path)
    elif inspect.isclass(value):
        yield from _class_children(value, path)
    elif isinstance(value, functools.partial):
        yield from ((f"{path}.{part}", getattr(value, part)) for part in ("func", "args", "keywords"))
    elif isinstance(value, Mapping):
        yield from ((f"a key of {path}", key) for key in value)
        yield from ((f"{path}[{_shown(key)}]", item) for key, item in value.items())
    elif isinstance(value, (list, tuple, set, frozenset, collections.deque)):
        yield from ((f"{path}[{index}]", item) for index, item in enumerate(value))
    if not inspect.isclass(value) and not inspect.isfunction(value):
        yield from ((f"{path}.{name}", item) for name, item in _attributes(value))


def _shown(key: object) -> str:
    return f"{key!r:.40}" if isinstance(key, (str, int, float, bool, bytes, tuple)) else f"<{type(key).__name__}>"


def _attributes(value: Any) -> Iterator[tuple[str, Any]]:
    """Of an object, in its dictionary and in its slots."""
    own = getattr(value, "__dict__", None)
    if isinstance(own, dict):
        yield from own.items()
    for kind in type(value).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else tuple(slots):
            if name not in ("__dict__", "__weakref__") and hasattr(value, name):
                yield name, getattr(value, name)


def _class_children(kind: type, path: str) -> Iterator[tuple[str, Any]]:
    """Of a class that travels by value: a script's, or one that was made in a function."""
    for name, member in vars(kind).items():
        if isinstance(member, (staticmethod, classmethod)):
            yield f"{path}.{name}", member.__func__
        elif isinstance(member, property):
            yield from ((f"{path}.{name}", part) for part in (member.fget, member.fset) if part is not None)
        elif name not in ("__dict__", "__weakref__"):
            yield f"{path}.{name}", member
    yield from ((f"{path} → base class {base.__name__!r}", base) for base in kind.__bases__)


def _function_children(function: Any, path: str) -> Iterator[tuple[str, Any]]:
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with contextlib.suppress(ValueError):  # It has no value yet.
            yield f"{path} → closure variable {name!r}", cell.cell_contents
    for name in dict.fromkeys(_global_names(function.__code__)):
        if name in function.__globals__:
            yield f"{path} → global variable {name!r}", function.__globals__[name]
    for name, parameter in inspect.signature(function, follow_wrapped=False).parameters.items():
        if parameter.default is not inspect.Parameter.empty:
            yield f"{path} → default of {name!r}", parameter.default
    yield from ((f"{path}.{name}", item) for name, item in vars(function).items())


def _global_names(code: CodeType) -> Iterator[str]:
    """The global names that a function and those inside of it use."""
    yield from (each.argval for each in dis.get_instructions(code) if each.opname == "LOAD_GLOBAL")
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _global_names(constant)

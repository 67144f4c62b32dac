"""Public names as users meet them: under the module that they import, and with arguments whose
misspelled names are answered with the right one.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection
from typing import Any

_KEYWORDS = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def offer(module: dict[str, Any], names: Collection[str], *, place: str | None = None) -> None:
    """Makes names of a module public: functions and classes are the module's, and their functions
    and constructors answer a misspelled argument.

    Args:
        module: The module's globals.
        names: Those that users import; the ones that are no functions or classes stay as they are.
        place: The module that users import them from. Default: this one.
    """
    shown = place or module["__name__"]
    for name in names:
        thing = module[name]
        if inspect.isclass(thing):
            thing.__module__ = shown
            _watch_constructors(thing)
        elif inspect.isfunction(thing):
            module[name] = thing = _watched(thing, name)
            thing.__module__ = shown


def offer_methods(kind: type) -> None:
    """Has public methods of a class, with those of its base classes, answer a misspelled argument.

    Args:
        kind: The class.
    """
    for base in kind.__mro__:
        for name, member in list(vars(base).items()):
            if base is not object and not name.startswith("_") and inspect.isfunction(member):
                setattr(base, name, _watched_later(member, f"{kind.__name__}.{name}"))


def _watch_constructors(kind: type) -> None:
    for name, member in list(vars(kind).items()):
        # Protocols and exceptions take what they are given.
        if name == "__init__" and inspect.isfunction(member):
            kind.__init__ = _watched(member, kind.__name__)  # type: ignore[misc]
        elif isinstance(member, classmethod) and not name.startswith("_"):
            setattr(kind, name, classmethod(_watched(member.__func__, f"{kind.__name__}.{name}")))


def _watched(function: Callable[..., Any], shown_name: str) -> Callable[..., Any]:
    """The function; where it has named arguments, one that knows what a misspelled one was to
    be.
    """
    if hasattr(function, "__wrapped__"):
        return function
    parameters = list(inspect.signature(function).parameters.values())
    names = [each.name for each in parameters if each.kind in _KEYWORDS and each.name not in ("self", "cls")]
    if not names or any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters):
        return function
    known = frozenset(names)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not known.issuperset(kwargs):
            raise TypeError(unknown_argument(shown_name, next(name for name in kwargs if name not in known), names))
        return function(*args, **kwargs)

    return call


def _watched_later(function: Callable[..., Any], shown_name: str) -> Callable[..., Any]:
    """As :func:`_watched`, but looks at the arguments' names when it is called: there may be a
    hundred methods in a process that calls three.
    """
    if hasattr(function, "__wrapped__"):
        return function

    @functools.cache
    def names() -> list[str]:
        parameters = inspect.signature(function).parameters.values()
        return [each.name for each in parameters if each.kind in _KEYWORDS and each.name != "self"]

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if kwargs and not kwargs.keys() <= set(names()):
            raise TypeError(unknown_argument(shown_name, next(name for name in kwargs if name not in names()), names()))
        return function(*args, **kwargs)

    return call


def unknown_argument(function: str, given: str, names: list[str]) -> str:
    """The words for an argument that a function does not have, with the one that was meant."""
    import difflib  # Here: its import takes longer than all of these.

    close = difflib.get_close_matches(given, names, n=1)
    shown = [name for name in names if not name.startswith("_")]
    hint = f"did you mean {close[0]!r}?" if close else f"allowed: {', '.join(shown)}"
    return f"{function}() got an unexpected keyword argument {given!r}; {hint}"

"""Classes that inherit from a class of a framework, without importing the framework before an
object is made: the driver need not have it, and its import may take seconds.
"""

from __future__ import annotations

import functools
from typing import Any

# Whatever the framework's class has is there, as far as a type checker is concerned.
_Anything: Any = object


class LateBase(_Anything):
    """A base of classes whose objects belong to a class of a framework as well."""

    @classmethod
    def _late_base(cls) -> type:
        """The framework's class.

        Raises:
            ImportError: the framework is not installed.
        """
        raise NotImplementedError

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """An object of a class with both bases, this one first."""
        own: Any = cls
        late = cls._late_base()
        return object.__new__(own if issubclass(own, late) else _with(own, late))


@functools.cache
def _with(cls: type, late: type) -> type:
    names = {"__module__": cls.__module__, "__qualname__": cls.__qualname__, "__doc__": cls.__doc__}
    return type(cls.__name__, (cls, late), names)

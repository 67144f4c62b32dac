"""A user's functions on their way to the data engine's workers."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import cloudpickle

from headway._values import pickling
from headway._values.arguments import check_above_0, check_number, check_str, refuse
from headway.data import _function_digest

_FORMATS = {"default": "numpy", "numpy": "numpy", "pandas": "pandas", "pyarrow": "pyarrow", None: "pyarrow"}
_CONCURRENCY = "None, an integer above 0, or a pair of the least and the most"


class TaskPoolStrategy:
    """How many workers run a function at most.

    Args:
        size: Workers at most; None: as many as there are cores.

    Example:
        >>> from headway.data import TaskPoolStrategy
        >>> TaskPoolStrategy(size=2)
        TaskPoolStrategy(size=2)
    """

    def __init__(self, size: int | None = None):
        self.size = size if size is None else check_above_0("TaskPoolStrategy.size", size)

    def __repr__(self) -> str:
        return f"TaskPoolStrategy(size={self.size})"


class ActorPoolStrategy:
    """How many workers hold an object of a class.

    Args:
        size: Exactly so many; or ``min_size`` and ``max_size``.
        min_size: So many from the start.
        max_size: So many at most.
        initial_size: So many from the start, if more than ``min_size``.

    Example:
        >>> from headway.data import ActorPoolStrategy
        >>> ActorPoolStrategy(min_size=1, max_size=4)
        ActorPoolStrategy(min_size=1, max_size=4)
    """

    def __init__(
        self,
        size: int | None = None,
        min_size: int | None = None,
        max_size: int | None = None,
        initial_size: int | None = None,
    ):
        if size is not None and (min_size, max_size, initial_size) != (None, None, None):
            raise ValueError("ActorPoolStrategy.size is given beside min_size, max_size or initial_size; allowed: one")
        given = {"size": size, "min_size": min_size, "max_size": max_size, "initial_size": initial_size}
        for name, value in given.items():
            if value is not None:
                check_above_0(f"ActorPoolStrategy.{name}", value)
        self.min_size = size or initial_size or min_size or 1
        self.max_size = size or max_size
        if self.max_size is not None and self.max_size < self.min_size:
            raise ValueError(f"ActorPoolStrategy.max_size is {max_size}; allowed: {self.min_size} or more")

    def __repr__(self) -> str:
        return f"ActorPoolStrategy(min_size={self.min_size}, max_size={self.max_size})"


@dataclass(frozen=True)
class Workers:
    """Who runs a function, as a user has said it.

    Attributes:
        concurrency: ``concurrency=``.
        compute: ``compute=``.
        num_cpus, num_gpus, memory: What one worker uses.
    """

    concurrency: Any = None
    compute: Any = None
    num_cpus: float | None = None
    num_gpus: float | None = None
    memory: float | None = None

    def arguments(self) -> dict[str, Any]:
        """Of the plan's node."""
        for name in ("num_cpus", "num_gpus", "memory"):
            value = getattr(self, name)
            if value is not None and check_number(name, value, "None or a number") < 0:
                raise ValueError(f"{name} is {value}; allowed: None, or 0 or more")
        if self.num_gpus is not None and self.num_gpus > 1 and self.num_gpus != int(self.num_gpus):
            raise ValueError(f"num_gpus is {self.num_gpus}; allowed: None, a part of 1, or a whole number")
        made = {"workers": self._range(), "num_gpus": float(self.num_gpus or 0)}
        return made if self.num_cpus is None else {**made, "num_cpus": float(self.num_cpus)}

    def _range(self) -> list[int] | None:
        if self.compute is not None:
            if self.concurrency is not None:
                raise ValueError("concurrency is given beside compute; allowed: one of them")
            return _of_strategy(self.compute)
        given = self.concurrency
        if given is None:
            return None
        if isinstance(given, Sequence) and not isinstance(given, str):
            if len(given) not in (2, 3):
                refuse("concurrency", given, _CONCURRENCY)
            least, most = (check_above_0("concurrency", each) for each in given[:2])
            if most < least:
                raise ValueError(f"concurrency is {given}; allowed: {_CONCURRENCY}")
            return [least, most]
        return [check_above_0("concurrency", given)] * 2


def _of_strategy(compute: Any) -> list[int] | None:
    if isinstance(compute, TaskPoolStrategy):
        return [1, compute.size] if compute.size is not None else None
    if not isinstance(compute, ActorPoolStrategy):
        refuse("compute", compute, "None, a TaskPoolStrategy or an ActorPoolStrategy")
    return [compute.min_size, compute.max_size or compute.min_size]


@dataclass(frozen=True)
class Arguments:
    """What a function, and the constructor of a class, is called with beside rows or batches."""

    args: Any = None
    kwargs: Any = None
    constructor_args: Any = None
    constructor_kwargs: Any = None


def packed(function: Any, given: Arguments) -> bytes:
    """The pickle that a function worker calls.

    Raises:
        TypeError: ``function`` is no function or class, or cannot be pickled; what is at fault is
            named.
    """
    if not callable(function):
        refuse("fn", function, "a function or a class with __call__")
    is_class = inspect.isclass(function)
    if is_class and "__call__" not in dir(function):
        refuse("fn", function, "a class with __call__")
    constructor = {"fn_constructor_args": given.constructor_args, "fn_constructor_kwargs": given.constructor_kwargs}
    if not is_class:
        for name, value in constructor.items():
            if value:
                raise ValueError(f"{name} is {value!r} with a function; allowed: a class as fn")
    call = {
        "function": function,
        "is_class": is_class,
        "args": _sequence("fn_args", given.args),
        "kwargs": _mapping("fn_kwargs", given.kwargs),
        "constructor_args": _sequence("fn_constructor_args", given.constructor_args),
        "constructor_kwargs": _mapping("fn_constructor_kwargs", given.constructor_kwargs),
    }
    try:
        pickled = cloudpickle.dumps(call)
    except Exception:
        names = ("fn", *(f"fn_{name}" for name in list(call)[1:]))
        pickling.dumps(tuple(call.values()), names, "function")  # It raises, and names the culprit.
        raise
    return _function_digest.marked(pickled, call)


def name_of(function: Any) -> str:
    """What a function is called in messages and statistics."""
    while isinstance(function, functools.partial):
        function = function.func
    return getattr(function, "__name__", None) or type(function).__name__


def batch_format(given: Any) -> str:
    """The format in which a function gets its batches.

    Raises:
        ValueError: there is no such format.
    """
    if given is not None:
        check_str("batch_format", given, '"default", "numpy", "pandas", "pyarrow" or None')
    if given not in _FORMATS:
        raise ValueError(f'batch_format is {given!r}; allowed: "default", "numpy", "pandas", "pyarrow" or None')
    return _FORMATS[given]


def batch_size(given: Any) -> int | None:
    """Rows of a batch; None: a whole piece of the data."""
    if given is None or given == "default":
        return None
    return check_above_0("batch_size", given)


def _sequence(argument: str, value: Any) -> tuple[Any, ...]:
    if value is None:
        return ()
    if isinstance(value, (str, bytes)) or not isinstance(value, Sequence):
        refuse(argument, value, "None or a list of arguments")
    return tuple(value)


def _mapping(argument: str, value: Any) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        refuse(argument, value, "None or a dict of arguments by name")
    return dict(value)


class OnRows:
    """A function of columns as a function of batches; for expressions with Python functions.

    Args:
        function: It is called with columns.
        columns: The columns that it gets, by name.
        result: The column that it fills.
    """

    def __init__(self, function: Callable[..., Any], columns: Sequence[str], result: str):
        self.function = function
        self.columns = list(columns)
        self.result = result
        self.__name__ = name_of(function)

    def __call__(self, batch: Any) -> Any:
        """The batch with the function's column."""
        value = self.function(*(batch[name] for name in self.columns))
        if isinstance(batch, dict):
            return {**batch, self.result: value}
        return batch.append_column(self.result, _chunked(value))


def _chunked(value: Any) -> Any:
    import pyarrow

    return value.combine_chunks() if isinstance(value, pyarrow.ChunkedArray) else pyarrow.array(value)

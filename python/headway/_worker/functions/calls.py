"""Calls a user's function on the rows of a unit: functions, generators, coroutines, asynchronous
generators, and objects of classes with these as ``__call__``.
"""

from __future__ import annotations

import collections
import inspect
from collections.abc import Callable, Coroutine, Generator, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from headway._worker.functions import groups
from headway._worker.functions.blocks import Block
from headway._worker.functions.outputs import BadOutput, columns_of, rows_to_columns

if TYPE_CHECKING:
    import asyncio

#: Calls of a coroutine that wait at a time.
_AT_ONCE = 32
#: Rows that a function of rows makes are stored so many at a time.
_ROWS_MAX = 16384


class Progress:
    """Which rows of the unit a function is at, for errors."""

    def __init__(self) -> None:
        self.begin = 0
        self.end = 0

    def at(self, begin: int, end: int) -> None:
        """The function is called on these rows."""
        self.begin, self.end = begin, end


class FunctionCalls:
    """A user's function with what it is called with.

    Args:
        packed: What ``headway.data`` pickled: the function or class, and its arguments.
        kind: map_batches, map, flat_map, filter, map_groups or source.
        batch_size: Rows of a batch; None: all of the unit.
        batch_format: numpy, pandas or pyarrow.
        keys: The columns whose equal values make a group.
    """

    def __init__(
        self,
        packed: Mapping[str, Any],
        kind: str,
        batch_size: int | None = None,
        batch_format: str = "numpy",
        keys: Iterable[str] = (),
    ) -> None:
        function = packed["function"]
        if packed["is_class"]:
            function = function(*packed["constructor_args"], **packed["constructor_kwargs"])
        self._function: Callable[..., Any] = function
        self._args: tuple[Any, ...] = tuple(packed["args"])
        self._kwargs: dict[str, Any] = dict(packed["kwargs"])
        self._kind = kind
        self._batch_size = batch_size
        self._batch_format = batch_format
        self._keys = list(keys)
        self._is_async = _is_async(function)
        self._loop: asyncio.AbstractEventLoop | None = None
        self.progress = Progress()

    def outputs(self, block: Block) -> Iterator[Any]:
        """The function's outputs over a unit, as ``columns_of`` gives them.

        Raises:
            BadOutput: the function returned something that cannot be a batch or a row.
        """
        if self._kind in ("map_batches", "map_groups"):
            batches = self._batches(block) if self._kind == "map_batches" else self._groups(block)
            return (columns_of(output, block.shapes) for output in self._called(batches))
        if self._kind == "filter":
            return self._filtered(block)
        return _stored(self._row_outputs(block))

    def of_source(self, unit: int) -> Iterator[Any]:
        """What a source makes of a unit: a batch, or an iterable of rows or of batches."""
        made = self._function(unit, *self._args, **self._kwargs)
        if isinstance(made, Mapping) or _is_batch(made):
            return iter((columns_of(made),))
        if not isinstance(made, Iterable):
            raise BadOutput(f"a source gives a table or an iterable of rows, and this is {type(made).__name__}")
        return _stored_or_batches(made)

    def _batches(self, block: Block) -> Iterator[Any]:
        size = self._batch_size or max(1, block.rows)
        for begin in range(0, block.rows, size):
            end = min(begin + size, block.rows)
            self.progress.at(begin, end)
            yield block.batch(begin, end, self._batch_format)

    def _groups(self, block: Block) -> Iterator[Any]:
        for begin, end in groups.runs(block, self._keys):
            self.progress.at(begin, end)
            yield block.batch(begin, end, self._batch_format)

    def _row_outputs(self, block: Block) -> Iterator[Any]:
        for output in self._called(self._rows(block)):
            if self._kind == "map":
                yield output
            elif isinstance(output, (Mapping, str)) or not isinstance(output, Iterable):
                raise BadOutput(f"a function of flat_map returns a list of rows, and this is {type(output).__name__}")
            else:
                yield from output

    def _rows(self, block: Block) -> Iterator[Any]:
        for begin in range(0, block.rows, 1024):
            items = block.items(begin, min(begin + 1024, block.rows))
            for index, row in enumerate(items, begin):
                self.progress.at(index, index + 1)
                yield row

    def _filtered(self, block: Block) -> Iterator[Any]:
        mask = np.fromiter((_verdict(each) for each in self._called(self._rows(block))), np.bool_, block.rows)
        if mask.any():
            kept = block.kept(mask)
            yield kept if isinstance(kept, dict) else columns_of(kept)

    def _called(self, inputs: Iterator[Any]) -> Iterator[Any]:
        """What the function returns or yields for each input, in order."""
        spreads = self._kind in ("map_batches", "map_groups")
        if self._is_async:
            made: Iterator[Any] = _in_order(self._event_loop(), (self._awaited(each) for each in inputs))
        else:
            made = (self._function(each, *self._args, **self._kwargs) for each in inputs)
        for output in made:
            if spreads and (inspect.isgenerator(output) or type(output) is _Yielded):
                yield from output
            else:
                yield output

    async def _awaited(self, value: Any) -> Any:
        made = self._function(value, *self._args, **self._kwargs)
        if inspect.isasyncgen(made):
            return _Yielded([each async for each in made])
        return await made

    def _event_loop(self) -> asyncio.AbstractEventLoop:
        """One for the worker's life: a user's clients are bound to it."""
        import asyncio  # Takes 20 ms, and few functions are asynchronous.

        if self._loop is None:
            self._loop = asyncio.new_event_loop()
        return self._loop


class _Yielded(list[Any]):
    """All that an asynchronous generator yielded."""


def _is_async(function: Any) -> bool:
    while hasattr(function, "func") and not inspect.isfunction(function):  # functools.partial
        function = function.func
    candidates = (function, getattr(function, "__call__", None))  # noqa: B004
    return any(inspect.iscoroutinefunction(each) or inspect.isasyncgenfunction(each) for each in candidates)


def _in_order(loop: asyncio.AbstractEventLoop, coroutines: Iterator[Coroutine[Any, Any, Any]]) -> Iterator[Any]:
    """Results of coroutines that run beside each other, in the order of their starts."""
    import asyncio

    running: collections.deque[asyncio.Task[Any]] = collections.deque()
    try:
        for coroutine in coroutines:
            running.append(loop.create_task(coroutine))
            if len(running) >= _AT_ONCE:
                yield loop.run_until_complete(running.popleft())
        while running:
            yield loop.run_until_complete(running.popleft())
    finally:
        for task in running:
            task.cancel()
        if running:
            loop.run_until_complete(asyncio.gather(*running, return_exceptions=True))


def _verdict(value: Any) -> bool:
    try:
        return bool(value)
    except (TypeError, ValueError):  # An array, for one.
        raise BadOutput(f"a function of filter returns what is true or false, and this is {value!r:.50}") from None


def _is_batch(value: Any) -> bool:
    return (
        hasattr(value, "__arrow_c_stream__")
        or hasattr(value, "__arrow_c_array__")
        or (type(value).__module__.partition(".")[0] == "pandas" and hasattr(value, "columns"))
    )


def _stored(rows: Iterable[Any]) -> Generator[Any, None, None]:
    """Rows as batches."""
    waiting: list[Any] = []
    for row in rows:
        waiting.append(row)
        if len(waiting) >= _ROWS_MAX:
            yield rows_to_columns(waiting)
            waiting = []
    if waiting:
        yield rows_to_columns(waiting)


def _stored_or_batches(items: Iterable[Any]) -> Generator[Any, None, None]:
    waiting: list[Any] = []
    for item in items:
        if _is_batch(item):
            if waiting:
                yield rows_to_columns(waiting)
                waiting = []
            yield columns_of(item)
            continue
        waiting.append(item if isinstance(item, Mapping) else {"item": item})
        if len(waiting) >= _ROWS_MAX:
            yield rows_to_columns(waiting)
            waiting = []
    if waiting:
        yield rows_to_columns(waiting)

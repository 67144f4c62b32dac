"""Calls a user's function on the rows of a unit: functions, generators, coroutines, asynchronous
generators, and objects of classes with these as ``__call__``.
"""

from __future__ import annotations

import collections
import functools
import inspect
import itertools
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from headway._worker.functions import groups
from headway._worker.functions.blocks import Block
from headway._worker.functions.outputs import BadOutput, columns_of
from headway._worker.functions.stored_rows import is_batch, stored, stored_or_batches

if TYPE_CHECKING:
    import asyncio

#: Calls of a coroutine that wait at a time.
_AT_ONCE = 32
#: A function of rows gets so many of them that were made Python's values at a time, or rows of so
#: many bytes.
_ROWS_AT_ONCE = 1024
_BYTES_AT_ONCE = 4 << 20


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
        #: Called when the function has all rows of a unit: others need it no more.
        self.on_all_given: Callable[[], None] = lambda: None

    def outputs(self, block: Block) -> Iterator[Any]:
        """The function's outputs over a unit, as ``columns_of`` gives them. What the function got
        and returned is let go as the next step has it.

        Raises:
            BadOutput: the function returned something that cannot be a batch or a row.
        """
        if self._kind in ("map_batches", "map_groups"):
            shapes = block.shapes
            batches = self._batches(block) if self._kind == "map_batches" else self._groups(block)
            return map(functools.partial(columns_of, shapes=shapes), self._called(batches))
        if self._kind == "filter":
            return self._filtered(block)
        return stored(self._row_outputs(self._called(self._rows(block))))

    def of_source(self, unit: int) -> Iterator[Any]:
        """What a source makes of a unit: a batch, or an iterable of rows or of batches."""
        made = self._function(unit, *self._args, **self._kwargs)
        if isinstance(made, Mapping) or is_batch(made):
            return iter((columns_of(made),))
        if not isinstance(made, Iterable):
            raise BadOutput(f"a source gives a table or an iterable of rows, and this is {type(made).__name__}")
        return stored_or_batches(made)

    def _batches(self, block: Block) -> Iterator[Any]:
        rows, shared = block.rows, [block]
        del block
        size = self._batch_size or max(1, rows)
        for begin in range(0, rows, size):
            end = min(begin + size, rows)
            self.progress.at(begin, end)
            batch = [(shared[0] if end < rows else shared.pop()).batch(begin, end, self._batch_format)]
            if not shared:
                self.on_all_given()
            yield batch.pop()

    def _groups(self, block: Block) -> Iterator[Any]:
        for begin, end in groups.runs(block, self._keys):
            self.progress.at(begin, end)
            yield block.batch(begin, end, self._batch_format)

    def _row_outputs(self, made: Iterator[Any]) -> Iterator[Any]:
        if self._kind == "map":
            return made
        return itertools.chain.from_iterable(map(_spread, made))

    def _rows(self, block: Block) -> Iterator[Any]:
        rows, shared = block.rows, [block]
        del block
        at_once = max(1, min(_ROWS_AT_ONCE, _BYTES_AT_ONCE * rows // max(1, shared[0].nbytes)))
        for begin in range(0, rows, at_once):
            end = min(begin + at_once, rows)
            items = (shared[0] if end < rows else shared.pop()).items(begin, end)
            items.reverse()
            if not shared:
                self.on_all_given()
            for index in range(begin, end):
                self.progress.at(index, index + 1)
                yield items.pop()

    def _filtered(self, block: Block) -> Iterator[Any]:
        mask = np.fromiter((_verdict(each) for each in self._called(self._rows(block))), np.bool_, block.rows)
        if mask.any():
            kept = [block.kept(mask)]
            del block
            yield kept[0] if isinstance(kept[0], dict) else columns_of(kept.pop())

    def _called(self, inputs: Iterator[Any]) -> Iterator[Any]:
        """What the function returns or yields for each input, in order."""
        spreads = self._kind in ("map_batches", "map_groups")
        if self._is_async:
            made: Iterator[Any] = _in_order(self._event_loop(), (self._awaited(each) for each in inputs))
        else:
            # As a generator's variable an input would be held while its output is used.
            made = map(self._call if self._args or self._kwargs else self._function, inputs)
            made = itertools.chain(made, _nothing_is_left(inputs))
        if not spreads:
            return made
        return itertools.chain.from_iterable(map(_yielded, made))

    def _call(self, value: Any) -> Any:
        return self._function(value, *self._args, **self._kwargs)

    async def _awaited(self, value: Any) -> Any:
        made = self._call(value)
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


def _yielded(output: Any) -> Iterator[Any]:
    """The batches of a generator, or the one that was returned."""
    if inspect.isgenerator(output) or type(output) is _Yielded:
        return iter(output)
    return _handed_on([output])


def _handed_on(held: list[Any]) -> Iterator[Any]:
    """What a list has, which it no longer holds then."""
    while held:
        yield held.pop(0)


def _nothing_is_left(inputs: Iterator[Any]) -> Iterator[Any]:
    """Nothing, behind what was made of all inputs. A StopIteration of the function's, such as that
    of ``next()``, ends ``map`` as if there were no more.
    """
    if inspect.getgeneratorstate(inputs) != inspect.GEN_CLOSED:  # type: ignore[arg-type]
        raise RuntimeError("the function raised StopIteration, as next() does for an iterator without a value")
    yield from ()


def _spread(output: Any) -> Iterator[Any]:
    if isinstance(output, (Mapping, str)) or not isinstance(output, Iterable):
        raise BadOutput(f"a function of flat_map returns a list of rows, and this is {type(output).__name__}")
    return iter(output)


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
        raise BadOutput(f"a function of filter() returns True or False, and this is {value!r:.50}") from None

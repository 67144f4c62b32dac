"""The streams of an iterator's epochs, one after another."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headway import _core
from headway._values.arguments import check_bool, check_int, check_none_or_above_0
from headway.data import _client
from headway.data._seeds import check_seed

if TYPE_CHECKING:
    from headway.data._context import DataContext
    from headway.data._plan import Plan
    from headway.data._waits import RankWaits

_numbers = itertools.count()


@dataclass(frozen=True)
class Resumed:
    """Where an iteration begins that resumes, in the place of a batch's.

    Attributes:
        cursor: As JSON.
    """

    cursor: str


@dataclass(frozen=True)
class Share:
    """Which part of the rows an iterator gives.

    Attributes:
        group: The name that those share who divide the rows; empty for all rows.
        world_size: How many they are.
        rank: Which one this is.
        equal: Whether all get the same number of rows; at most ``world_size - 1`` are dropped.
        clients_here: How many of them are on this machine; 0: all.
        lanes: Into how many parts an epoch is cut, of which each machine reads its own.
    """

    group: str = ""
    world_size: int = 1
    rank: int = 0
    equal: bool = False
    clients_here: int = 0
    lanes: int = 1


def checked_consumption(
    prefetch_batches: Any, batch_size: Any, drop_last: Any, buffer_size: Any, shuffle_seed: Any
) -> dict[str, Any]:
    """How batches are cut, as the engine reads it.

    Raises:
        TypeError, ValueError: a bad argument.
    """
    if check_int("prefetch_batches", prefetch_batches, "0 or more") < 0:
        raise ValueError(f"prefetch_batches is {prefetch_batches}; allowed: 0 or more")
    for name, value in (("batch_size", batch_size), ("local_shuffle_buffer_size", buffer_size)):
        check_none_or_above_0(name, value)
    if buffer_size is not None and batch_size is None:
        raise ValueError("local_shuffle_buffer_size is given without batch_size; allowed: with a batch_size")
    return {
        "batch_size": batch_size,
        "drop_last": check_bool("drop_last", drop_last),
        "shuffle_window_rows": buffer_size,
        "seed": check_seed("local_shuffle_seed", shuffle_seed),
        "prefetch": prefetch_batches,
    }


class Epochs:
    """An iterable whose every iteration is one more epoch.

    Args:
        begin: Starts the iteration.
    """

    def __init__(self, begin: Callable[[], Iterator[Any]]):
        self._begin = begin

    def __iter__(self) -> Iterator[Any]:
        return self._begin()


def lanes_for(machines: int) -> int:
    """Into how many lanes a data set is cut that so many machines read."""
    return _core.data_lanes(machines)


class EpochStreams:
    """Opens a stream for each epoch. In a training, and after an epoch that was read to its end,
    the stream says that another epoch is likely, and the data engine begins that epoch early. What
    the engine has begun lives as long as the stream of the epoch before, which therefore stays open
    until the next one gives a batch.

    Args:
        plan: What is read.
        context: The settings.
    """

    def __init__(self, plan: Plan, context: DataContext):
        self._plan = plan
        self._context = context
        self._name = f"{os.getpid()}-{next(_numbers)}"
        #: Whether another epoch is likely after the next one; None before the first.
        self._more: bool | None = None
        #: The one that has come to its end.
        self._before: _client.Stream | None = None

    def open(self, asked: dict[str, Any], waits: RankWaits | None) -> _client.Stream:
        """The stream of an epoch.

        Args:
            asked: How its rows are consumed.
            waits: What hears how long each batch is waited for, in a rank of a training.
        """
        if self._more is None:
            self._more = waits is not None
        is_alone = not asked["group"] or asked["world_size"] == 1
        asked = {**asked, "iterator": self._name if is_alone else "", "more": self._more}
        return _client.Stream(self._plan, asked, self._context, waits=waits)

    def begun(self) -> None:
        """The stream that was opened last has given a batch."""
        if self._before is not None:
            self._before.close()
            self._before = None

    def leave(self, stream: _client.Stream) -> None:
        """Nothing more is wanted of a stream."""
        self.begun()
        more, self._more = self._more, stream.stats is not None
        if more and self._more:
            self._before = stream
        else:
            stream.close()

    def __reduce__(self) -> tuple[Any, ...]:
        return EpochStreams, (self._plan, self._context)

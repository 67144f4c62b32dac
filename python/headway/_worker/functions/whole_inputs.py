"""The inputs of an operation that needs all rows, as the data process hands them over."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from headway._worker.functions import slots
from headway._worker.functions.frames import Frame


class Input:
    """The memories in which an input's batches come. One is used again when nobody views it."""

    def __init__(self) -> None:
        self._memories: dict[int, slots.Memory] = {}
        self._full: set[int] = set()
        #: Of all batches that have come.
        self.bytes = 0
        self._rows = 0

    @property
    def row_bytes(self) -> int:
        """Of an average row."""
        return self.bytes // max(1, self._rows)

    def count(self, batch: Any) -> None:
        """Counts a batch that has come."""
        self.bytes += batch.nbytes
        self._rows += batch.num_rows

    def memory_of(self, frame: Frame) -> Any:
        """The bytes of a piece."""
        number = frame.fields["slot"]
        for fd in frame.fds:
            self._memories[number] = slots.Memory(fd, frame.fields["memory"])
            os.close(fd)
        self._full.add(number)
        return self._memories[number].bytes[: frame.fields["bytes"]]

    def let_go(self) -> list[int]:
        """Those that nobody views any more."""
        free = [number for number in self._full if not self._memories[number].is_viewed()]
        self._full.difference_update(free)
        return free

    def drop_pages(self) -> None:
        """Nothing more comes."""
        for memory in self._memories.values():
            memory.drop_pages()


def chained(first: list[Any], batches: Iterator[Any]) -> Iterator[Any]:
    """Batches behind those that were read before. Each is let go when the next one is wanted."""
    while first:
        yield first.pop(0)
    yield from batches

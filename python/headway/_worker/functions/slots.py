"""Batches in memory that a function worker shares with the data process: ``src/feed/slot.hpp`` has
the format of columns of numbers; everything else is one stream of Arrow IPC.
"""

from __future__ import annotations

import mmap
import os
import struct
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

_HEADER = struct.Struct("<QqIIII")
_PAIR = struct.Struct("<qq")
_MAGIC = 0x0001_544F_4C53_5748
_ALIGNMENT = 64
#: Outputs are collected until a slot has so many bytes.
SLOT_BYTES = 4 << 20
#: From so many bytes on, memory is given back as soon as nobody needs what is in it.
LARGE = 32 << 20
#: So many slots wait to be filled again; of more the smallest are given back to the system.
_IDLE_MAX = 4

#: Arrow's name of a type, and numpy's.
NUMPY_TYPES = {
    "int8": np.dtype(np.int8),
    "int16": np.dtype(np.int16),
    "int32": np.dtype(np.int32),
    "int64": np.dtype(np.int64),
    "uint8": np.dtype(np.uint8),
    "uint16": np.dtype(np.uint16),
    "uint32": np.dtype(np.uint32),
    "uint64": np.dtype(np.uint64),
    "halffloat": np.dtype(np.float16),
    "float": np.dtype(np.float32),
    "double": np.dtype(np.float64),
    "bool": np.dtype(np.bool_),
}
ARROW_TYPES = {dtype: name for name, dtype in NUMPY_TYPES.items()}


class Memory:
    """Shared memory, mapped for reading and writing."""

    def __init__(self, fd: int, size: int) -> None:
        self._map = mmap.mmap(fd, size)
        #: All views of the memory are views of it.
        self.bytes = np.frombuffer(self._map, np.uint8)

    def is_viewed(self) -> bool:
        """Whether somebody keeps a view of it."""
        return sys.getrefcount(self.bytes) > 2

    def drop_pages(self) -> None:
        """Gives back what it holds, unless that is little or somebody keeps a view. The next who
        writes to it gets new pages.
        """
        if len(self.bytes) >= LARGE and not self.is_viewed():
            self._map.madvise(mmap.MADV_REMOVE)


def read_columns(memory: Any, layout: list[dict[str, Any]]) -> dict[str, Any]:
    """The columns of a slot, as views.

    Args:
        memory: The slot's bytes.
        layout: Name, type and shape of each column.

    Returns:
        An array for each name: ``[rows]``, ``[rows, *shape]`` of tensors.
    """
    _, rows, _, nodes, buffers, _ = _HEADER.unpack_from(memory, 0)
    at = _HEADER.size + nodes * _PAIR.size
    places = [_PAIR.unpack_from(memory, at + index * _PAIR.size) for index in range(buffers)]
    columns = {}
    buffer = 0
    for column in layout:
        shape = column["shape"]
        # A tensor has two arrays, each with a validity: the rows and their elements.
        buffer += 3 if shape else 2
        offset, _ = places[buffer - 1]
        dtype = NUMPY_TYPES[column["type"]]
        count = rows * int(np.prod(shape, dtype=np.int64))
        if dtype == np.bool_:
            packed = memory[offset : offset + (count + 7) // 8]
            values: Any = np.unpackbits(packed, count=count, bitorder="little").view(np.bool_)
        else:
            values = memory[offset : offset + count * dtype.itemsize].view(dtype)
        columns[column["name"]] = values.reshape(rows, *shape) if shape else values
    return columns


def layout_of(columns: dict[str, Any]) -> list[dict[str, Any]]:
    """Name, type and shape of each array."""
    return [
        {"name": name, "type": ARROW_TYPES[values.dtype], "shape": list(values.shape[1:])}
        for name, values in columns.items()
    ]


@dataclass
class _Place:
    """Where a column's values go."""

    offset: int
    size: int


def _places(columns: dict[str, Any], tables: int) -> tuple[list[_Place], int]:
    """Where each column's values go after so many bytes of tables, and the end of the last."""
    end = aligned(tables)
    places = []
    for values in columns.values():
        size = (values.size + 7) // 8 if values.dtype == np.bool_ else values.nbytes
        places.append(_Place(end, size))
        end = aligned(end + size)
    return places, end


def aligned(size: int) -> int:
    """Where a buffer may begin that comes after so many bytes."""
    return (size + _ALIGNMENT - 1) // _ALIGNMENT * _ALIGNMENT


def _tables(columns: dict[str, Any]) -> tuple[int, int, int]:
    """How many nodes and buffers columns have, and how many bytes their tables."""
    tensors = sum(values.ndim > 1 for values in columns.values())
    nodes, buffers = len(columns) + tensors, 2 * len(columns) + tensors
    return nodes, buffers, _HEADER.size + (nodes + buffers) * _PAIR.size


def columns_size(columns: dict[str, Any]) -> int:
    """How many bytes columns take in a slot."""
    return _places(columns, _tables(columns)[2])[1]


def write_columns(memory: Any, columns: dict[str, Any], layout: int) -> None:
    """Copies columns to the start of ``memory``, which has at least ``columns_size`` bytes."""
    nodes, buffers, tables = _tables(columns)
    places, _ = _places(columns, tables)
    rows = len(next(iter(columns.values())))
    head = bytearray(_HEADER.pack(_MAGIC, rows, layout, nodes, buffers, 0))
    for values in columns.values():
        head += _PAIR.pack(rows, 0)
        if values.ndim > 1:
            head += _PAIR.pack(values.size, 0)
    for values, place in zip(columns.values(), places, strict=True):
        head += bytes(_PAIR.size * (2 if values.ndim > 1 else 1)) + _PAIR.pack(place.offset, place.size)
    memory[:tables] = np.frombuffer(head, np.uint8)
    for values, place in zip(columns.values(), places, strict=True):
        into = memory[place.offset : place.offset + place.size]
        if values.dtype == np.bool_:
            into[:] = np.packbits(values.reshape(-1), bitorder="little")
        else:
            np.copyto(into.view(values.dtype).reshape(values.shape), values)


class OutputSlot:
    """A piece of memory that outputs are written to, and that the data process reads."""

    def __init__(self, number: int, size: int) -> None:
        self.number = number
        self.size = size
        #: Sent with the first message about the slot, and closed then.
        self.fd = os.memfd_create(f"headway-output-{number}", os.MFD_CLOEXEC)
        try:
            os.ftruncate(self.fd, size)
            self.memory = Memory(self.fd, size)
        except BaseException:
            os.close(self.fd)
            raise
        self.used = 0

    def sent(self) -> None:
        """The data process has the descriptor."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


class OutputSlots:
    """All slots of a worker. The data process says which it has let go."""

    def __init__(self) -> None:
        self._slots: dict[int, OutputSlot] = {}
        self._idle: list[int] = []
        self._next = 0

    def take(self, size: int) -> OutputSlot:
        """An empty slot for at least ``size`` bytes."""
        fitting = [number for number in self._idle if self._slots[number].size >= size]
        if fitting:
            number = min(fitting, key=lambda each: self._slots[each].size)
            self._idle.remove(number)
            slot = self._slots[number]
            slot.used = 0
            return slot
        self._next += 1
        slot = OutputSlot(self._next, max(SLOT_BYTES, -(-size // mmap.PAGESIZE) * mmap.PAGESIZE))
        self._slots[slot.number] = slot
        return slot

    def forget(self, number: int) -> None:
        """A slot that the data process has never heard of is no more."""
        self._slots.pop(number).sent()

    def let_go(self, numbers: list[int]) -> list[int]:
        """The data process is done with these.

        Returns:
            Those that are no more.
        """
        self._idle.extend(numbers)
        self._idle.sort(key=lambda number: self._slots[number].size)
        surplus = self._idle[: max(0, len(self._idle) - _IDLE_MAX)]
        del self._idle[: len(surplus)]
        for number in surplus:
            del self._slots[number]
        return surplus

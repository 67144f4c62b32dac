"""Lists of numbers in shared memory, as one array of numpy's where all are equally long."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class ListView:
    """How to view a column's lists.

    Attributes:
        values: The name of their numbers' type in numpy.
        offsets: The name of the offsets' type in numpy.
    """

    values: str
    offsets: str

    def of(
        self,
        memory: Any,
        rows: int,
        nodes: list[tuple[int, int]],
        buffers: list[tuple[int, int]],
        place: tuple[int, int],
    ) -> np.ndarray | None:
        """The view: ``[rows, length]``.

        Args:
            memory: A batch's.
            rows: How many lists there are.
            nodes: (length, null count) of each array of the batch.
            buffers: (offset, size) of each buffer of the batch.
            place: The column's first node, and its first buffer.

        Returns:
            None where lengths differ, where a list or a number is null, and where there are no
            numbers.
        """
        import numpy as np

        node, buffer = place
        if not rows or nodes[node][1] or nodes[node + 1][1]:
            return None
        offsets = np.frombuffer(memory, self.offsets, rows + 1, buffers[buffer + 1][0])
        begin, length = int(offsets[0]), int(offsets[1] - offsets[0])
        if (np.diff(offsets) != length).any():
            return None
        # The validity of lists, their offsets, the validity of numbers, numbers.
        at = buffers[buffer + 3][0]
        if not at or not length:
            return None
        dtype = np.dtype(self.values)
        return np.frombuffer(memory, dtype, rows * length, at + begin * dtype.itemsize).reshape(rows, length)


def list_view(kind: Any, numbers: Mapping[str, str]) -> ListView | None:
    """How to view a column of a type of Arrow's; None for what are no lists of numbers with
    offsets.

    Args:
        kind: The type.
        numbers: By Arrow's name of a number's type numpy's.
    """
    import pyarrow as pa

    types = pa.types
    if not (types.is_list(kind) or types.is_large_list(kind)):
        return None
    values = numbers.get(str(kind.value_type))
    if values is None:
        return None
    return ListView(values, "int64" if types.is_large_list(kind) else "int32")

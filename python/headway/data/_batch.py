"""A batch as it lies in shared memory, and what users get of it."""

from __future__ import annotations

import atexit
import functools
import json
import math
from array import array
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from headway import _core
from headway._worker.functions.no_columns import check_has_columns, without_columns
from headway.data._arrow_values import frame, named_as_numpy, row_values
from headway.data._list_views import ListView, list_view

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import pyarrow as pa

#: Arrow's names of types whose values numpy can view as they lie.
_PLAIN = {
    **{f"{sign}int{bits}": f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
    "halffloat": "float16",
    "float": "float32",
    "double": "float64",
    **{f"timestamp[{unit}]": f"datetime64[{unit}]" for unit in ("s", "ms", "us", "ns")},
    **{f"duration[{unit}]": f"timedelta64[{unit}]" for unit in ("s", "ms", "us", "ns")},
}

#: The place of a column that has no view.
_NOWHERE = 2**32 - 1


class View(NamedTuple):
    """How numpy views a column of numbers or bools, or of tensors of them, as they lie.

    Attributes:
        dtype: Numpy's. Bools lie in bits.
        nodes: The array, and that of its values, which may be the same: both must have no null.
        buffer: That of the values.
        row: Values of a row.
        shape: Of a row of tensors, and of lists of one length; empty for numbers.
        of_list: Whether a row is a list.
    """

    dtype: np.dtype[Any]
    nodes: tuple[int, int]
    buffer: int
    row: int
    shape: tuple[int, ...]
    of_list: bool = False

    @classmethod
    def of(cls, column: dict[str, Any], node: int, buffer: int) -> View | None:
        """That of a column with this first node and first buffer."""
        import numpy as np

        kind, shape = column["type"], tuple(column["shape"])
        name = "bool" if kind == "bool" else _PLAIN.get(kind)
        if name is None:
            return None
        nodes, values = ((node, node + 1), buffer + 2) if shape else ((node, node), buffer + 1)
        return cls(np.dtype(name), nodes, values, math.prod(shape), shape)

    @classmethod
    def of_lists(cls, kind: Any, node: int, buffer: int) -> View | None:
        """That of a column of lists of one length, whose Arrow type is ``kind``."""
        import numpy as np

        name = _PLAIN.get(str(kind.value_type))
        if name is None or not kind.list_size:
            return None
        return cls(np.dtype(name), (node, node + 1), buffer + 2, kind.list_size, (kind.list_size,), True)


class Layout:
    """The columns of batches, and where each one's values begin.

    Attributes:
        names: The columns' names.
        columns: Name, type and shape of each column.
        places: For each column its first node, and its first buffer.
        value_places: For each column the nodes and the buffer of its view, as a batch's
            ``offsets`` wants them.

    Args:
        columns: The columns' names, types and shapes, as JSON.
        schema: As Arrow's IPC serializes it.
    """

    def __init__(self, columns: str, schema: bytes):
        _views_are_kept()
        self.columns: list[dict[str, Any]] = json.loads(columns)["columns"]
        self.names: list[str] = [column["name"] for column in self.columns]
        self._schema_bytes = schema
        self._schema: pa.Schema | None = None
        self._tensors: dict[int, str | None] = {}
        self._lists: dict[int, ListView | None] = {}
        #: For each column how numpy views its values without a null; None: not as they lie.
        self.views: list[View | None] = []
        self.places: list[tuple[int, int]] = []
        node = buffer = 0
        for index, column in enumerate(self.columns):
            self.places.append((node, buffer))
            self.views.append(View.of(column, node, buffer))
            nodes, buffers = self._size(index, column)
            if column["type"].startswith("fixed_size_list"):
                self.views[index] = View.of_lists(self.schema.field(index).type, node, buffer)
            node, buffer = node + nodes, buffer + buffers

        self.value_places = array("I", [each for view in self.views for each in _value_place(view)]).tobytes()
        #: For each column of numbers their type; None: its values are no array as they lie.
        self.flat = [view.dtype if view and not view.shape and view.dtype.kind != "b" else None for view in self.views]

    @property
    def schema(self) -> pa.Schema:
        """As Arrow's."""
        import pyarrow as pa

        if self._schema is None:
            self._schema = pa.ipc.read_schema(pa.py_buffer(self._schema_bytes))
        return self._schema

    def is_plain(self, index: int) -> bool:
        """Whether numpy can view a column's values as they lie, and no row of it is a list."""
        view = self.views[index]
        return view is not None and not view.of_list

    def variable_tensors(self, index: int) -> str | None:
        """The name in numpy of the values of a column of tensors whose shapes may differ; None for
        others.
        """
        if index not in self._tensors:
            self._tensors[index] = _variable_tensors(self.schema.field(index).type)
        return self._tensors[index]

    def lists(self, index: int) -> ListView | None:
        """How numpy views a column of lists of numbers with offsets; None for others."""
        if index not in self._lists:
            self._lists[index] = list_view(self.schema.field(index).type, _PLAIN)
        return self._lists[index]

    def _size(self, index: int, column: dict[str, Any]) -> tuple[int, int]:
        """How many nodes and buffers a column has."""
        if self.is_plain(index):
            return (2, 3) if column["shape"] else (1, 2)
        return _size_of(self.schema.field(index).type)


#: Epochs of a data set have one layout, whose schema takes milliseconds in a training.
_layout = functools.lru_cache(maxsize=64)(Layout)


class Layouts:
    """The layouts of a stream's batches."""

    def __init__(self) -> None:
        self._known: dict[int, Layout] = {}

    def of(self, core: Any) -> Layout:
        """A batch's layout."""
        number = core.layout_id
        if number not in self._known:
            self._known[number] = _layout(core.layout, core.schema)
        return self._known[number]


class Batch:
    """Rows of a stream. Arrays are views of memory that is shared with the data engine; it is used
    again when the last view is gone.

    Args:
        core: The slot.
        layouts: What is known of the stream's columns.
    """

    def __init__(self, core: Any, layouts: Layouts):
        self._core = core
        self.rows: int = core.rows
        self._layout = layouts.of(core)
        self._arrow: pa.RecordBatch | None = None
        self._made_parts: tuple[list[tuple[int, int]], list[tuple[int, int]]] | None = None

    @property
    def place(self) -> _core.DataPlace:
        """Where the stream is after this batch."""
        return self._core.place

    @property
    def names(self) -> list[str]:
        """The columns' names."""
        return self._layout.names

    def to_numpy(self) -> dict[str, np.ndarray]:
        """Arrays by column. A tensor's, and a list's whose rows are equally long, have more
        dimensions.
        """
        import numpy as np

        check_has_columns(self.names, self.rows)
        core, rows, layout, view = self._core, self.rows, self._layout, np.frombuffer
        columns = zip(layout.names, layout.flat, core.offsets(layout.value_places), strict=True)
        return {
            name: view(core, dtype, rows, offset)
            if dtype is not None and offset > 0 and rows
            else self._column(index, offset)
            for index, (name, dtype, offset) in enumerate(columns)
        }

    def _column(self, index: int, offset: int) -> np.ndarray:
        import numpy as np

        view = self._layout.views[index]
        if view is None or offset < 0:
            alike = self._alike(index)
            if alike is None:
                return named_as_numpy(self.names[index], self.to_arrow().column(index))
            return alike
        count = self.rows * view.row
        if view.dtype.kind == "b":
            return self._bits(offset, (self.rows, *view.shape))
        if not count or not offset:
            return np.empty((self.rows, *view.shape), view.dtype)
        values = np.frombuffer(self._core, view.dtype, count, offset)
        return values.reshape(self.rows, *view.shape) if view.shape else values

    @property
    def _parts(self) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        """Nodes and buffers, which are made once for all columns."""
        if self._made_parts is None:
            self._made_parts = self._core.nodes, self._core.buffers
        return self._made_parts

    def _alike(self, index: int) -> np.ndarray | None:
        """A view of lists, or of tensors whose shapes may differ, as one array; None where they
        do, or one is null, and for other columns.
        """
        import numpy as np

        lists = self._layout.lists(index)
        if lists is not None:
            return lists.of(self._core, self.rows, *self._parts, self._layout.places[index])
        dtype = self._layout.variable_tensors(index)
        if dtype is None or not self.rows:
            return None
        # A struct of a list with its values, and of a list of fixed size with the lengths.
        nodes, buffers = self._parts
        node, buffer = self._layout.places[index]
        (count, _), (lengths, _) = nodes[node + 2], nodes[node + 4]
        if any(nulls for _, nulls in nodes[node : node + 5]) or not count:
            return None
        shapes = np.frombuffer(self._core, np.int32, lengths, buffers[buffer + 7][0]).reshape(self.rows, -1)
        if (shapes != shapes[0]).any():
            return None
        return np.frombuffer(self._core, dtype, count, buffers[buffer + 4][0]).reshape(self.rows, *shapes[0])

    def _bits(self, offset: int, shape: tuple[int, ...]) -> np.ndarray:
        import numpy as np

        count = int(np.prod(shape))
        if count == 0:
            return np.empty(shape, np.bool_)
        packed = np.frombuffer(self._core, np.uint8, (count + 7) // 8, offset)
        return np.unpackbits(packed, count=count, bitorder="little").view(np.bool_).reshape(shape)

    def to_arrow(self) -> pa.RecordBatch:
        """As Arrow's; its buffers are the slot's."""
        if self._arrow is None:
            self._arrow = _record_batch(self._core, self._layout.schema)
        return self._arrow

    def to_table(self) -> pa.Table:
        """As a table of Arrow's."""
        import pyarrow as pa

        return pa.Table.from_batches([self.to_arrow()])

    def to_pandas(self) -> pd.DataFrame:
        """As a data frame."""
        return frame(self.to_table())

    def as_format(self, batch_format: str | None) -> Any:
        """In the format of this name."""
        if batch_format == "numpy":
            return self.to_numpy()
        return self.to_pandas() if batch_format == "pandas" else self.to_table()

    def to_rows(self) -> Iterator[dict[str, Any]]:
        """Each row as a dict of Python's values; tensors are arrays."""
        if not self.names:
            yield from ({} for _ in range(self.rows))
            return
        plain = all(self._layout.is_plain(index) for index in range(len(self.names)))
        if plain and not any(nulls for _, nulls in self._core.nodes):
            columns = [self._row_values(index, array) for index, array in enumerate(self.to_numpy().values())]
        else:
            columns = [row_values(column) for column in self.to_arrow().columns]
        names = self.names
        for values in zip(*columns, strict=True):
            yield dict(zip(names, values, strict=True))

    def _row_values(self, index: int, array: np.ndarray) -> list[Any]:
        """Of a column without nulls. Of nanoseconds numpy would make integers."""
        if array.dtype.kind in "mM" and array.dtype.str.endswith("[ns]"):
            return row_values(self.to_arrow().column(index))
        return list(array) if array.ndim > 1 else array.tolist()


def _value_place(view: View | None) -> tuple[int, int, int]:
    return (_NOWHERE, _NOWHERE, _NOWHERE) if view is None else (*view.nodes, view.buffer)


def _size_of(kind: Any) -> tuple[int, int]:
    """How many nodes and buffers an array of a type has, with its children."""
    import pyarrow as pa

    if isinstance(kind, pa.BaseExtensionType):
        return _size_of(kind.storage_type)
    if pa.types.is_null(kind):
        return 1, 1  # Its buffer has no bytes.
    children = [_size_of(kind.field(index).type) for index in range(kind.num_fields)]
    return 1 + sum(nodes for nodes, _ in children), _own_buffers(kind) + sum(buffers for _, buffers in children)


def _variable_tensors(kind: Any) -> str | None:
    import pyarrow as pa

    from headway._worker.functions.blocks import VARIABLE_TENSOR

    if not isinstance(kind, pa.BaseExtensionType) or kind.extension_name != VARIABLE_TENSOR.decode():
        return None
    return _PLAIN.get(str(kind.storage_type.field("data").type.value_type))


@functools.cache
def _views_are_kept() -> None:
    """Views that a script still has when the interpreter ends are never given back."""
    atexit.register(_core.say_nothing_of_leaks)


def _record_batch(core: Any, schema: pa.Schema) -> pa.RecordBatch:
    import pyarrow as pa

    if not schema.names:
        return without_columns(core.rows)
    whole = pa.py_buffer(memoryview(core))
    nodes = iter(core.nodes)
    buffers = (whole.slice(offset, size) if offset else None for offset, size in core.buffers)
    return pa.RecordBatch.from_arrays([_array(field.type, nodes, buffers) for field in schema], schema=schema)


def _array(kind: Any, nodes: Iterator[tuple[int, int]], buffers: Iterator[Any]) -> Any:
    """The next array, depth first."""
    import pyarrow as pa

    if isinstance(kind, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(kind, _array(kind.storage_type, nodes, buffers))
    length, nulls = next(nodes)
    if pa.types.is_null(kind):
        next(buffers)
        return pa.nulls(length)
    own = [next(buffers) for _ in range(_own_buffers(kind))]
    children = [_array(kind.field(index).type, nodes, buffers) for index in range(kind.num_fields)]
    if pa.types.is_dictionary(kind):
        raise TypeError(f"a column of type {kind} came undecoded")
    return pa.Array.from_buffers(kind, length, own, null_count=nulls, offset=0, children=children)


def _own_buffers(kind: Any) -> int:
    import pyarrow as pa

    types = pa.types
    if types.is_struct(kind) or types.is_fixed_size_list(kind):
        return 1
    variable = (types.is_string, types.is_binary, types.is_large_string, types.is_large_binary)
    return 3 if any(test(kind) for test in variable) else 2

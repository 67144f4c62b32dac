"""Rows that a function gets, in the format that it wants them in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np

from headway._worker.functions.arrow_columns import LARGE_VALUE, tensor_column
from headway._worker.functions.exact_integers import check_exact
from headway._worker.functions.no_columns import check_has_columns

#: The name of the extension type for tensors whose shapes differ from row to row.
VARIABLE_TENSOR = b"arrow.variable_shape_tensor"


class Block(Protocol):
    """The rows of one unit."""

    rows: int
    nbytes: int
    #: Of columns of arrays whose shapes may differ: the shapes of their rows, in batches where all
    #: are alike. It grows with each batch.
    shapes: set[tuple[int, ...]]

    def batch(self, begin: int, end: int, batch_format: str) -> Any:
        """These rows as "numpy" (a dictionary of arrays), "pandas" or "pyarrow"."""

    def items(self, begin: int, end: int) -> list[dict[str, Any]]:
        """These rows, each a dictionary of Python's values; tensors are arrays."""

    def kept(self, mask: Any) -> Any:
        """The rows for which ``mask`` is true: columns, or a record batch."""


class ColumnsBlock:
    """Columns of numbers without nulls: views of shared memory."""

    def __init__(self, columns: dict[str, Any], rows: int) -> None:
        self.columns = columns
        self.rows = rows
        self.nbytes = sum(values.nbytes for values in columns.values())
        self.shapes: set[tuple[int, ...]] = set()

    def batch(self, begin: int, end: int, batch_format: str) -> Any:
        """Slices."""
        pieces = {name: values[begin:end] for name, values in self.columns.items()}
        if batch_format == "numpy":
            return pieces
        return block_of(_table(pieces)).batch(0, end - begin, batch_format)

    def items(self, begin: int, end: int) -> list[dict[str, Any]]:
        """Numbers become Python's."""
        parts = [
            values[begin:end].tolist() if values.ndim == 1 else list(values[begin:end])
            for values in self.columns.values()
        ]
        names = list(self.columns)
        return [dict(zip(names, row, strict=True)) for row in zip(*parts, strict=True)]

    def kept(self, mask: Any) -> Any:
        """Copies of the columns, or the columns where all rows are kept."""
        return self.columns if mask.all() else {name: values[mask] for name, values in self.columns.items()}


class ArrowBlock:
    """Columns of any type: a record batch over shared memory, or what a function returned."""

    def __init__(self, batch: Any, may_write: bool = False) -> None:
        self.record_batch = batch
        self.rows: int = batch.num_rows
        self.nbytes: int = batch.nbytes
        #: Whether the batch's memory is the function's: what it changes there nobody else sees.
        self._may_write = may_write
        self.shapes: set[tuple[int, ...]] = set()
        self._numpy: dict[str, Any] | None = None

    def batch(self, begin: int, end: int, batch_format: str) -> Any:
        """A table; or a data frame; or arrays, which are made once for the block."""
        if batch_format == "numpy":
            check_has_columns(self.record_batch.schema.names, end - begin)
            if self._numpy is None:
                self._numpy = dict(self._arrays())
            pieces = {name: values[begin:end] for name, values in self._numpy.items()}
            return self._stacked(pieces)
        import pyarrow as pa

        piece = self.record_batch.slice(begin, end - begin)
        if batch_format == "pyarrow":
            return pa.Table.from_batches([piece])
        return to_pandas(piece, self._may_write)

    def _arrays(self) -> Iterator[tuple[str, Any]]:
        for name, column in zip(self.record_batch.schema.names, self.record_batch.columns, strict=True):
            check_exact(name, column, "numpy")
            yield name, to_numpy(column, self._may_write)

    def _stacked(self, columns: dict[str, Any]) -> dict[str, Any]:
        """With one array for each column of tensors that are alike in these rows, whose shapes may
        differ in others.
        """
        for name, kind in zip(self.record_batch.schema.names, self.record_batch.schema.types, strict=True):
            if _is_variable_tensor(kind):
                columns[name] = _stacked(columns[name])
                if columns[name].dtype != object:
                    self.shapes.add(columns[name].shape[1:])
        return columns

    def items(self, begin: int, end: int) -> list[dict[str, Any]]:
        """Values of nested types become lists and dictionaries."""
        piece = self.record_batch.slice(begin, end - begin)
        parts = [to_list(column, self._may_write) for column in piece.columns]
        names = piece.schema.names
        if not names:
            return [{} for _ in range(piece.num_rows)]
        return [dict(zip(names, row, strict=True)) for row in zip(*parts, strict=True)]

    def kept(self, mask: Any) -> Any:
        """A copy, or the batch where all rows are kept."""
        if mask.all():
            return self.record_batch
        import pyarrow as pa

        return self.record_batch.filter(pa.array(mask))


def block_of(output: Any) -> Block:
    """The rows of an output of a function: columns of numbers, or an Arrow table."""
    if isinstance(output, dict):
        return ColumnsBlock(output, len(next(iter(output.values()))))
    batches = output.combine_chunks().to_batches()
    if len(batches) == 1:
        return ArrowBlock(batches[0])
    import pyarrow as pa

    # No rows; or text beyond what one array holds.
    return ArrowBlock(pa.concat_batches(batches) if batches else pa.RecordBatch.from_pylist([], output.schema))


def _table(columns: dict[str, Any]) -> Any:
    import pyarrow as pa

    arrays = [pa.array(values) if values.ndim == 1 else tensor_column(values) for values in columns.values()]
    return pa.Table.from_arrays(arrays, names=list(columns))


def to_numpy(column: Any, may_write: bool = False) -> Any:
    """An Arrow array as numpy, which may be written into.

    Tensors become ``[rows, *shape]``; what has no type in numpy becomes an array of objects, with
    None where it is null. Integers with nulls become floats with NaN.

    Args:
        column: The Arrow array.
        may_write: Whether its memory may be written into: the array is a view where that is
            possible. False: it is a copy.
    """
    import pyarrow as pa

    if _is_fixed_tensor(column.type):
        if column.null_count == 0:
            return _writable(column.to_numpy_ndarray(), may_write)
        return _objects(to_list(column, may_write))
    if _is_variable_tensor(column.type):
        return _variable_to_numpy(column, may_write)
    if pa.types.is_fixed_size_list(column.type) and column.null_count == 0:
        values = column.flatten()
        if _is_number(values.type) and values.null_count == 0:
            return to_numpy(values, may_write).reshape(len(column), column.type.list_size)
    if isinstance(column, pa.ExtensionArray):
        return to_numpy(column.storage, may_write)
    if pa.types.is_struct(column.type) or pa.types.is_map(column.type):
        return _objects(column.to_pylist())  # Arrow's own way makes floats of integers beside None.
    if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        return _lists_to_numpy(column, may_write)
    if pa.types.is_fixed_size_list(column.type) and pa.types.is_nested(column.type.value_type):
        return _rows_to_numpy(column, may_write)
    if _has_large_values(column):
        return _objects(column.to_pylist())  # Arrow's own way imports pandas, which takes memory.
    return _writable(column.to_numpy(zero_copy_only=False), may_write)


def _has_large_values(column: Any) -> bool:
    import pyarrow as pa

    is_bytes = pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type)
    return is_bytes and column.nbytes >= LARGE_VALUE * max(1, len(column))


class _View:
    """The memory of an array that Arrow calls read-only, for an array that is not."""

    def __init__(self, values: Any) -> None:
        self._values = values
        interface = values.__array_interface__
        self.__array_interface__ = {**interface, "data": (interface["data"][0], False)}


def _writable(values: Any, may_write: bool) -> Any:
    if values.flags.writeable:
        return values
    return np.asarray(_View(values)) if may_write and values.size else values.copy()


def _lists_to_numpy(column: Any, may_write: bool) -> Any:
    import pyarrow as pa

    if column.values.null_count and pa.types.is_nested(column.type.value_type):
        return _rows_to_numpy(column, may_write)
    if column.values.null_count:  # Each row is of floats only where it has nulls itself.
        rows = column.to_numpy(zero_copy_only=False)
        return _objects([row if row is None else _writable(row, may_write=False) for row in rows])
    values = to_numpy(column.values, may_write)
    offsets = column.offsets.to_pylist()
    pieces = zip(offsets[:-1], offsets[1:], column.is_valid().to_pylist(), strict=True)
    return _objects([values[begin:end] if is_valid else None for begin, end, is_valid in pieces])


def _rows_to_numpy(column: Any, may_write: bool) -> Any:
    return _objects([to_numpy(row.values, may_write) if row.is_valid else None for row in column])


def _variable_to_numpy(column: Any, may_write: bool) -> Any:
    """Tensors of one shape as one array, and others as an array of objects."""
    if len(column) and not column.null_count:
        values, offsets, shapes, valid = _tensor_parts(column, may_write)
        if all(valid) and (shapes == shapes[0]).all():
            return values[offsets[0] : offsets[-1]].reshape(len(column), *shapes[0])
    return _objects(to_list(column, may_write))


def to_list(column: Any, may_write: bool = False) -> list[Any]:
    """An Arrow array as Python's values; tensors are arrays, as those of :func:`to_numpy`."""
    if _is_fixed_tensor(column.type):
        shape = tuple(column.type.shape)
        if column.null_count == 0:
            return list(to_numpy(column, may_write))
        flat = column.storage
        return [None if not each.is_valid else to_numpy(each.values, may_write).reshape(shape) for each in flat]
    if _is_variable_tensor(column.type):
        values, offsets, shapes, valid = _tensor_parts(column, may_write)
        ends = zip(offsets[:-1].tolist(), offsets[1:].tolist(), shapes.tolist(), valid, strict=True)
        return [values[begin:end].reshape(shape) if is_valid else None for begin, end, shape, is_valid in ends]
    return column.to_pylist()


def _tensor_parts(column: Any, may_write: bool) -> tuple[Any, Any, Any, list[bool]]:
    """Of tensors whose shapes may differ: the values of all, where each row's begin and the last
    one's end, the shapes, and which rows are no null.
    """
    import pyarrow as pa

    storage = column.storage if isinstance(column, pa.ExtensionArray) else column
    data, shape = storage.field("data"), storage.field("shape")
    dimensions = shape.type.list_size
    lengths = shape.values.slice(shape.offset * dimensions, len(shape) * dimensions)
    shapes = lengths.fill_null(0).to_numpy(zero_copy_only=False).reshape(len(shape), dimensions)
    offsets = data.offsets.to_numpy(zero_copy_only=False)
    return to_numpy(data.values, may_write), offsets, shapes, storage.is_valid().to_pylist()


def to_pandas(batch: Any, may_write: bool = False) -> Any:
    """A record batch as a data frame; a row's tensor is an object."""
    import pyarrow as pa

    tensors = {
        name: to_list(column, may_write)
        for name, column in zip(batch.schema.names, batch.columns, strict=True)
        if isinstance(column.type, pa.BaseExtensionType)
    }
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        check_exact(name, column, "pandas")
    others = batch.select([name for name in batch.schema.names if name not in tensors])
    # Of a record batch without columns Arrow loses the rows.
    frame = pa.Table.from_batches([others]).to_pandas()
    for position, name in enumerate(batch.schema.names):
        if name in tensors:
            frame.insert(position, name, _objects(tensors[name]))
    return frame


def _objects(values: list[Any]) -> Any:
    """An array of objects, also where all are arrays of one shape."""
    array: Any = np.empty(len(values), dtype=object)
    for index, value in enumerate(values):
        array[index] = value
    return array


def _stacked(rows: Any) -> Any:
    """Arrays of one shape as one array; others, and such with None, as they are."""
    if rows.dtype != object or not len(rows) or rows[0] is None:
        return rows
    shape = rows[0].shape
    return np.stack(list(rows)) if all(each is not None and each.shape == shape for each in rows) else rows


def _is_number(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind))


def _is_fixed_tensor(kind: Any) -> bool:
    import pyarrow as pa

    return isinstance(kind, pa.FixedShapeTensorType)


def _is_variable_tensor(kind: Any) -> bool:
    import pyarrow as pa

    if isinstance(kind, pa.BaseExtensionType):
        return bool(kind.extension_name.encode() == VARIABLE_TENSOR)
    return False

"""Columns that DuckDB has no type for, or a slow one, on their way through it as bytes."""

from __future__ import annotations

from typing import Any


class Carried:
    """How a column goes through DuckDB.

    Args:
        name: Its name, for errors.
        kind: Its Arrow type.
        used: Whether the operation looks at its values.
        computed: Whether it does more with them than to compare them with each other.
    """

    def __init__(self, name: str, kind: Any, used: bool, computed: bool) -> None:
        import pyarrow as pa

        self.name = name
        self.kind = kind
        self.storage = _storage(kind)
        self._bytes = 0
        is_tensor = isinstance(kind, pa.FixedShapeTensorType)
        if not used and is_tensor:
            inner = self.storage.value_type
            if pa.types.is_primitive(inner) and not pa.types.is_boolean(inner):
                self._bytes = self.storage.list_size * inner.bit_width // 8
        elif not used and pa.types.is_float16(self.storage):
            self._bytes = 2
        elif not used and pa.types.is_decimal256(self.storage):
            self._bytes = 32
        elif not used and pa.types.is_interval(self.storage):
            self._bytes = 16
        #: What DuckDB gets of lists and structs, where it is another type.
        self._plain = self.storage
        if self.storage.num_fields and not computed and not self._bytes:
            self._plain = _plain(self.storage, used)
        # DuckDB has no durations, and keeps fewer digits of some times.
        self._number = None
        if not computed and pa.types.is_temporal(self.storage) and not pa.types.is_interval(self.storage):
            self._number = pa.int32() if self.storage.bit_width == 32 else pa.int64()

    def encoded(self, column: Any) -> Any:
        """An array that DuckDB takes."""
        import pyarrow as pa

        column = stored(column)
        if pa.types.is_dictionary(column.type):
            return column.dictionary_decode()
        if self._number is not None:
            return column.view(self._number)
        if self._plain != self.storage:
            return column.cast(self._plain)
        if not self._bytes and pa.types.is_decimal256(column.type):
            return self._of_38_digits(column)
        if not self._bytes and pa.types.is_interval(column.type):
            return self._of_microseconds(column)
        if not self._bytes:
            return column.cast(pa.float32()) if pa.types.is_float16(column.type) else column
        is_list = pa.types.is_fixed_size_list(column.type)
        values = _all_values(column) if is_list else column
        if is_list and column.flatten().null_count:
            raise ValueError("a tensor has null elements; allowed: tensors that are null as a whole")
        width = values.type.bit_width // 8
        begin, size = values.offset * width, len(values) * width
        data = values.buffers()[1].slice(begin, size)
        # The validity may begin within a byte: a copy of it does not.
        valid = column.is_valid().buffers()[1] if column.null_count else None
        return pa.Array.from_buffers(pa.binary(self._bytes), len(column), [valid, data])

    def _of_38_digits(self, column: Any) -> Any:
        """Decimals as those that DuckDB has."""
        import pyarrow as pa

        kind = pa.decimal128(38, self.storage.scale)
        try:
            return column.cast(kind)
        except pa.ArrowInvalid:
            raise ValueError(
                f"column {self.name!r} is {self.storage} and has values that are no {kind}; allowed where rows are "
                "sorted, grouped, joined or added up: numbers of 38 digits; cast it to a double or to text"
            ) from None

    def _of_microseconds(self, column: Any) -> Any:
        """Intervals, which DuckDB counts in microseconds."""
        import numpy as np

        parts = np.dtype([("months", np.int32), ("days", np.int32), ("nanoseconds", np.int64)])
        values = np.frombuffer(column.buffers()[1] or b"", parts)[column.offset :][: len(column)]
        valid = column.is_valid().to_numpy(zero_copy_only=False)
        if (valid & (values["nanoseconds"] % 1000 != 0)).any():
            raise ValueError(
                f"column {self.name!r} is {self.storage} and has parts of microseconds; allowed where rows are sorted, "
                "grouped, joined or counted by it: whole microseconds"
            )
        return column

    def restored(self, column: Any) -> Any:
        """What came out, as the column was."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if self._number is not None:
            made = column.cast(self._number).view(self.storage)
        elif self._bytes and pa.types.is_binary(column.type):
            if column.null_count:
                filled = pc.fill_null(column, b"\0" * self._bytes)
                valid = column.is_valid().buffers()[1]
            else:
                filled, valid = column, None
            data = filled.cast(pa.binary(self._bytes)).buffers()
            length = len(column)
            if not pa.types.is_fixed_size_list(self.storage):
                made = pa.Array.from_buffers(self.storage, length, [valid, data[1]])
            else:
                inner = self.storage
                elements = pa.Array.from_buffers(inner.value_type, length * inner.list_size, [None, data[1]])
                made = pa.Array.from_buffers(inner, length, [valid], children=[elements])
        else:
            made = column.cast(self.storage)
        return wrapped(made, self.kind)


def storage_type(kind: Any) -> Any:
    """The type without what an extension adds."""
    import pyarrow as pa

    return kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind


def stored(column: Any) -> Any:
    """An array without what an extension adds."""
    import pyarrow as pa

    return column.storage if isinstance(column, pa.ExtensionArray) else column


def wrapped(column: Any, kind: Any) -> Any:
    """An array with what the extension type adds, if the type is one."""
    import pyarrow as pa

    return kind.wrap_array(column) if isinstance(kind, pa.BaseExtensionType) else column


def empty(kind: Any) -> Any:
    """No rows of a type."""
    import pyarrow as pa

    return wrapped(pa.array([], storage_type(kind)), kind)


def width(kind: Any) -> int:
    """Bytes of a value of a type, about: as many as there are where each has as many."""
    import pyarrow as pa

    if isinstance(kind, pa.BaseExtensionType):
        return width(kind.storage_type)
    if pa.types.is_fixed_size_list(kind):
        return int(kind.list_size * width(kind.value_type))
    return max(1, kind.bit_width // 8) if pa.types.is_primitive(kind) else 64


def _storage(kind: Any) -> Any:
    """The type of the values themselves."""
    import pyarrow as pa

    return kind.value_type if pa.types.is_dictionary(kind) else storage_type(kind)


def _plain(kind: Any, used: bool) -> Any:
    """A type for DuckDB that has the values of this one, which lie in lists and structs: it has no
    16-bit floats there. Durations would come back as intervals; as numbers those of two units would
    be compared. A vector of DuckDB's arrays has room for 2048, however few rows there are: of large
    arrays that is more than its memory. Its lists have none.
    """
    import pyarrow as pa

    def within(field: Any) -> Any:
        return field.with_type(_plain(field.type, used))

    if pa.types.is_float16(kind):
        return pa.float32()
    if pa.types.is_duration(kind) and not used:
        return pa.int64()
    if pa.types.is_struct(kind):
        return pa.struct([within(field) for field in kind])
    if pa.types.is_map(kind):
        return pa.map_(within(kind.key_field), within(kind.item_field))
    if pa.types.is_list(kind) or pa.types.is_fixed_size_list(kind):
        return pa.list_(within(kind.value_field))
    return pa.large_list(within(kind.value_field)) if pa.types.is_large_list(kind) else kind


def _all_values(column: Any) -> Any:
    """The elements of all rows of a list of fixed size, those of null rows too."""
    size = column.type.list_size
    return column.values.slice(column.offset * size, len(column) * size)

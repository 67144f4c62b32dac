"""The types of a data set's columns where its pieces differ."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from headway import _core

if TYPE_CHECKING:
    import pyarrow as pa


def known(kind: pa.Schema, other: pa.Schema) -> pa.Schema:
    """``kind`` with the other one's types of columns of which it knows none, as they held nothing
    but None, or lists without elements; with arrays whose shapes may differ where those of the
    other one do; with the fields of both structs; and with numbers of a type that has both, as the
    engine chooses it.
    """
    import pyarrow as pa

    # Names may be there twice: only positions are sure then.
    if len(set(kind.names)) < len(kind.names) or not set(kind.names) <= set(other.names):
        return kind
    return pa.schema(
        [each.with_type(_known(each.type, other.field(each.name).type)) for each in kind], metadata=kind.metadata
    )


def stored(table: pa.Table) -> pa.Table:
    """A table whose columns hold their values as the engine has them: no dictionaries, such as
    categories of pandas, no runs, and no views.

    Raises:
        TypeError: views of lists lie within other values.
    """
    for index, field in enumerate(table.schema):
        column = _stored(field.name, table.column(index))
        if column is not table.column(index):
            table = table.set_column(index, field.name, column)
    return table


def _stored(name: str, column: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    kind, types = column.type, pa.types
    if types.is_dictionary(kind):
        return column.cast(kind.value_type)
    if types.is_run_end_encoded(kind):
        return pc.run_end_decode(column)
    if types.is_string_view(kind) or types.is_binary_view(kind):
        return column.cast(pa.large_string() if types.is_string_view(kind) else pa.large_binary())
    if types.is_list_view(kind) or types.is_large_list_view(kind):
        column = pa.chunked_array([_lists(chunk) for chunk in column.chunks], pa.large_list(kind.value_field))
        kind = kind.value_type
    if "list_view" in str(kind):
        raise TypeError(f"column {name!r} is of type {kind}; allowed: no views of lists; cast it to lists")
    return column


def _lists(views: Any) -> Any:
    """Views of lists as lists. Arrow's own cast of them makes arrays that are too short."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    sizes = pc.fill_null(pc.list_value_length(views), 0).to_numpy(zero_copy_only=False)
    offsets = pa.array(np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]), pa.int64())
    mask = views.is_null() if views.null_count else None
    return pa.LargeListArray.from_arrays(offsets, views.flatten(), pa.large_list(views.type.value_field), mask=mask)


def cast(table: pa.Table, kind: pa.Schema) -> pa.Table:
    """The table with these types."""
    import pyarrow as pa

    if table.schema.equals(kind):
        return table
    columns = [_cast(column, field) for column, field in zip(table.columns, kind, strict=True)]
    return pa.Table.from_arrays(columns, schema=kind)


def joined(parts: Sequence[pa.RecordBatch]) -> pa.Table:
    """One or more parts of a data set as a table: its types have the values of all parts."""
    import pyarrow as pa

    if all(part.schema.equals(parts[0].schema) for part in parts):
        return pa.Table.from_batches(parts)
    kind = functools.reduce(known, (part.schema for part in parts))
    return pa.concat_tables(cast(pa.Table.from_batches([part]), kind) for part in parts)


def _cast(column: Any, field: Any) -> Any:
    import pyarrow as pa

    # Of tensors whose shapes differ there is no cast, not even to their own type.
    if column.type.equals(field.type):
        return column
    if _dimensions(column.type) and _dimensions(field.type) and not _is_fixed(field.type):
        return _rows_as_tensors(column, field.type)
    try:
        if _is_fixed(column.type) and _is_fixed(field.type) and column.type.shape == field.type.shape:
            chunks = [field.type.wrap_array(each.storage.cast(field.type.storage_type)) for each in column.chunks]
            return pa.chunked_array(chunks, field.type)
        return column.cast(field.type)
    except pa.ArrowException as error:
        raise TypeError(
            f"column {field.name!r} is of type {column.type} in a table, and of type {field.type} in the first one: "
            f"{error}"
        ) from None


def _known(kind: Any, other: Any) -> Any:
    import pyarrow as pa

    types = pa.types
    if types.is_null(kind):
        return other
    if _dimensions(kind) and _dimensions(kind) == _dimensions(other) and _is_fixed(kind) and not kind.equals(other):
        if _is_fixed(other) and kind.shape == other.shape:
            return pa.fixed_shape_tensor(_known(kind.value_type, other.value_type), kind.shape)
        return _variable(kind, other)
    if types.is_list(kind) and types.is_list(other):
        return pa.list_(_known(kind.value_type, other.value_type))
    if types.is_struct(kind) and types.is_struct(other):
        theirs = {each.name: each for each in other.fields}
        fields = [
            each.with_type(_known(each.type, theirs.pop(each.name).type)) if each.name in theirs else each
            for each in kind.fields
        ]
        return pa.struct([*fields, *theirs.values()])
    return _number(kind, other) or kind


def _number(kind: Any, other: Any) -> Any:
    """The type of numbers that has both; None: none has, or they are no numbers."""
    import pyarrow as pa

    name = _core.data_wider_number(str(kind), str(other))
    return None if name is None else pa.type_for_alias(name)


def _is_fixed(kind: Any) -> bool:
    import pyarrow as pa

    return isinstance(kind, pa.FixedShapeTensorType)


def _dimensions(kind: Any) -> int:
    """How many each row of tensors has; 0 for what are none."""
    import pyarrow as pa

    if _is_fixed(kind):
        return len(kind.shape)
    if isinstance(kind, pa.BaseExtensionType) and kind.extension_name == "arrow.variable_shape_tensor":
        return int(kind.storage_type.field("shape").type.list_size)
    return 0


def _variable(kind: Any, other: Any) -> Any:
    """The type of tensors whose shapes may differ, for those of one shape and others."""
    import numpy as np

    from headway._worker.functions.arrow_columns import tensors_of_rows

    if not _is_fixed(other):
        return other
    dtype = np.result_type(kind.value_type.to_pandas_dtype(), other.value_type.to_pandas_dtype())
    return tensors_of_rows([np.empty((0,) * len(kind.shape), dtype)], dtype, len(kind.shape)).type


def _rows_as_tensors(column: Any, kind: Any) -> Any:
    """Tensors as those of another type, whose shapes may differ."""
    import pyarrow as pa

    from headway._worker.functions.arrow_columns import tensors_of_rows
    from headway._worker.functions.blocks import to_list

    dtype = kind.storage_type.field("data").type.value_type.to_pandas_dtype()
    chunks = [tensors_of_rows(to_list(each), dtype, _dimensions(kind)) for each in column.chunks if len(each)]
    return pa.chunked_array(chunks, kind)

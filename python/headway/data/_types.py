"""The types of a data set's columns where its pieces differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa


def known(kind: pa.Schema, other: pa.Schema) -> pa.Schema:
    """``kind`` with the other one's types of columns of which it knows none, as they held nothing
    but None, or lists without elements.
    """
    import pyarrow as pa

    # Names may be there twice: only positions are sure then.
    if len(set(kind.names)) < len(kind.names) or not set(kind.names) <= set(other.names):
        return kind
    return pa.schema(
        [each.with_type(_known(each.type, other.field(each.name).type)) for each in kind], metadata=kind.metadata
    )


def cast(table: pa.Table, kind: pa.Schema) -> pa.Table:
    """The table with these types."""
    import pyarrow as pa

    if table.schema.equals(kind):
        return table
    # Of tensors whose shapes differ there is no cast, not even to their own type.
    columns = [
        column if column.type.equals(field.type) else column.cast(field.type)
        for column, field in zip(table.columns, kind, strict=True)
    ]
    return pa.Table.from_arrays(columns, schema=kind)


def _known(kind: Any, other: Any) -> Any:
    import pyarrow as pa

    types = pa.types
    if types.is_null(kind):
        return other
    if types.is_list(kind) and types.is_list(other):
        return pa.list_(_known(kind.value_type, other.value_type))
    if types.is_struct(kind) and types.is_struct(other):
        fields = [kind.field(index) for index in range(kind.num_fields)]
        if [each.name for each in fields] == [other.field(index).name for index in range(other.num_fields)]:
            return pa.struct(
                [each.with_type(_known(each.type, other.field(index).type)) for index, each in enumerate(fields)]
            )
    return kind

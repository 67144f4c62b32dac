"""Columns of Arrow's as users get them: arrays of numpy's, rows and data frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headway._worker.functions.exact_integers import check_exact

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import pyarrow as pa


def _extension(column: pa.ExtensionArray) -> np.ndarray:
    """Tensors; where all have one shape, one array of them, else an array of arrays and None."""
    import numpy as np

    from headway._worker.functions.blocks import VARIABLE_TENSOR, to_list, to_numpy

    is_fixed = hasattr(column, "to_numpy_ndarray")
    if is_fixed and not column.null_count:
        return to_numpy(column)
    if not is_fixed and column.type.extension_name != VARIABLE_TENSOR.decode():
        return as_numpy(column.storage)
    made: Any = np.empty(len(column), object)
    for index, row in enumerate(to_list(column)):
        made[index] = row
    return stacked(made)


def named_as_numpy(name: str, column: Any) -> np.ndarray:
    """A column as numpy has it.

    Raises:
        TypeError: an integer beside nulls would be another number.
    """
    check_exact(name, column, "numpy")
    return as_numpy(column)


def as_numpy(column: Any) -> np.ndarray:
    """An array of Arrow's as numpy has it."""
    import numpy as np
    import pyarrow as pa

    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        return _extension(column)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return _lists(column)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return np.array(column.to_pylist(), dtype=object) if column.null_count else _texts(column)
    if pa.types.is_struct(kind) or pa.types.is_map(kind):
        made: Any = np.empty(len(column), dtype=object)
        made[:] = column.to_pylist()
        return made
    made = column.to_numpy(zero_copy_only=False)
    return made if made.flags.writeable else made.copy()


def stacked(values: np.ndarray) -> np.ndarray:
    """One array of an array of equally shaped arrays; others as they are."""
    import numpy as np

    if values.dtype != object or not len(values) or not isinstance(values[0], np.ndarray):
        return values
    first = values[0]
    alike = all(isinstance(each, np.ndarray) and each.shape == first.shape for each in values)
    return np.stack(list(values)) if alike and first.dtype != object else values


def _texts(column: Any) -> np.ndarray:
    return column.to_numpy(zero_copy_only=False)


def _lists(column: Any) -> np.ndarray:
    """One array where all rows are equally long, else an array of arrays."""
    import numpy as np
    import pyarrow.compute as pc

    rows = len(column)
    lengths = pc.list_value_length(column)
    if rows and not column.null_count:
        least_and_most = pc.min_max(lengths)
        if least_and_most["min"] == least_and_most["max"]:
            values = as_numpy(column.flatten())
            return values.reshape(rows, least_and_most["min"].as_py(), *values.shape[1:])
    made: Any = np.empty(rows, dtype=object)
    for index in range(rows):
        row = column[index]
        made[index] = as_numpy(row.values) if row.is_valid else None
    return made


def row_values(column: Any) -> list[Any]:
    """A column's values for rows: Python's, and arrays for tensors."""
    import pyarrow as pa

    if isinstance(column.type, pa.BaseExtensionType):
        return list(as_numpy(column))
    return column.to_pylist()


def frame(table: pa.Table) -> pd.DataFrame:
    """A table as a data frame; tensors become arrays, one a row."""
    import pandas as pd
    import pyarrow as pa

    for name, column in zip(table.column_names, table.columns, strict=True):
        check_exact(name, column, "pandas")
    if not any(isinstance(kind, pa.BaseExtensionType) for kind in table.schema.types):
        return table.to_pandas()
    columns: dict[str, Any] = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        if isinstance(column.type, pa.BaseExtensionType):
            columns[name] = list(as_numpy(column))
        else:
            columns[name] = column.to_pandas()
    return pd.DataFrame(columns)

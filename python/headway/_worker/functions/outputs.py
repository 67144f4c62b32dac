"""What a function returns, as columns: arrays of numbers where that is all there is, else Arrow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

import numpy as np

from headway._worker.functions.arrow_columns import array_of_tensor, arrow_column, type_name, variable_tensors
from headway._worker.functions.exact_integers import is_double
from headway._worker.functions.no_columns import without_columns
from headway._worker.functions.slots import ARROW_TYPES


class BadOutput(TypeError):
    """A function returned something that cannot be a batch or a row."""


def columns_of(output: Any, shapes: Set[tuple[int, ...]] = frozenset()) -> Any:
    """A batch that a function returned. Whether arrays of a column may differ in shape never
    depends on the shapes that this batch has: those of one array ``[rows, ...]`` have one shape,
    and those of a list may differ, even if they happen not to.

    Args:
        shapes: Of rows of this function's input that happen to be alike: with such rows an array is
            as a list of them, since the next batch may differ.
        output: A dictionary of arrays or lists, a data frame, an Arrow table or record batch, or
            anything that offers itself as Arrow (``__arrow_c_stream__``, ``__arrow_c_array__``).

    Returns:
        A dictionary of arrays of numbers without nulls, or an Arrow table.

    Raises:
        BadOutput: it is none of these; it names the column.
    """
    if isinstance(output, Mapping):
        return _from_mapping(output, shapes)
    module = type(output).__module__.partition(".")[0]
    if module == "pyarrow":
        import pyarrow as pa

        if isinstance(output, pa.RecordBatch):
            return pa.Table.from_batches([output])
        if isinstance(output, pa.Table):
            return output
    if module == "pandas" and hasattr(output, "columns"):
        if not len(output.columns) and len(output):
            import pyarrow as pa

            return pa.Table.from_batches([without_columns(len(output))])
        return _from_mapping({str(name): output[name] for name in output.columns})
    if (module != "pandas" and hasattr(output, "__arrow_c_stream__")) or hasattr(output, "__arrow_c_array__"):
        import pyarrow as pa

        return pa.table(output)
    raise BadOutput(
        f"a batch must be a dictionary of arrays, a pandas.DataFrame or a pyarrow.Table, and this is {_a(output)}"
    )


def _from_mapping(output: Mapping[Any, Any], shapes: Set[tuple[int, ...]] = frozenset()) -> Any:
    columns = {}
    for name, values in output.items():
        if not isinstance(name, str):
            raise BadOutput(f"names of columns are text, and this is {_a(name)}: {name!r}")
        columns[name] = _values(name, values)
        if shapes and _is_plain(columns[name]) and columns[name].shape[1:] in shapes:
            columns[name] = variable_tensors(columns[name])
    if not columns:
        raise BadOutput("a batch has at least one column, and this dictionary is empty")
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise BadOutput(f"columns of a batch have one length, and here {shown}")
    if all(_is_plain(values) for values in columns.values()):
        return columns
    return _table({name: arrow_column(name, values) for name, values in columns.items()})


def _values(name: str, values: Any) -> Any:
    """A column as an array of numpy, an Arrow array, or a list."""
    if isinstance(values, np.ndarray):
        if type(values) is not np.ndarray and hasattr(values, "mask"):
            return _masked(name, values)
        array = values
    elif isinstance(values, (list, tuple)):
        return _plain_or_list(name, list(values))
    elif type(values).__module__.partition(".")[0] in ("pyarrow", "pandas"):
        return values.to_numpy() if _is_plain_series(values) else values
    elif hasattr(values, "detach"):
        array = array_of_tensor(values)
    elif hasattr(values, "__array__"):
        array = np.asarray(values)
    else:
        raise BadOutput(
            f"column {name!r} is {_a(values)}; a column is an array or a list with a value for each row of the batch"
        )
    if array.ndim == 0:
        raise BadOutput(f"column {name!r} is one value ({array!r:.50}); a column has a value for each row of the batch")
    return array


def _masked(name: str, values: Any) -> Any:
    """An array of numpy some of whose values are missing."""
    if not np.any(values.mask):
        return values.data
    if values.ndim != 1:
        raise BadOutput(f"column {name!r} has missing values within arrays; fill them (values.filled(0))")
    import pyarrow as pa

    return pa.array(values.data, mask=np.asarray(values.mask))


def _is_plain_series(values: Any) -> bool:
    """Whether a series is numbers of numpy's. In pandas NaN is a missing value."""
    dtype = getattr(values, "dtype", None)
    return isinstance(dtype, np.dtype) and dtype in ARROW_TYPES and not getattr(values, "hasnans", True)


def _is_plain(values: Any) -> bool:
    return isinstance(values, np.ndarray) and values.dtype in ARROW_TYPES and 0 not in values.shape[1:]


def rows_to_columns(rows: Sequence[Any]) -> Any:
    """Rows that a function returned, as one batch; a name that a row lacks is null there.

    Returns:
        As ``columns_of``.

    Raises:
        BadOutput: a row is no dictionary, or a value cannot be stored.
    """
    first = rows[0]
    names: dict[str, None] = {}
    for index, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise BadOutput(f"a row is a dictionary, and row {index} is {_a(row)}: {row!r:.50}")
        if row.keys() != first.keys() or not names:
            names.update(dict.fromkeys(row))
    if not names:
        raise BadOutput("a row has at least one column, and these dictionaries are empty")
    return _from_mapping({name: [row.get(name) for row in rows] for name in names})


def _plain_or_list(name: str, values: list[Any]) -> Any:
    """A list as an array of numbers when all its values are numbers of one kind."""
    kinds = set(map(type, values))
    if len(kinds) == 1:
        kind = kinds.pop()
        if kind in (int, float, bool):
            try:
                return np.array(values, {int: np.int64, float: np.float64, bool: np.bool_}[kind])
            except OverflowError:
                return values
        if issubclass(kind, np.generic) and np.dtype(kind) in ARROW_TYPES:
            return np.array(values, kind)
    elif kinds == {int, float}:
        lost = next((each for each in values if type(each) is int and not is_double(each)), None)
        if lost is not None:
            raise BadOutput(f"column {name!r} has fractions and the integer {lost}, which no 64-bit float is")
        return np.array(values, np.float64)
    return values


def _table(columns: dict[str, Any]) -> Any:
    import pyarrow as pa

    return pa.Table.from_arrays(list(columns.values()), names=list(columns))


def _a(value: Any) -> str:
    """A value's type, with an article."""
    if value is None:
        return "None"
    name = type_name(type(value))
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"

"""A column of any Python values as an Arrow array."""

from __future__ import annotations

from typing import Any

import numpy as np

#: Values of so many bytes are worth care for their memory.
LARGE_VALUE = 1 << 20
_STORED = (
    "a column holds numbers, text, bytes, times, lists, dictionaries, arrays or None; turn other objects into one of "
    "these (pickle.dumps(value) gives bytes)"
)


def type_name(kind: type) -> str:
    """A class as its users write it."""
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def arrow_column(name: str, values: Any, *, all_rows: bool = False) -> Any:
    """An Arrow array, chunked only if it was.

    Args:
        name: The column's, for errors.
        values: An array of numpy or Arrow, a pandas series, or a list.
        all_rows: Whether these are all rows that the column has: arrays of one shape then become
            tensors of that shape. Else their type is that of arrays whose shapes may differ.

    Raises:
        TypeError: a value is of no type that can be stored; it names the column and the row.
    """
    import pyarrow as pa

    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return values
    if type(values).__module__.partition(".")[0] == "pandas":
        if values.dtype != object:
            return pa.array(values, from_pandas=True)
        values = values.to_numpy()
    values = _of_known_floats(values)
    if isinstance(values, np.ndarray) and values.dtype != object:
        return _from_numpy(name, values)
    listed = [_plain(value) for value in values]
    if any(_is_tensor(value) for value in listed):
        return _from_tensors(name, listed, all_rows)
    return _from_list(name, listed)


def _plain(value: Any) -> Any:
    """Without what only numpy and pandas have: their missing values, and times that Arrow takes in
    arrays alone.
    """
    kind = type(value)
    if kind.__module__ == "numpy" and isinstance(value, (np.datetime64, np.timedelta64)):
        import pyarrow as pa

        return pa.array(_in_known_units(value.reshape(1)))[0].as_py() if not np.isnat(value) else None
    return None if kind.__name__ in ("NAType", "NaTType") and kind.__module__.startswith("pandas") else value


def _in_known_units(values: Any) -> Any:
    """Times and durations in units that Arrow has: days or seconds in place of longer ones."""
    unit = np.datetime_data(values.dtype)[0]
    if values.dtype.kind == "M" and unit in ("Y", "M", "W"):
        return values.astype("datetime64[D]")
    if unit in ("W", "D", "h", "m") and (values.dtype.kind, unit) != ("M", "D"):
        return values.astype(f"{values.dtype.kind}8[s]")
    return values


def _from_numpy(name: str, values: Any) -> Any:
    import pyarrow as pa

    if values.dtype.kind in "mM":
        values = _in_known_units(values)
    if not values.dtype.isnative:
        values = values.astype(values.dtype.newbyteorder("="))
    if values.ndim == 1:
        if values.dtype.kind == "U":
            return _from_list(name, values.tolist())
        try:
            return pa.array(values)
        except (pa.ArrowException, TypeError, ValueError) as error:
            raise TypeError(f"column {name!r} is an array of {values.dtype}, which cannot be stored: {error}") from None
    return tensor_column(values)


def tensor_column(values: Any) -> Any:
    """An array ``[rows, *shape]`` as an Arrow array of tensors."""
    import pyarrow as pa

    shape = values.shape[1:]
    size = int(np.prod(shape, dtype=np.int64))
    flat = pa.array(np.ascontiguousarray(values).reshape(-1))
    if size == 0:
        # Lists without elements do not say how many there are.
        storage = pa.array([[]] * len(values), pa.list_(flat.type, 0))
    else:
        storage = pa.FixedSizeListArray.from_arrays(flat, size)
    return pa.ExtensionArray.from_storage(pa.fixed_shape_tensor(flat.type, shape), storage)


def _is_tensor(value: Any) -> bool:
    return isinstance(value, np.ndarray) or (hasattr(value, "detach") and hasattr(value, "numpy"))


def _from_tensors(name: str, values: list[Any], all_rows: bool) -> Any:
    """Arrays as tensors; those of no numbers as lists."""
    arrays = [_array(value) for value in values]
    present = [each for each in arrays if isinstance(each, np.ndarray)]
    if len({each.ndim for each in present}) > 1 or any(
        each is not None and not isinstance(each, np.ndarray) for each in arrays
    ):
        kinds = sorted({_shown(each) for each in arrays})
        raise TypeError(f"column {name!r} mixes {' and '.join(kinds)}; the arrays of a column have one dimension count")
    if present[0].ndim == 0:
        return _from_list(name, [None if each is None else each.item() for each in arrays])
    dtype = np.result_type(*present)
    if dtype.kind not in "biuf":
        return _from_list(name, [each if each is None or each.ndim == 1 else each.tolist() for each in arrays])
    if all_rows and len(present) == len(arrays) and len({each.shape for each in arrays}) == 1:
        rows = arrays[0][np.newaxis] if len(arrays) == 1 else np.stack(arrays)
        return tensor_column(rows.astype(dtype, copy=False))
    return tensors_of_rows(arrays, dtype, present[0].ndim)


def _array(value: Any) -> Any:
    return array_of_tensor(value) if hasattr(value, "detach") else _of_known_floats(value)


def array_of_tensor(value: Any) -> Any:
    """A tensor of PyTorch's as an array."""
    held = value.detach().cpu()
    return (held.float() if str(held.dtype) == "torch.bfloat16" else held).numpy()


def _of_known_floats(value: Any) -> Any:
    """An array of bfloat16, which Arrow does not have, as float32."""
    return value.astype(np.float32) if getattr(getattr(value, "dtype", None), "name", "") == "bfloat16" else value


def _shown(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"arrays of {value.ndim} dimension{'s' if value.ndim != 1 else ''}"
    return f"values of type {type_name(type(value))}"


def tensors_of_rows(arrays: list[Any], dtype: Any, dimensions: int) -> Any:
    """Arrays whose shapes may differ, and None, as an Arrow array of tensors."""
    valid = np.array([each is not None for each in arrays])
    flat = [np.empty(0, dtype) if each is None else each.astype(dtype, copy=False).reshape(-1) for each in arrays]
    shapes = np.array([(0,) * dimensions if each is None else each.shape for each in arrays], np.int32)
    values = flat[0] if len(flat) == 1 else np.concatenate(flat)
    return _variable_tensors(values, np.array([len(each) for each in flat]), shapes, valid)


def variable_tensors(values: Any) -> Any:
    """An array ``[rows, *shape]`` as an Arrow array of tensors whose shapes may differ."""
    rows, shape = len(values), values.shape[1:]
    sizes = np.full(rows, int(np.prod(shape, dtype=np.int64)))
    shapes = np.tile(np.array(shape, np.int32), (rows, 1))
    return _variable_tensors(np.ascontiguousarray(values).reshape(-1), sizes, shapes, np.ones(rows, np.bool_))


def _variable_tensors(flat: Any, sizes: Any, shapes: Any, valid: Any) -> Any:
    """Of all rows' values, how many each has, their shapes, and which are no null."""
    import pyarrow as pa

    offsets = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    data = pa.LargeListArray.from_arrays(pa.array(offsets, pa.int64()), pa.array(flat))
    if offsets[-1] < 2**31:
        data = data.cast(pa.list_(data.type.value_type))
    shape = pa.FixedSizeListArray.from_arrays(pa.array(shapes.reshape(-1)), shapes.shape[1])
    storage = pa.StructArray.from_arrays(
        [data, shape], names=["data", "shape"], mask=None if valid.all() else pa.array(~valid)
    )
    return _variable_tensor_type(storage.type).wrap_array(storage)


def _variable_tensor_type(storage: Any) -> Any:
    """Arrow's extension type over a struct of data and shape; pyarrow can only read it from a
    schema.
    """
    import pyarrow as pa

    metadata = {"ARROW:extension:name": "arrow.variable_shape_tensor", "ARROW:extension:metadata": "{}"}
    schema = pa.schema([pa.field("tensor", storage, metadata=metadata)])
    return pa.ipc.read_schema(schema.serialize()).field(0).type


def _from_list(name: str, values: list[Any]) -> Any:
    import pyarrow as pa

    if len(values) == 1 and type(values[0]) is bytes and LARGE_VALUE <= len(values[0]) < 2**31:
        ends = np.array([0, len(values[0])], np.int32)
        return pa.Array.from_buffers(pa.binary(), 1, [None, pa.py_buffer(ends), pa.py_buffer(values[0])])
    try:
        made = pa.array(values)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        if all(value is None or (type(value) is int and 0 <= value < 2**64) for value in values):
            return pa.array(values, pa.uint64())
        if any(isinstance(value, (list, dict)) for value in values):
            return pa.array(values, _nested_type(name, values, error))
        raise TypeError(_fault(name, values, error)) from None
    if isinstance(made, pa.ChunkedArray):  # More than 2 GiB of text or bytes.
        large = pa.large_string() if pa.types.is_string(made.type) else pa.large_binary()
        made = pa.array(values, large)
    return _as_wide(made, values)


def _as_wide(made: Any, values: list[Any]) -> Any:
    """With a type that does not depend on which of a column's values these are."""
    import pyarrow as pa

    kind = made.type
    wide = _wide_type(kind)
    if wide is not kind:
        return made.cast(wide)
    # Arrow makes microseconds of pandas' times, also of those that count nanoseconds.
    if (pa.types.is_timestamp(kind) or pa.types.is_duration(kind)) and any(
        getattr(value, "unit", "") == "ns" for value in values
    ):
        return pa.array(values, pa.timestamp("ns", kind.tz) if pa.types.is_timestamp(kind) else pa.duration("ns"))
    return made


def _wide_type(kind: Any) -> Any:
    """With decimals of any number of digits, also within lists and structs; the same type
    where there are none.
    """
    import pyarrow as pa

    if pa.types.is_decimal128(kind):
        return pa.decimal128(38, kind.scale)
    if pa.types.is_list(kind):
        field = kind.value_field
        wide = field.with_type(_wide_type(field.type))
        return kind if wide == field else pa.list_(wide)
    if pa.types.is_struct(kind):
        fields = list(kind)
        widened = [field.with_type(_wide_type(field.type)) for field in fields]
        return kind if widened == fields else pa.struct(widened)
    return kind


def _is_map(value: Any) -> bool:
    """Whether it is what Arrow's maps are in Python: a list of pairs."""
    return isinstance(value, list) and all(type(each) is tuple and len(each) == 2 for each in value)


def _nested_type(name: str, values: list[Any], error: Exception) -> Any:
    """The type of lists and dictionaries in which there are maps, which Arrow does not look for."""
    import pyarrow as pa

    present = [value.tolist() if isinstance(value, np.ndarray) else value for value in values if value is not None]
    if all(_is_map(value) for value in present) and any(present):
        keys, items = zip(*(pair for value in present for pair in value), strict=True)
        parts = [_nested_type(f"{name}.{part}", list(each), error) for part, each in (("key", keys), ("value", items))]
        return pa.map_(*parts)
    if present and all(isinstance(value, list) for value in present):
        return pa.list_(_nested_type(name, [item for value in present for item in value], error))
    if present and all(isinstance(value, dict) for value in present):
        fields = dict.fromkeys(field for value in present for field in value)
        if all(isinstance(field, str) for field in fields):
            of_fields = ((field, [value.get(field) for value in present]) for field in fields)
            return pa.struct([(field, _nested_type(f"{name}.{field}", each, error)) for field, each in of_fields])
    if any(isinstance(value, (list, dict)) for value in present):
        raise TypeError(_fault(name, values, error)) from None
    return _from_list(name, values).type


def _fault(name: str, values: list[Any], error: Exception) -> str:
    """Which row is at fault, and why."""
    import pyarrow as pa

    seen: type | None = None
    for index, value in enumerate(values):
        if value is None:
            continue
        try:
            pa.array([value])
        except Exception as own:
            if isinstance(value, (int, str)):
                return f"column {name!r}: the value of row {index} cannot be stored: {own}"
            return f"column {name!r}: row {index} is of type {type_name(type(value))}; {_STORED}"
        if seen is not None and type(value) is not seen:
            return (
                f"column {name!r}: row {index} is of type {type_name(type(value))}, and a row before it of "
                f"type {type_name(seen)}; the values of a column have one type"
            )
        seen = seen or type(value)
    return f"column {name!r} cannot be stored: {error}"

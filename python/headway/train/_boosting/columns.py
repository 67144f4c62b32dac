"""Which columns of a data set a framework gets, and as which numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from headway import _session as worker_session
from headway._values.arguments import check_str, check_texts, refuse

if TYPE_CHECKING:
    import pyarrow as pa

    from headway.data import DataIterator

_COLUMN = "None or a column's name"
_CATEGORIES = "None, or a dict from columns of text to lists of their values"
_ROWS_OF_TEXT = 65536


@dataclass(frozen=True)
class Columns:
    """What is what among the columns of a data set.

    Attributes:
        roles: From the framework's word, such as ``"label"``, to the column.
        features: The columns that are trained on, in order.
        categories: The values of each feature that is text. In a converted table the feature has
            their numbers.
    """

    roles: Mapping[str, str]
    features: Sequence[str]
    categories: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def converted(self, table: pa.Table) -> pa.Table:
        """Rows as numbers: the features, and behind them the columns of the roles."""
        import pyarrow as pa

        made = [pair for name in self.features for pair in self._feature(name, table.column(name))]
        features = len(made)
        made += [(f"role:{role}", _number(name, table.column(name))) for role, name in self.roles.items()]
        named = pa.table([values for _, values in made], names=[name for name, _ in made])
        return named.replace_schema_metadata({"features": str(features)})

    def _feature(self, name: str, column: pa.ChunkedArray) -> Iterator[tuple[str, Any]]:
        if name in self.categories:
            yield name, _codes(name, column, self.categories[name])
        elif is_tensors(column.type):
            column = _of_one_shape(name, column)
            yield from _split(name, column, column.type.list_size)
        elif (width := _width(column.type)) is not None:
            yield from _split(name, column, width)
        else:
            yield name, _number(name, column)


def features_of(table: pa.Table) -> pa.Table:
    """The features of a converted table."""
    return table.select(range(int(table.schema.metadata[b"features"])))


def role_of(table: pa.Table, role: str) -> Any:
    """A role's column of a converted table, as numpy's float32; None where it has none."""
    name = f"role:{role}"
    if name not in table.column_names:
        return None
    return table.column(name).to_numpy().astype("float32", copy=False)


def iterator_of(data: object) -> DataIterator:
    """What gives the rows: a shard, or a data set's own.

    Raises:
        TypeError: it is neither.
    """
    from headway.data import DataIterator, Dataset

    if isinstance(data, Dataset):
        return data.iterator()
    if not isinstance(data, DataIterator):
        refuse("shard", data, 'what get_dataset_shard("train") returns, or a headway.data.Dataset')
    return data


def chosen(
    shard: DataIterator, roles: Mapping[str, str | None], features: Sequence[str] | None, categories: Any
) -> Columns:
    """The columns that arguments ask for.

    Args:
        shard: Of the data set.
        roles: Each word with what the user gave for it.
        features: The user's; None: all columns that have no role.
        categories: The user's values of columns; those of the other columns of text are looked up.

    Raises:
        TypeError, ValueError: a bad argument, or a column that is no number.
    """
    schema = shard.schema().base_schema
    named = {role: name for role, name in roles.items() if name is not None}
    for role, name in named.items():
        _check_column(role, check_str(role, name, _COLUMN), schema)
    if features is None:
        features = [name for name in schema.names if name not in named.values()]
    for index, name in enumerate(check_texts("features", features, "None or a list of columns")):
        _check_column(f"features[{index}]", name, schema)
    if not features:
        raise ValueError(
            f"features is {list(features)}; allowed: at least one column beside {', '.join(named.values())}"
        )
    known = _checked_categories(categories)
    for name in known:
        if name not in features or not is_text(schema.field(name).type):
            raise ValueError(f"categories has {name!r}; allowed: features that are columns of text")
    missing = [name for name in features if is_text(schema.field(name).type) and name not in known]
    return Columns(named, list(features), {**known, **(values_of([shard], missing) if missing else {})})


def values_of(shards: Sequence[DataIterator], names: Sequence[str]) -> dict[str, list[str]]:
    """The values of columns of text, sorted: of all rows of the data sets, so that all ranks have
    the same, and any number of ranks. Rank 0 reads them.
    """
    session = worker_session.active()
    if session is None or session.context["world_size"] == 1:
        return _read_values(shards, names)
    from headway.train.collective import broadcast_from_rank_zero

    first = session.context["plan"]["rank"] == 0
    return broadcast_from_rank_zero(_read_values(shards, names) if first else None)


def _read_values(shards: Sequence[DataIterator], names: Sequence[str]) -> dict[str, list[str]]:
    import pyarrow.compute as pc

    from headway.data import DataIterator, Dataset

    found: dict[str, set[str]] = {name: set() for name in names}
    for shard in shards:
        there = [name for name in names if name in shard.schema().names]
        if not there:
            continue
        plan = Dataset._of(shard._plan, shard._context).select_columns(there)._plan
        whole = DataIterator(plan, shard._context, _seed=shard._seed)
        for table in whole.iter_batches(batch_size=_ROWS_OF_TEXT, batch_format="pyarrow"):
            for name in there:
                found[name].update(pc.unique(table.column(name)).drop_null().to_pylist())
    return {name: sorted(values) for name, values in found.items()}


def is_text(kind: Any) -> bool:
    """Whether a column of this type is text."""
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _checked_categories(given: Any) -> dict[str, list[str]]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        refuse("categories", given, _CATEGORIES)
    return {name: check_texts(f"categories[{name!r}]", values, _CATEGORIES) for name, values in given.items()}


def _check_column(argument: str, name: str, schema: pa.Schema) -> None:
    if name not in schema.names:
        raise ValueError(f"{argument} is {name!r}; allowed: a column of the data set: {', '.join(schema.names)}")


def _number(name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The column as a framework reads it.

    Raises:
        TypeError: it has no numbers.
    """
    import pyarrow as pa

    kind, types = column.type, pa.types
    if types.is_boolean(kind):
        return column.cast(pa.int8())
    if types.is_decimal(kind):
        return column.cast(pa.float64())
    if types.is_integer(kind) or types.is_floating(kind):
        return column.cast(pa.float32()) if types.is_float16(kind) else column
    raise TypeError(
        f"the column {name!r} is of the type {kind}; allowed: numbers, arrays of one shape (tensors, Arrow lists of a "
        "fixed size; map_batches makes such of lists), and text as categories"
    )


def _codes(name: str, column: pa.ChunkedArray, values: Sequence[str]) -> pa.ChunkedArray:
    """The number of each text among the values.

    Raises:
        ValueError: a text is not among them.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    codes = pc.index_in(column, value_set=pa.array(values, column.type), skip_nulls=True)
    if codes.null_count > column.null_count:
        unknown = column.filter(pc.and_(codes.is_null(), column.is_valid()))[0].as_py()
        raise ValueError(
            f"categories[{name!r}] has no {unknown!r}, which is in the data; allowed: all values of the column"
        )
    return codes


def _width(kind: Any) -> int | None:
    """How many numbers each row of a column has; None: one."""
    import pyarrow as pa

    if isinstance(kind, pa.BaseExtensionType):
        kind = kind.storage_type
    return kind.list_size if pa.types.is_fixed_size_list(kind) else None


def is_tensors(kind: Any) -> bool:
    """Whether a column of this type has arrays whose shapes may differ."""
    import pyarrow as pa

    return isinstance(kind, pa.BaseExtensionType) and kind.extension_name == "arrow.variable_shape_tensor"


def _of_one_shape(name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Arrays whose shapes may differ as lists of one length.

    Raises:
        ValueError: their shapes do differ.
    """
    import numpy as np
    import pyarrow as pa

    from headway.data._arrow_values import named_as_numpy

    arrays = named_as_numpy(name, column)
    if arrays.dtype == object and len(arrays):
        raise ValueError(f"the column {name!r} has arrays of several shapes, or none; allowed: arrays of one shape")
    width = int(np.prod(arrays.shape[1:])) if len(arrays) else 0
    return pa.chunked_array([pa.FixedSizeListArray.from_arrays(pa.array(arrays.reshape(-1)), width)])


def _split(name: str, column: pa.ChunkedArray, width: int) -> Iterator[tuple[str, Any]]:
    """A column of equally long lists as so many columns of numbers."""
    if column.null_count:
        raise ValueError(f"the column {name!r} has rows without a value; allowed: lists of {width} numbers in each row")
    chunks = [getattr(chunk, "storage", chunk).flatten() for chunk in column.chunks]
    parts = _of_chunks(chunks, lambda values, place: values.take(_places(len(values), place, width)), width)
    for place, part in enumerate(parts):
        yield f"{name}_{place}", _number(name, part)


def _of_chunks(chunks: Sequence[Any], part: Callable[[Any, int], Any], width: int) -> Iterator[Any]:
    import pyarrow as pa

    for place in range(width):
        yield pa.chunked_array([part(values, place) for values in chunks])


def _places(length: int, first: int, step: int) -> Any:
    import numpy as np
    import pyarrow as pa

    return pa.array(np.arange(first, length, step))

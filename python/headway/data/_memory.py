"""Data sets of what is in memory: it is written to a scratch file, which the engine reads."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from headway._values.arguments import check_int, check_none_or_above_0, refuse
from headway._worker.functions.no_columns import without_columns
from headway.data import _materialize
from headway.data._base import kept
from headway.data._dataset import Dataset, MaterializedDataset
from headway.data._plan import Plan

if TYPE_CHECKING:
    import pyarrow as pa

#: Items of an iterator that are written at a time.
_ROWS_AT_ONCE = 65536
#: Each piece of 1 MiB takes some memory of the data process, before any is read.
_RANGE_MAX = 1 << 40


def range(
    n: int, *, parallelism: int = -1, concurrency: int | None = None, override_num_blocks: int | None = None
) -> Dataset:
    """The numbers from 0 to ``n - 1``, in the column ``id``.

    Args:
        n: How many, at most 2^40.
        parallelism: An older name of ``override_num_blocks``; -1: not given.
        concurrency: Kept for scripts that give it.
        override_num_blocks: Into how many pieces they are cut.

    Example:
        >>> import headway.data
        >>> headway.data.range(1000).count()
        1000
    """
    _check_rows(n)
    check_none_or_above_0("concurrency", concurrency)
    return cut(Dataset._of(Plan.source("range", {"rows": n})), blocks(parallelism, override_num_blocks))


def range_tensor(
    n: int,
    *,
    shape: Sequence[int] = (1,),
    parallelism: int = -1,
    concurrency: int | None = None,
    override_num_blocks: int | None = None,
) -> Dataset:
    """``n`` tensors in the column ``data``; each value of tensor ``i`` is ``i``.

    Args:
        n: How many, at most 2^40.
        shape: Of each.
        parallelism: An older name of ``override_num_blocks``; -1: not given.
        concurrency: Kept for scripts that give it.
        override_num_blocks: Into how many pieces they are cut.

    Example:
        >>> import headway.data
        >>> headway.data.range_tensor(3, shape=(2, 2)).take_batch()["data"].shape
        (3, 2, 2)
    """
    _check_rows(n)
    check_none_or_above_0("concurrency", concurrency)
    if isinstance(shape, (str, bytes)) or not isinstance(shape, Sequence):
        refuse("shape", shape, "a tuple of lengths")
    lengths = [check_int(f"shape[{index}]", each, "an integer above 0") for index, each in enumerate(shape)]
    if min(lengths, default=1) < 1:
        raise ValueError(f"shape is {tuple(shape)}; allowed: integers above 0")
    return cut(
        Dataset._of(Plan.source("range", {"rows": n, "tensor_shape": lengths})),
        blocks(parallelism, override_num_blocks),
    )


def from_items(
    items: Iterable[Any], *, parallelism: int = -1, override_num_blocks: int | None = None
) -> MaterializedDataset:
    """A data set of Python objects.

    Args:
        items: Dicts, each a row; other objects are in the column ``item``. An iterator or a
            generator is written away as it goes, so it may give more than memory holds.
        parallelism: The older name of ``override_num_blocks``; -1: the default.
        override_num_blocks: Into how many pieces they are cut.

    Example:
        >>> import headway.data
        >>> headway.data.from_items([{"x": 1}, {"x": 2}]).take_all()
        [{'x': 1}, {'x': 2}]
    """
    if isinstance(items, (str, bytes, Mapping)) or not isinstance(items, Iterable):
        refuse("items", items, "a list of dicts or of other objects")
    pieces = blocks(parallelism, override_num_blocks)
    if isinstance(items, Sequence):
        if not items:
            raise ValueError("items is empty; allowed: at least one item, as columns come from items")
        return cut(kept_tables([_table(items)]), pieces)
    return cut(kept_tables(_tables(iter(items))), pieces)


def from_arrow(tables: Any, *, override_num_blocks: int | None = None) -> MaterializedDataset:
    """A data set of Arrow tables.

    Args:
        tables: A ``pyarrow.Table``, a record batch, a reader, anything else that has
            ``__arrow_c_stream__`` (a data frame of Polars, for example), or a list of these. A
            reader is written away as it goes.
        override_num_blocks: Into how many pieces it is cut.

    Example:
        >>> import headway.data, pyarrow
        >>> headway.data.from_arrow(pyarrow.table({"x": [1, 2]})).count()
        2
    """
    given = tables if isinstance(tables, (list, tuple)) else [tables]
    if not given:
        raise ValueError("tables is empty; allowed: at least one table")
    for each in given:
        if not hasattr(each, "__arrow_c_stream__") and not hasattr(each, "__arrow_c_array__"):
            refuse("tables", each, "a pyarrow.Table, something that has __arrow_c_stream__, or a list of these")
    return cut(kept_tables(piece for each in given for piece in pieces_of(each)), override_num_blocks)


def from_pandas(dfs: Any, *, override_num_blocks: int | None = None) -> MaterializedDataset:
    """A data set of data frames; their index is left out.

    Args:
        dfs: A ``pandas.DataFrame`` or a list of them.
        override_num_blocks: Into how many pieces it is cut.

    Example:
        >>> import headway.data, pandas
        >>> headway.data.from_pandas(pandas.DataFrame({"x": [1, 2]})).count()
        2
    """
    given = dfs if isinstance(dfs, (list, tuple)) else [dfs]
    if not given:
        raise ValueError("dfs is empty; allowed: at least one data frame")
    for each in given:
        if type(each).__module__.partition(".")[0] != "pandas" or not hasattr(each, "columns"):
            refuse("dfs", each, "a pandas.DataFrame or a list of them")
    return cut(kept_tables(map(table_of_frame, given)), override_num_blocks)


def from_numpy(ndarrays: Any, *, override_num_blocks: int | None = None) -> MaterializedDataset:
    """A data set of arrays: each row of them is a row's ``data``.

    Args:
        ndarrays: An array or a list of them.
        override_num_blocks: Into how many pieces it is cut.

    Example:
        >>> import headway.data, numpy
        >>> headway.data.from_numpy(numpy.ones((4, 3))).take_batch()["data"].shape
        (4, 3)
    """
    import numpy as np

    given = list(ndarrays) if isinstance(ndarrays, (list, tuple)) else [ndarrays]
    if not given:
        raise ValueError("ndarrays is empty; allowed: at least one array")
    for each in given:
        if not isinstance(each, np.ndarray):
            refuse("ndarrays", each, "a numpy.ndarray or a list of them")
        if each.ndim == 0:
            raise ValueError("ndarrays has an array without dimensions; allowed: at least one, for its rows")
    return cut(kept_tables(_table_of({"data": each}) for each in given), override_num_blocks)


def from_huggingface(
    dataset: Any, parallelism: int = -1, concurrency: int | None = None, override_num_blocks: int | None = None
) -> MaterializedDataset:
    """A data set of one of Hugging Face ``datasets``.

    Args:
        dataset: A ``datasets.Dataset``, or an ``IterableDataset``, which is read to its end now.
        parallelism: The older name of ``override_num_blocks``; -1: the default.
        concurrency: Kept for scripts that give it.
        override_num_blocks: Into how many pieces it is cut.

    Example:
        >>> import headway.data
        >>> def reviews():
        ...     import datasets
        ...     return headway.data.from_huggingface(datasets.load_dataset("yelp_review_full")["train"])
    """
    check_none_or_above_0("concurrency", concurrency)
    pieces = blocks(parallelism, override_num_blocks)
    if isinstance(dataset, Mapping):
        names = ", ".join(map(repr, dataset))
        raise TypeError(f"dataset is a dict of data sets; allowed: one of them: dataset[name], name one of {names}")
    if type(dataset).__module__.partition(".")[0] != "datasets":
        refuse("dataset", dataset, "a datasets.Dataset or datasets.IterableDataset")
    return cut(kept_tables(_of_huggingface(dataset)), pieces)


def from_tf(dataset: Any) -> MaterializedDataset:
    """A data set of a ``tf.data.Dataset``, which is read to its end now.

    Args:
        dataset: Its elements are dicts, or tuples, whose parts are the columns ``item_0``,
            ``item_1`` and so on, or values, which are in the column ``item``.

    Example:
        >>> import headway.data
        >>> def numbers():
        ...     import tensorflow as tf
        ...     return headway.data.from_tf(tf.data.Dataset.range(10))
    """
    if not hasattr(dataset, "as_numpy_iterator"):
        refuse("dataset", dataset, "a tf.data.Dataset")
    return kept_tables(_tables(map(_parts, dataset.as_numpy_iterator())))


def _parts(element: Any) -> Any:
    """A tuple's parts by name."""
    if not isinstance(element, tuple):
        return element
    return {f"item_{index}": part for index, part in enumerate(element)}


def _of_huggingface(dataset: Any) -> Iterator[pa.Table]:
    """Its rows as they are stored; as they come out where a function makes them of those."""
    import builtins

    rows = len(dataset) if hasattr(dataset, "__len__") else None
    if rows is None or dataset.format["type"] == "custom":
        # Files such as images stay as they are in streams, too.
        as_stored = dataset.decode(False) if rows is None and dataset.features is not None else dataset
        tables = _tables(iter(as_stored))
    else:
        stored = dataset.with_format("arrow")
        tables = (stored[begin : begin + _ROWS_AT_ONCE] for begin in builtins.range(0, rows, _ROWS_AT_ONCE))
    first = next(tables, None)
    if first is not None:
        yield first
        yield from tables
    elif dataset.features is not None:
        yield dataset.features.arrow_schema.empty_table()


def table_of_frame(frame: Any) -> pa.Table:
    """A data frame's columns, without its index."""
    names = [str(name) for name in frame.columns]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"a data frame has the column {twice!r} twice; allowed: each name once")
    return _table_of({str(name): frame[name] for name in frame.columns})


def kept_tables(tables: Iterable[pa.Table]) -> MaterializedDataset:
    """A data set of tables, which are written away."""
    return kept(_materialize.of_file(_materialize.written(tables)))


def pieces_of(given: Any) -> Iterator[pa.Table]:
    """What has an Arrow stream or array, as tables."""
    import pyarrow as pa

    if hasattr(given, "__arrow_c_stream__"):
        stream = pa.RecordBatchReader.from_stream(given)
        batch = None
        for batch in stream:
            yield pa.Table.from_batches([batch])
        if batch is None:  # There are no rows, but columns.
            yield stream.schema.empty_table()
        return
    yield pa.Table.from_batches([pa.record_batch(given)])


def _tables(items: Iterator[Any]) -> Iterator[pa.Table]:
    while rows := list(itertools.islice(items, _ROWS_AT_ONCE)):
        yield _table(rows)


def _table(items: Sequence[Any]) -> pa.Table:
    """Items as a table."""
    rows = [each if isinstance(each, Mapping) else as_row(each) for each in items]
    names = dict.fromkeys(str(name) for row in rows for name in row)
    if not names:
        import pyarrow as pa

        return pa.Table.from_batches([without_columns(len(rows))])
    return _table_of({name: [row.get(name) for row in rows] for name in names})


def as_row(item: Any) -> dict[str, Any]:
    """A row of what is no dict."""
    return {"item": item}


def _table_of(columns: Mapping[str, Any]) -> pa.Table:
    import pyarrow as pa

    from headway._worker.functions.arrow_columns import arrow_column

    return pa.table({name: arrow_column(name, values, all_rows=True) for name, values in columns.items()})


def cut(made: Any, blocks: int | None) -> Any:
    """The same rows in so many pieces; None: as they are."""
    check_none_or_above_0("override_num_blocks", blocks)
    return made if blocks is None else made.repartition(blocks)


def blocks(parallelism: int, override_num_blocks: int | None) -> int | None:
    """The number of pieces, of which ``parallelism`` is the older name."""
    if check_int("parallelism", parallelism, "-1 or an integer above 0") == -1:
        return override_num_blocks
    if parallelism < 1:
        raise ValueError(f"parallelism is {parallelism}; allowed: -1 or an integer above 0")
    return override_num_blocks or parallelism


def _check_rows(n: Any) -> None:
    if isinstance(n, bool) or not hasattr(n, "__index__"):
        refuse("n", n, "0 or more")
    if n < 0:
        raise ValueError(f"n is {n}; allowed: 0 or more")
    if n > _RANGE_MAX:
        raise ValueError(f"n is {n}; allowed: at most {_RANGE_MAX}")

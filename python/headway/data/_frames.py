"""Data sets of data frames that other engines have: they are written away piece by piece."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from headway._values.arguments import check_none_or_above_0, refuse
from headway.data._dataset import MaterializedDataset
from headway.data._memory import cut, kept_tables, pieces_of, table_of_frame

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa


def from_dask(df: Any) -> MaterializedDataset:
    """A data set of a data frame of Dask. Its partitions are computed one after another, and each
    is written away before the next; their index is left out. Of a frame that was shuffled, merged
    or indexed anew each partition computes all that is before: ``persist()`` it first.

    Args:
        df: A ``dask.dataframe.DataFrame``.

    Example:
        >>> import headway.data
        >>> def prices():
        ...     import dask.dataframe
        ...     return headway.data.from_dask(dask.dataframe.read_csv("prices/*.csv"))
    """
    if not _is_of(df, "dask") or not hasattr(df, "npartitions") or not hasattr(df, "columns"):
        refuse("df", df, "a dask.dataframe.DataFrame")
    parts = (df.partitions[number].compute() for number in range(df.npartitions))
    return kept_tables(map(table_of_frame, parts))


def from_spark(
    df: Any, *, parallelism: int | None = None, override_num_blocks: int | None = None
) -> MaterializedDataset:
    """A data set of a data frame of Spark, whose rows come to this process as Arrow.

    Args:
        df: A ``pyspark.sql.DataFrame``, of Spark 4 or newer.
        parallelism: The older name of ``override_num_blocks``.
        override_num_blocks: Into how many pieces it is cut.

    Example:
        >>> import headway.data
        >>> def prices(spark):
        ...     return headway.data.from_spark(spark.read.parquet("prices"))
    """
    check_none_or_above_0("parallelism", parallelism)
    check_none_or_above_0("override_num_blocks", override_num_blocks)
    if not _is_of(df, "pyspark") or not hasattr(df, "toPandas"):
        refuse("df", df, "a pyspark.sql.DataFrame")
    made = df.toArrow() if hasattr(df, "toArrow") else table_of_frame(df.toPandas())
    return cut(kept_tables([made]), override_num_blocks or parallelism)


def from_daft(df: Any) -> MaterializedDataset:
    """A data set of a data frame of Daft, which is computed and written away batch by batch.

    Args:
        df: A ``daft.DataFrame``.

    Example:
        >>> import headway.data
        >>> def prices():
        ...     import daft
        ...     return headway.data.from_daft(daft.read_parquet("prices/*.parquet"))
    """
    if not _is_of(df, "daft") or not hasattr(df, "to_arrow"):
        refuse("df", df, "a daft.DataFrame")
    if hasattr(df, "to_arrow_iter"):
        return kept_tables(piece for batch in df.to_arrow_iter() for piece in pieces_of(batch))
    return kept_tables([df.to_arrow()])


def from_modin(df: Any) -> MaterializedDataset:
    """A data set of a data frame of Modin; its index is left out.

    Args:
        df: A ``modin.pandas.DataFrame``.

    Example:
        >>> import headway.data
        >>> def prices():
        ...     import modin.pandas
        ...     return headway.data.from_modin(modin.pandas.read_csv("prices.csv"))
    """
    if not _is_of(df, "modin") or not hasattr(df, "_to_pandas"):
        refuse("df", df, "a modin.pandas.DataFrame")
    return kept_tables([table_of_frame(df._to_pandas())])


def from_blocks(blocks: Any) -> MaterializedDataset:
    """A data set of tables and data frames.

    Args:
        blocks: A list of ``pyarrow.Table``, ``pandas.DataFrame``, or what else has
            ``__arrow_c_stream__``; all have the same columns.

    Example:
        >>> import headway.data, pyarrow
        >>> headway.data.from_blocks([pyarrow.table({"x": [1]}), pyarrow.table({"x": [2]})]).count()
        2
    """
    if isinstance(blocks, (str, bytes)) or not isinstance(blocks, Iterable):
        refuse("blocks", blocks, "a list of tables or data frames")
    given = list(blocks)
    if not given:
        raise ValueError("blocks is empty; allowed: at least one table or data frame")
    for index, each in enumerate(given):
        if not _is_frame(each) and not hasattr(each, "__arrow_c_stream__"):
            refuse(f"blocks[{index}]", each, "a pyarrow.Table or a pandas.DataFrame")
    return kept_tables(_alike(given))


def is_of_ray(dataset: Any) -> bool:
    """Whether it is a data set of Ray's own library."""
    return _is_of(dataset, "ray") and hasattr(dataset, "iter_batches")


def from_ray(dataset: Any) -> MaterializedDataset:
    """A data set of a ``ray.data.Dataset``, which Ray computes and which is written away batch by
    batch.

    Args:
        dataset: The data set of Ray's own library.

    Example:
        >>> import headway.data
        >>> def prices():
        ...     import ray.data
        ...     return headway.data.from_ray(ray.data.read_parquet("prices"))
    """
    if not is_of_ray(dataset):
        refuse("dataset", dataset, "a ray.data.Dataset of Ray's own library")
    return kept_tables(map(_with_tensors, dataset.iter_batches(batch_size=None, batch_format="pyarrow")))


def _with_tensors(table: pa.Table) -> pa.Table:
    """The table with Arrow's tensors for Ray's own."""
    for index, field in enumerate(table.schema):
        if getattr(field.type, "extension_name", "").startswith("ray.data.arrow_"):
            table = table.set_column(index, field.name, _tensors_of_ray(field.name, table.column(index)))
    return table


def _tensors_of_ray(name: str, column: pa.ChunkedArray) -> pa.Array:
    """Tensors of lists, whose type has the shape, or of structs of values and shape."""
    from headway._worker.functions.arrow_columns import arrow_column, tensors_of_rows

    arrays: list[np.ndarray | None] = []
    for chunk in column.chunks:
        shape = getattr(chunk.type, "shape", None)
        for row in chunk.storage:
            if not row.is_valid:
                arrays.append(None)
                continue
            values = row if shape is not None else row["data"]
            lengths = shape if shape is not None else row["shape"].as_py()
            arrays.append(values.values.to_numpy(zero_copy_only=False).reshape(lengths))
    first = next((each for each in arrays if each is not None), None)
    if first is None or hasattr(column.type, "shape"):
        return arrow_column(name, arrays, all_rows=True)
    return tensors_of_rows(arrays, first.dtype, first.ndim)


def _alike(blocks: list[Any]) -> Iterator[pa.Table]:
    """The blocks' tables. Raises ValueError for one whose columns are not those of the first."""
    names: list[str] | None = None
    for index, block in enumerate(blocks):
        for table in _tables(block):
            if names is None:
                names = table.column_names
            if sorted(table.column_names) != sorted(names):
                raise ValueError(
                    f"blocks[{index}] has the columns {', '.join(table.column_names)}; allowed: those of the first "
                    f"block, {', '.join(names)}"
                )
            yield table


def _tables(block: Any) -> Iterator[pa.Table]:
    return iter([table_of_frame(block)]) if _is_frame(block) else pieces_of(block)


def _is_frame(given: Any) -> bool:
    return _is_of(given, "pandas") and hasattr(given, "columns")


def _is_of(given: Any, package: str) -> bool:
    """Whether its class, or one that it is made of, is of a package."""
    return any(kind.__module__.partition(".")[0] == package for kind in type(given).__mro__)

"""Readers of files."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from headway._values.arguments import check_bool, check_str
from headway._values.packages import check_installed
from headway.data import _avro, _csv_options
from headway.data._dataset import Dataset
from headway.data._files import FileArguments, PartitionFilter, Partitioning, read
from headway.data._locations import column_names
from headway.data._memory import blocks
from headway.data._scheduling import takes_scheduling

if TYPE_CHECKING:
    import pyarrow.fs


@takes_scheduling
def read_parquet(
    paths: str | Sequence[str],
    *,
    filesystem: pyarrow.fs.FileSystem | None = None,
    columns: Sequence[str] | None = None,
    partition_filter: PartitionFilter | None = None,
    partitioning: Partitioning | str | None = "hive",
    include_paths: bool = False,
    ignore_missing_paths: bool = False,
    shuffle: Any = None,
    file_extensions: Sequence[str] | None = ("parquet",),
    concurrency: int | None = None,
    override_num_blocks: int | None = None,
    parallelism: int = -1,
    skip_paths: str | Sequence[str] | None = None,
) -> Dataset:
    """Rows of Parquet files.

    Args:
        paths: A file, a folder, a URL such as ``s3://bucket/folder``, or a list of these.
        filesystem: One of ``pyarrow.fs`` or fsspec that the paths are on; None: paths and URLs.
        columns: Only these; no others are read.
        partition_filter: Gets the paths of all files and returns those that are read.
        partitioning: ``"hive"``: folders such as ``year=2026`` are columns; None: they are not; or
            a :class:`Partitioning`.
        include_paths: Whether each row has its file in the column ``path``.
        ignore_missing_paths: Whether a path that does not exist is left out.
        shuffle: ``"files"`` or a :class:`FileShuffleConfig`: files in a random order.
        file_extensions: Only files of a folder whose names end so; None: all.
        concurrency: Kept for scripts that give it: the engine reads as memory allows.
        override_num_blocks: Into how many pieces the rows are cut, where their number is known
            before they are read; default: row groups.
        parallelism: An older name of that; -1: not given.
        skip_paths: Files and folders that are left out, whether they exist or not.

    Example:
        >>> import headway.data
        >>> def trips():
        ...     return headway.data.read_parquet("s3://bucket/trips", columns=["distance", "price"])
    """
    given = FileArguments(
        filesystem, partition_filter, partitioning, include_paths, ignore_missing_paths, shuffle, file_extensions,
        concurrency, blocks(parallelism, override_num_blocks), skip_paths,
    )  # fmt: skip
    return read("parquet", paths, given, columns=column_names("columns", columns))


@takes_scheduling
def read_csv(
    paths: str | Sequence[str],
    *,
    filesystem: pyarrow.fs.FileSystem | None = None,
    partition_filter: PartitionFilter | None = None,
    partitioning: Partitioning | str | None = "hive",
    include_paths: bool = False,
    ignore_missing_paths: bool = False,
    shuffle: Any = None,
    file_extensions: Sequence[str] | None = None,
    concurrency: int | None = None,
    override_num_blocks: int | None = None,
    parallelism: int = -1,
    read_options: Any = None,
    parse_options: Any = None,
    convert_options: Any = None,
) -> Dataset:
    """Rows of CSV files.

    Args:
        paths, filesystem, partition_filter, partitioning, include_paths, ignore_missing_paths,
            shuffle, file_extensions, concurrency, override_num_blocks, parallelism: As for
            :func:`read_parquet`.
        read_options: ``pyarrow.csv.ReadOptions``: column names, rows to skip.
        parse_options: ``pyarrow.csv.ParseOptions``: delimiter, quotes.
        convert_options: ``pyarrow.csv.ConvertOptions``: types, what stands for null.

    Example:
        >>> import headway.data
        >>> def semicolons():
        ...     import pyarrow.csv
        ...     options = pyarrow.csv.ParseOptions(delimiter=";")
        ...     return headway.data.read_csv("prices.csv", parse_options=options)
    """
    given = FileArguments(
        filesystem, partition_filter, partitioning, include_paths, ignore_missing_paths, shuffle, file_extensions,
        concurrency, blocks(parallelism, override_num_blocks),
    )  # fmt: skip
    return read("csv", paths, given, **_csv_options.for_plan(read_options, parse_options, convert_options))


@takes_scheduling
def read_json(
    paths: str | Sequence[str],
    *,
    lines: bool = False,
    filesystem: pyarrow.fs.FileSystem | None = None,
    partition_filter: PartitionFilter | None = None,
    partitioning: Partitioning | str | None = "hive",
    include_paths: bool = False,
    ignore_missing_paths: bool = False,
    shuffle: Any = None,
    file_extensions: Sequence[str] | None = None,
    concurrency: int | None = None,
    override_num_blocks: int | None = None,
    parallelism: int = -1,
) -> Dataset:
    """Rows of JSON files: an object a line, or in one list.

    Args:
        paths, filesystem, partition_filter, partitioning, include_paths, ignore_missing_paths,
            shuffle, file_extensions, concurrency, override_num_blocks, parallelism: As for
            :func:`read_parquet`.
        lines: Whether each line is an object; False: the file may be one list, too.

    Example:
        >>> import headway.data
        >>> def events():
        ...     return headway.data.read_json("events.jsonl", lines=True)
    """
    given = FileArguments(
        filesystem, partition_filter, partitioning, include_paths, ignore_missing_paths, shuffle, file_extensions,
        concurrency, blocks(parallelism, override_num_blocks),
    )  # fmt: skip
    return read("json", paths, given, lines=check_bool("lines", lines))


@takes_scheduling
def read_text(
    paths: str | Sequence[str],
    *,
    encoding: str = "utf-8",
    drop_empty_lines: bool = True,
    filesystem: pyarrow.fs.FileSystem | None = None,
    partition_filter: PartitionFilter | None = None,
    partitioning: Partitioning | str | None = None,
    include_paths: bool = False,
    ignore_missing_paths: bool = False,
    shuffle: Any = None,
    file_extensions: Sequence[str] | None = None,
    concurrency: int | None = None,
    override_num_blocks: int | None = None,
    parallelism: int = -1,
) -> Dataset:
    """Lines of text files, in the column ``text``.

    Args:
        paths, filesystem, partition_filter, partitioning, include_paths, ignore_missing_paths,
            shuffle, file_extensions, concurrency, override_num_blocks, parallelism: As for
            :func:`read_parquet`.
        encoding: Of the files.
        drop_empty_lines: Whether empty lines are left out.

    Example:
        >>> import headway.data
        >>> def lines():
        ...     return headway.data.read_text("book.txt")
    """
    given = FileArguments(
        filesystem, partition_filter, partitioning, include_paths, ignore_missing_paths, shuffle, file_extensions,
        concurrency, blocks(parallelism, override_num_blocks),
    )  # fmt: skip
    check_str("encoding", encoding, "an encoding's name")
    empty = check_bool("drop_empty_lines", drop_empty_lines)
    return read("text", paths, given, encoding=encoding, drop_empty_lines=empty)


@takes_scheduling
def read_avro(
    paths: str | Sequence[str],
    *,
    filesystem: pyarrow.fs.FileSystem | None = None,
    partition_filter: PartitionFilter | None = None,
    partitioning: Partitioning | str | None = None,
    include_paths: bool = False,
    ignore_missing_paths: bool = False,
    shuffle: Any = None,
    file_extensions: Sequence[str] | None = None,
    concurrency: int | None = None,
    override_num_blocks: int | None = None,
    parallelism: int = -1,
) -> Dataset:
    """Rows of Avro files, which function workers read with the package ``fastavro``. A file's bytes
    are in memory while its rows are made.

    Args:
        paths, filesystem, partition_filter, partitioning, include_paths, ignore_missing_paths,
            shuffle, file_extensions, concurrency, override_num_blocks, parallelism: As for
            :func:`read_parquet`.

    Raises:
        ModuleNotFoundError: fastavro is not installed.

    Example:
        >>> import headway.data
        >>> def users():
        ...     return headway.data.read_avro("users.avro")
    """
    check_bool("include_paths", include_paths)
    given = FileArguments(
        filesystem, partition_filter, partitioning, True, ignore_missing_paths, shuffle, file_extensions,
        concurrency, blocks(parallelism, override_num_blocks),
    )  # fmt: skip
    check_installed("read_avro", "fastavro")
    rows_of = functools.partial(_avro.rows_of, include_paths=include_paths)
    return read("binary", paths, given).flat_map(rows_of)


@takes_scheduling
def read_orc(
    paths: str | Sequence[str],
    *,
    filesystem: pyarrow.fs.FileSystem | None = None,
    columns: Sequence[str] | None = None,
    partition_filter: PartitionFilter | None = None,
    partitioning: Partitioning | str | None = None,
    include_paths: bool = False,
    ignore_missing_paths: bool = False,
    shuffle: Any = None,
    file_extensions: Sequence[str] | None = None,
    concurrency: int | None = None,
    override_num_blocks: int | None = None,
    parallelism: int = -1,
) -> Dataset:
    """Rows of ORC files.

    Args:
        paths, filesystem, columns, partition_filter, partitioning, include_paths,
            ignore_missing_paths, shuffle, file_extensions, concurrency, override_num_blocks,
            parallelism: As for :func:`read_parquet`.

    Example:
        >>> import headway.data
        >>> def orders():
        ...     return headway.data.read_orc("orders.orc")
    """
    given = FileArguments(
        filesystem, partition_filter, partitioning, include_paths, ignore_missing_paths, shuffle, file_extensions,
        concurrency, blocks(parallelism, override_num_blocks),
    )  # fmt: skip
    return read("orc", paths, given, columns=column_names("columns", columns))

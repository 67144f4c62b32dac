"""Readers of files whose rows are files, arrays or samples."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from headway._values.arguments import check_bool, check_int, check_str, check_texts, refuse
from headway.data import _pickled_arrays
from headway.data._dataset import Dataset
from headway.data._files import FileArguments, PartitionFilter, Partitioning, read
from headway.data._memory import blocks
from headway.data._scheduling import takes_scheduling

if TYPE_CHECKING:
    import pyarrow.fs


@takes_scheduling
def read_binary_files(
    paths: str | Sequence[str],
    *,
    include_paths: bool = False,
    filesystem: pyarrow.fs.FileSystem | None = None,
    partition_filter: PartitionFilter | None = None,
    partitioning: Partitioning | str | None = None,
    ignore_missing_paths: bool = False,
    shuffle: Any = None,
    file_extensions: Sequence[str] | None = None,
    concurrency: int | None = None,
    override_num_blocks: int | None = None,
    parallelism: int = -1,
) -> Dataset:
    """Whole files, each a row, in the column ``bytes``.

    Args:
        paths, filesystem, partition_filter, partitioning, include_paths, ignore_missing_paths,
            shuffle, file_extensions, concurrency, override_num_blocks, parallelism: As for
            :func:`read_parquet`.

    Example:
        >>> import headway.data
        >>> def recordings():
        ...     return headway.data.read_binary_files("recordings", file_extensions=["wav"])
    """
    given = FileArguments(
        filesystem, partition_filter, partitioning, include_paths, ignore_missing_paths, shuffle, file_extensions,
        concurrency, blocks(parallelism, override_num_blocks),
    )  # fmt: skip
    return read("binary", paths, given)


_IMAGES = ("png", "jpg", "jpeg", "tif", "tiff", "bmp", "gif")


@takes_scheduling
def read_images(
    paths: str | Sequence[str],
    *,
    filesystem: pyarrow.fs.FileSystem | None = None,
    size: tuple[int, int] | None = None,
    mode: str | None = None,
    partition_filter: PartitionFilter | None = None,
    partitioning: Partitioning | str | None = None,
    include_paths: bool = False,
    ignore_missing_paths: bool = False,
    shuffle: Any = None,
    file_extensions: Sequence[str] | None = _IMAGES,
    concurrency: int | None = None,
    override_num_blocks: int | None = None,
    parallelism: int = -1,
) -> Dataset:
    """Images, each a row, in the column ``image``: arrays of height, width and colours.

    Args:
        paths, filesystem, partition_filter, partitioning, include_paths, ignore_missing_paths,
            shuffle, file_extensions, concurrency, override_num_blocks, parallelism: As for
            :func:`read_parquet`.
        size: Height and width that every image gets; None: as it is.
        mode: Of the colours, as Pillow names it, such as ``"RGB"``; None: as it is.

    Example:
        >>> import headway.data
        >>> def digits():
        ...     return headway.data.read_images("digits", size=(28, 28), mode="L")
    """
    given = FileArguments(
        filesystem, partition_filter, partitioning, include_paths, ignore_missing_paths, shuffle, file_extensions,
        concurrency, blocks(parallelism, override_num_blocks),
    )  # fmt: skip
    if mode is not None:
        check_str("mode", mode, 'None or a mode of Pillow, such as "RGB"')
    return read("images", paths, given, size=_size(size), mode=mode)


def _size(size: Any) -> list[int] | None:
    if size is None:
        return None
    allowed = "None, or a height and a width above 0"
    if isinstance(size, (str, bytes)) or not isinstance(size, Sequence) or len(size) != 2:
        refuse("size", size, allowed)
    lengths = [check_int("size", each, allowed) for each in size]
    if min(lengths) < 1:
        raise ValueError(f"size is {size}; allowed: {allowed}")
    return lengths


@takes_scheduling
def read_numpy(
    paths: str | Sequence[str],
    *,
    filesystem: pyarrow.fs.FileSystem | None = None,
    partition_filter: PartitionFilter | None = None,
    partitioning: Partitioning | str | None = None,
    include_paths: bool = False,
    ignore_missing_paths: bool = False,
    shuffle: Any = None,
    file_extensions: Sequence[str] | None = ("npy",),
    concurrency: int | None = None,
    override_num_blocks: int | None = None,
    parallelism: int = -1,
    allow_pickle: bool = False,
) -> Dataset:
    """Arrays of ``.npy`` files: each row of them is a row's ``data``.

    Args:
        paths, filesystem, partition_filter, partitioning, include_paths, ignore_missing_paths,
            shuffle, file_extensions, concurrency, override_num_blocks, parallelism: As for
            :func:`read_parquet`.
        allow_pickle: Whether arrays of Python objects are read: unpickling them runs code of their
            files, so they must be trusted. Function workers read whole files then.

    Example:
        >>> import headway.data
        >>> def features():
        ...     return headway.data.read_numpy("features.npy")
    """
    given = FileArguments(
        filesystem, partition_filter, partitioning, include_paths, ignore_missing_paths, shuffle, file_extensions,
        concurrency, blocks(parallelism, override_num_blocks),
    )  # fmt: skip
    if not check_bool("allow_pickle", allow_pickle):
        return read("numpy", paths, given)
    rows_of = functools.partial(_pickled_arrays.rows_of, include_paths=check_bool("include_paths", include_paths))
    files = read("binary", paths, dataclasses.replace(given, include_paths=True))
    return files.map_batches(rows_of, batch_size=1, batch_format="pyarrow")


@takes_scheduling
def read_tfrecords(
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
    """Examples of TFRecord files, with a column for each feature. TensorFlow is not needed.

    Args:
        paths, filesystem, partition_filter, partitioning, include_paths, ignore_missing_paths,
            shuffle, file_extensions, concurrency, override_num_blocks, parallelism: As for
            :func:`read_parquet`.

    Example:
        >>> import headway.data
        >>> def examples():
        ...     return headway.data.read_tfrecords("train.tfrecord")
    """
    given = FileArguments(
        filesystem, partition_filter, partitioning, include_paths, ignore_missing_paths, shuffle, file_extensions,
        concurrency, blocks(parallelism, override_num_blocks),
    )  # fmt: skip
    return read("tfrecord", paths, given)


@takes_scheduling
def read_webdataset(
    paths: str | Sequence[str],
    *,
    filesystem: pyarrow.fs.FileSystem | None = None,
    partition_filter: PartitionFilter | None = None,
    decoder: bool = True,
    suffixes: Sequence[str] | None = None,
    include_paths: bool = False,
    ignore_missing_paths: bool = False,
    shuffle: Any = None,
    file_extensions: Sequence[str] | None = None,
    expand_json: bool = False,
    concurrency: int | None = None,
    override_num_blocks: int | None = None,
    parallelism: int = -1,
) -> Dataset:
    """Samples of tar files in the form of WebDataset, with a column for each suffix.

    Args:
        paths, filesystem, partition_filter, include_paths, ignore_missing_paths, shuffle,
            file_extensions, concurrency, override_num_blocks, parallelism: As for
            :func:`read_parquet`.
        decoder: Whether text and numbers are decoded; False: all columns are bytes.
        suffixes: Only these.
        expand_json: Only False: a function of the rows may parse a sample's JSON.

    Example:
        >>> import headway.data
        >>> def samples():
        ...     return headway.data.read_webdataset("shards", suffixes=["jpg", "cls"])
    """
    given = FileArguments(
        filesystem, partition_filter, None, include_paths, ignore_missing_paths, shuffle, file_extensions,
        concurrency, blocks(parallelism, override_num_blocks),
    )  # fmt: skip
    names = None if suffixes is None else check_texts("suffixes", suffixes, "None or a list of suffixes")
    names = names and [each.removeprefix(".") for each in names]
    options = {"decode": check_bool("decoder", decoder), "expand_json": check_bool("expand_json", expand_json)}
    return read("webdataset", paths, given, suffixes=names, **options)

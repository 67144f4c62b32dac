"""Readers of files whose rows are files, arrays or samples."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from headway._values.arguments import check_bool, check_int, check_str, refuse
from headway.data import _pickled_arrays, _webdataset, _webdataset_archives
from headway.data._dataset import Dataset
from headway.data._files import FileArguments, PartitionFilter, Partitioning, read
from headway.data._locations import of_pyarrow
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
    decoder: Any = True,
    fileselect: Callable[[str], bool] | Sequence[str] | None = None,
    filerename: Callable[[str], str] | Sequence[Callable[[str], str]] | None = None,
    suffixes: Callable[[str], bool] | Sequence[str] | None = None,
    verbose_open: bool = False,
    include_paths: bool = False,
    ignore_missing_paths: bool = False,
    shuffle: Any = None,
    file_extensions: Sequence[str] | None = None,
    expand_json: bool = False,
    concurrency: int | None = None,
    override_num_blocks: int | None = None,
    parallelism: int = -1,
) -> Dataset:
    """Samples of tar files in the form of WebDataset, with a column for each suffix, the sample's
    name in ``__key__`` and its archive in ``__url__``.

    The last part of a suffix says how a file is decoded: ``txt`` and ``text`` are text, ``cls`` and
    ``cls2`` integers, ``jpg``, ``png``, ``ppm``, ``pgm``, ``pbm`` and ``pnm`` arrays of pixels
    (Pillow), ``json`` values, ``npy`` arrays, ``mp`` values (msgpack). ``pickle``, ``pkl``, ``pt``
    and ``pth`` are an error, since unpickling runs code of the archive, unless the environment has
    ``HEADWAY_DATA_WEBDATASET_ALLOW_UNSAFE_DESERIALIZATION=1``. Others are bytes.

    Args:
        paths, filesystem, partition_filter, include_paths, ignore_missing_paths, shuffle,
            file_extensions, concurrency, override_num_blocks, parallelism: As for
            :func:`read_parquet`.
        decoder: True: as above. None or False: all columns are bytes. A function of a sample, or a
            list of these and True, one after the other. ``"PIL"``: the functions after it get
            images of Pillow's; what is still one in the end becomes an array.
        fileselect: Which files are read: a function of names, or a list of names and patterns
            such as ``"*.jpg"``.
        filerename: A function or functions from the names of files to those that are used.
        suffixes: Only these: a list of suffixes and patterns, or a function of suffixes.
        verbose_open: Whether function workers print where they begin and end an archive.
        expand_json: Whether the names in a sample's file ``.json`` become columns.

    Example:
        >>> import headway.data
        >>> def samples():
        ...     return headway.data.read_webdataset("shards", suffixes=["jpg", "cls"])
    """
    given = FileArguments(
        filesystem, partition_filter, None, include_paths, ignore_missing_paths, shuffle, file_extensions,
        concurrency, blocks(parallelism, override_num_blocks),
    )  # fmt: skip
    chosen = _webdataset.patterns("suffixes", suffixes)
    selected = _webdataset.patterns("fileselect", fileselect)
    renames = _renames(filerename)
    decoders = _webdataset.steps("decoder", decoder, formats=("PIL",))
    expand = check_bool("expand_json", expand_json)
    decode = _webdataset.Decode(decoders, expand)
    if not check_bool("verbose_open", verbose_open) and not renames and not selected and _webdataset.are_names(chosen):
        names = None if chosen is None else [each.removeprefix(".") for each in cast("list[str]", chosen)]
        files = read("webdataset", paths, given, suffixes=names, decode=decoder is True)
        return files.map(decode) if decoders or expand else files
    listed = dataclasses.replace(given, include_paths=True)
    places = read("binary", paths, listed, columns=["path"])
    archives = _webdataset_archives.Archives(
        of_pyarrow(filesystem),
        renames,
        selected,
        chosen,
        verbose_open,
        decode,
        check_bool("include_paths", include_paths),
    )
    return places.map_batches(archives, batch_size=1, batch_format="pyarrow")


def _renames(given: Any) -> list[Callable[[str], str]]:
    made = list(given) if isinstance(given, (list, tuple)) else [] if given is None else [given]
    for each in made:
        if not callable(each):
            refuse("filerename", each, "None, a function of names, or a list of such functions")
    return made

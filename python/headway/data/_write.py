"""Data sets written to files."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, cast

from headway._values.arguments import check_bool, check_none_or_above_0, check_str, refuse
from headway._values.log import warn
from headway.data import _client, _locations, _webdataset, _write_options
from headway.data._base import DatasetPart
from headway.data._filenames import NUMBER, FilenameProvider, NamedFile, file_names
from headway.data._images import EncodedImage
from headway.data._scheduling import takes_scheduling
from headway.data._write_python import OtherFolder
from headway.data.expressions import monotonically_increasing_id

if TYPE_CHECKING:
    import pyarrow.csv
    import pyarrow.fs


class SaveMode(str, Enum):
    """What a write does where there are files already.

    Attributes:
        APPEND: Adds files.
        CREATE, ERROR: Raises FileExistsError.
        OVERWRITE: Replaces the folder by what is written, once that is whole.
        IGNORE: Writes nothing.
        UPSERT: Of :meth:`Dataset.write_iceberg` alone: replaces rows of the same keys.

    Example:
        >>> from headway.data import SaveMode
        >>> SaveMode("overwrite")
        <SaveMode.OVERWRITE: 'overwrite'>
    """

    APPEND = "append"
    CREATE = "create"
    OVERWRITE = "overwrite"
    IGNORE = "ignore"
    ERROR = "error"
    UPSERT = "upsert"


@dataclass(frozen=True)
class Place:
    """Where a write goes, as a user has said it.

    Attributes:
        path, filesystem, mode, try_create_dir, filename_provider: As for
        :meth:`Dataset.write_parquet`.
    """

    path: Any
    filesystem: Any
    mode: Any
    try_create_dir: Any = True
    filename_provider: Any = None

    def location(self) -> str | OtherFolder:
        """For the plan, or the folder on a filesystem that exists only in Python.

        Raises:
            FileNotFoundError: it is not there, and may not be made.
        """
        filesystem = _locations.of_pyarrow(self.filesystem)
        found = _locations.location("path", self.path, filesystem)
        other = None
        if _locations.on_python_filesystem(found):
            other = OtherFolder(filesystem, found.partition("://")[2])
        is_there = other.is_there() if other else "://" in found or os.path.isdir(found)
        if not check_bool("try_create_dir", self.try_create_dir) and not is_there:
            raise FileNotFoundError(f"path is {self.path!r}, which is not there, and try_create_dir is False")
        return other or found


class Write(DatasetPart):
    """Data sets written to files."""

    @takes_scheduling
    def write_parquet(
        self,
        path: str,
        *,
        partition_cols: Sequence[str] | None = None,
        filesystem: pyarrow.fs.FileSystem | None = None,
        min_rows_per_file: int | None = None,
        max_rows_per_file: int | None = None,
        num_rows_per_file: int | None = None,
        try_create_dir: bool = True,
        mode: SaveMode | str = SaveMode.APPEND,
        filename_provider: FilenameProvider | None = None,
        compression: str | None = None,
        arrow_parquet_args_fn: Callable[[], Mapping[str, Any]] | None = None,
    ) -> None:
        """Writes Parquet files to a folder.

        Args:
            path: The folder, or a URL.
            partition_cols: Columns whose values become folders such as ``year=2026``.
            filesystem: What ``path`` is on, of ``pyarrow.fs`` or fsspec. Files for one that is not
                local are written to a folder for temporary files, and copied when they are whole: a
                URL, such as ``s3://bucket/rows``, needs no such folder.
            min_rows_per_file: Rows of a file at least, but for the last.
            max_rows_per_file: Rows of a file at most.
            num_rows_per_file: The older name of ``min_rows_per_file``.
            try_create_dir: Whether the folder may be missing, and is made then.
            mode: What to do where there are files already.
            filename_provider: A :class:`headway.data.datasource.FilenameProvider`: names the files,
                whose number is its ``task_index``. Default: names are new ones for each write.
            compression: Such as ``"zstd"``; default: ``"snappy"``.
            arrow_parquet_args_fn: Another way to say it: returns a dict with ``"compression"``.
        """
        columns = _locations.column_names("partition_cols", partition_cols)
        more = _write_options.of_function("arrow_parquet_args_fn", arrow_parquet_args_fn, ("compression",))
        options = {"partition_cols": columns, "compression": compression, **more}
        rows = (min_rows_per_file, max_rows_per_file, num_rows_per_file)
        self._write("parquet", Place(path, filesystem, mode, try_create_dir, filename_provider), rows, options)

    @takes_scheduling
    def write_csv(
        self,
        path: str,
        *,
        filesystem: pyarrow.fs.FileSystem | None = None,
        min_rows_per_file: int | None = None,
        max_rows_per_file: int | None = None,
        num_rows_per_file: int | None = None,
        try_create_dir: bool = True,
        mode: SaveMode | str = SaveMode.APPEND,
        filename_provider: FilenameProvider | None = None,
        write_options: pyarrow.csv.WriteOptions | None = None,
        arrow_csv_args_fn: Callable[[], Mapping[str, Any]] | None = None,
    ) -> None:
        """Writes CSV files, each with the columns' names, to a folder.

        Args:
            path, filesystem, min_rows_per_file, max_rows_per_file, num_rows_per_file,
            try_create_dir, mode, filename_provider: As for :meth:`write_parquet`.
            write_options: ``pyarrow.csv.WriteOptions``: header, delimiter, quotes.
            arrow_csv_args_fn: Another way to say it: returns a dict with ``"write_options"``.
        """
        more = _write_options.of_function("arrow_csv_args_fn", arrow_csv_args_fn, ("write_options",))
        given = more.get("write_options", write_options)
        rows = (min_rows_per_file, max_rows_per_file, num_rows_per_file)
        self._write(
            "csv", Place(path, filesystem, mode, try_create_dir, filename_provider), rows, _write_options.of_csv(given)
        )

    @takes_scheduling
    def write_json(
        self,
        path: str,
        *,
        filesystem: pyarrow.fs.FileSystem | None = None,
        min_rows_per_file: int | None = None,
        max_rows_per_file: int | None = None,
        num_rows_per_file: int | None = None,
        try_create_dir: bool = True,
        mode: SaveMode | str = SaveMode.APPEND,
        filename_provider: FilenameProvider | None = None,
        pandas_json_args_fn: Callable[[], Mapping[str, Any]] | None = None,
        orient: str = "records",
        lines: bool = True,
    ) -> None:
        """Writes files with a JSON object a line to a folder.

        Args:
            path, filesystem, min_rows_per_file, max_rows_per_file, num_rows_per_file,
            try_create_dir, mode, filename_provider: As for :meth:`write_parquet`.
            pandas_json_args_fn: Another way to say ``orient`` and ``lines``.
            orient: Only ``"records"``: a row is an object.
            lines: Only True: an object a line.
        """
        more = _write_options.of_function("pandas_json_args_fn", pandas_json_args_fn, ("orient", "lines"))
        _write_options.check_json(more.get("orient", orient), more.get("lines", lines))
        rows = (min_rows_per_file, max_rows_per_file, num_rows_per_file)
        self._write("json", Place(path, filesystem, mode, try_create_dir, filename_provider), rows, {})

    @takes_scheduling
    def write_orc(
        self,
        path: str,
        *,
        filesystem: pyarrow.fs.FileSystem | None = None,
        min_rows_per_file: int | None = None,
        max_rows_per_file: int | None = None,
        num_rows_per_file: int | None = None,
        try_create_dir: bool = True,
        mode: SaveMode | str = SaveMode.APPEND,
        filename_provider: FilenameProvider | None = None,
    ) -> None:
        """Writes ORC files to a folder.

        Args:
            path, filesystem, min_rows_per_file, max_rows_per_file, num_rows_per_file,
            try_create_dir, mode, filename_provider: As for :meth:`write_parquet`.
        """
        rows = (min_rows_per_file, max_rows_per_file, num_rows_per_file)
        self._write("orc", Place(path, filesystem, mode, try_create_dir, filename_provider), rows, {})

    @takes_scheduling
    def write_numpy(
        self,
        path: str,
        *,
        column: str = "data",
        filesystem: pyarrow.fs.FileSystem | None = None,
        min_rows_per_file: int | None = None,
        max_rows_per_file: int | None = None,
        num_rows_per_file: int | None = None,
        try_create_dir: bool = True,
        mode: SaveMode | str = SaveMode.APPEND,
        filename_provider: FilenameProvider | None = None,
    ) -> None:
        """Writes a column as ``.npy`` files to a folder.

        Args:
            path, filesystem, min_rows_per_file, max_rows_per_file, num_rows_per_file,
            try_create_dir, mode, filename_provider: As for :meth:`write_parquet`.
            column: The column.
        """
        options = {"column": check_str("column", column, "a column's name")}
        rows = (min_rows_per_file, max_rows_per_file, num_rows_per_file)
        self._write("numpy", Place(path, filesystem, mode, try_create_dir, filename_provider), rows, options)

    @takes_scheduling
    def write_tfrecords(
        self,
        path: str,
        *,
        filesystem: pyarrow.fs.FileSystem | None = None,
        min_rows_per_file: int | None = None,
        max_rows_per_file: int | None = None,
        num_rows_per_file: int | None = None,
        try_create_dir: bool = True,
        mode: SaveMode | str = SaveMode.APPEND,
        filename_provider: FilenameProvider | None = None,
    ) -> None:
        """Writes TFRecord files of examples to a folder.

        Args:
            path, filesystem, min_rows_per_file, max_rows_per_file, num_rows_per_file,
            try_create_dir, mode, filename_provider: As for :meth:`write_parquet`.
        """
        rows = (min_rows_per_file, max_rows_per_file, num_rows_per_file)
        self._write("tfrecord", Place(path, filesystem, mode, try_create_dir, filename_provider), rows, {})

    @takes_scheduling
    def write_webdataset(
        self,
        path: str,
        *,
        filesystem: pyarrow.fs.FileSystem | None = None,
        min_rows_per_file: int | None = None,
        max_rows_per_file: int | None = None,
        num_rows_per_file: int | None = None,
        try_create_dir: bool = True,
        mode: SaveMode | str = SaveMode.APPEND,
        filename_provider: FilenameProvider | None = None,
        encoder: Any = True,
    ) -> None:
        """Writes tar files in the form of WebDataset to a folder: a file for each row's column, but
        for those whose names begin with ``__``. The column ``__key__`` names samples; two rows of
        one tar file with one key are an error, for which the keys of a file stay in memory while
        it is written.

        Args:
            path, filesystem, min_rows_per_file, max_rows_per_file, num_rows_per_file,
            try_create_dir, mode, filename_provider: As for :meth:`write_parquet`.
            encoder: True: function workers encode values by the last part of their column's name,
                the counterpart of :func:`read_webdataset`'s decoder; bytes are written as they are.
                None or False: text and bytes are written as they are, other values as JSON. A
                function of a sample, or a list of these and True, one after the other.
        """
        encoders = _webdataset.steps("encoder", encoder, formats=())
        rows = (min_rows_per_file, max_rows_per_file, num_rows_per_file)
        made = cast("Any", self).map(_webdataset.Encode(encoders)) if encoders else self
        made._write("webdataset", Place(path, filesystem, mode, try_create_dir, filename_provider), rows, {})

    @takes_scheduling
    def write_images(
        self,
        path: str,
        column: str,
        file_format: str = "png",
        *,
        filesystem: pyarrow.fs.FileSystem | None = None,
        try_create_dir: bool = True,
        mode: SaveMode | str = SaveMode.APPEND,
        filename_provider: FilenameProvider | None = None,
    ) -> None:
        """Writes each row's image as a file to a folder. Function workers encode, with Pillow.

        Args:
            path, filesystem, try_create_dir, mode: As for :meth:`write_parquet`.
            filename_provider: A :class:`headway.data.datasource.FilenameProvider`: names a file by
                the row's number, or by its values.
            column: The column of arrays: height, width and colours, or height and width.
            file_format: One that Pillow writes, such as ``"png"`` or ``"jpeg"``.

        Raises:
            ModuleNotFoundError: Pillow is not installed.
        """
        encode = EncodedImage(check_str("column", column, "a column's name"), file_format)
        options = {"column": "bytes", "extension": encode.extension}
        place = Place(path, filesystem, mode, try_create_dir)
        names = file_names(filename_provider)
        rows = cast("Any", self)
        if names is None or not names.are_of_rows:
            images = rows.select_columns([column]).map(encode)
            naming = None if names is None else names.of_rows_files
            images._write_files("bytes", place, (None, 1, None), options, naming)
        else:
            images = rows.with_column(NUMBER, monotonically_increasing_id()).map(NamedFile(encode, names))
            images._write_files("bytes", place, (None, 1, None), {**options, "name_column": "name"})

    def _write(self, kind: str, place: Place, rows: tuple[Any, Any, Any], options: dict[str, Any]) -> None:
        names = file_names(place.filename_provider)
        self._write_files(kind, place, rows, options, None if names is None else names.of_files)

    def _write_files(
        self,
        kind: str,
        place: Place,
        rows: tuple[Any, Any, Any],
        options: dict[str, Any],
        names: Callable[[int, int], list[str]] | None = None,
    ) -> None:
        least, most, number = rows
        named = {"min_rows_per_file": least, "max_rows_per_file": most, "num_rows_per_file": number}
        for name, each in named.items():
            check_none_or_above_0(name, each)
        if least is not None and number is not None:
            raise ValueError("num_rows_per_file is given beside min_rows_per_file; allowed: one of them")
        least = number if least is None else least
        if least is not None and most is not None and least > most:
            raise ValueError(f"min_rows_per_file is {least}; allowed: at most max_rows_per_file, which is {most}")
        given = {
            **options,
            "min_rows_per_file": least,
            "max_rows_per_file": most,
            "asks_names": None if names is None else True,
        }
        location, mode = place.location(), save_mode(place.mode)

        def write(path: str, mode: str = "create") -> bool:
            options = {name: value for name, value in given.items() if value is not None}
            arguments = {"format": kind, "path": path, "mode": mode, "options": options}
            answer = _client.run(self._plan.then("write", arguments), self.context, self._plan, names)
            return bool(answer["files"]) or mode == "ignore"

        has_files = write(location, mode) if isinstance(location, str) else location.write(mode, write)
        if not has_files:
            warn(f"{place.path}: there is no file, because the data set that was written has no rows")


_OF_FOLDERS = ("append", "create", "overwrite", "ignore", "error")


def save_mode(given: Any, modes: Sequence[str] = _OF_FOLDERS) -> str:
    """A mode's value. Raises TypeError or ValueError for what is none of ``modes``."""
    allowed = "a SaveMode, or " + ", ".join(f'"{mode}"' for mode in modes)
    value = getattr(given, "value", given)
    if not isinstance(value, str):
        refuse("mode", given, allowed)
    if value not in modes:
        raise ValueError(f"mode is {given!r}; allowed: {allowed}")
    return value

"""Data sets written to files."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any, cast

from headway._values.arguments import check_int, check_str, refuse
from headway.data import _client, _locations
from headway.data._base import DatasetPart
from headway.data._images import EncodedImage

if TYPE_CHECKING:
    import pyarrow.fs


class SaveMode(str, Enum):
    """What a write does where there are files already.

    Attributes:
        APPEND: Adds files.
        CREATE, ERROR: Raises FileExistsError.
        OVERWRITE: Replaces the folder by what is written, once that is whole.
        IGNORE: Writes nothing.

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


class Write(DatasetPart):
    """Data sets written to files."""

    def write_parquet(
        self,
        path: str,
        *,
        partition_cols: Sequence[str] | None = None,
        filesystem: pyarrow.fs.FileSystem | None = None,
        min_rows_per_file: int | None = None,
        max_rows_per_file: int | None = None,
        mode: SaveMode | str = SaveMode.APPEND,
        compression: str | None = None,
    ) -> None:
        """Writes Parquet files to a folder.

        Args:
            path: The folder, or a URL.
            partition_cols: Columns whose values become folders such as ``year=2026``.
            filesystem: A local ``pyarrow.fs`` filesystem; other storage is named by a URL.
            min_rows_per_file: Rows of a file at least, but for the last.
            max_rows_per_file: Rows of a file at most.
            mode: What to do where there are files already.
            compression: Such as ``"zstd"``; default: ``"snappy"``.
        """
        columns = _locations.column_names("partition_cols", partition_cols)
        options = {"partition_cols": columns, "compression": compression}
        self._write("parquet", path, filesystem, mode, min_rows_per_file, max_rows_per_file, options)

    def write_csv(
        self,
        path: str,
        *,
        filesystem: pyarrow.fs.FileSystem | None = None,
        min_rows_per_file: int | None = None,
        max_rows_per_file: int | None = None,
        mode: SaveMode | str = SaveMode.APPEND,
    ) -> None:
        """Writes CSV files, each with the columns' names, to a folder.

        Args:
            path, filesystem, min_rows_per_file, max_rows_per_file, mode: As for
            :meth:`write_parquet`.
        """
        self._write("csv", path, filesystem, mode, min_rows_per_file, max_rows_per_file, {})

    def write_json(
        self,
        path: str,
        *,
        filesystem: pyarrow.fs.FileSystem | None = None,
        min_rows_per_file: int | None = None,
        max_rows_per_file: int | None = None,
        mode: SaveMode | str = SaveMode.APPEND,
    ) -> None:
        """Writes files with a JSON object a line to a folder.

        Args:
            path, filesystem, min_rows_per_file, max_rows_per_file, mode: As for
            :meth:`write_parquet`.
        """
        self._write("json", path, filesystem, mode, min_rows_per_file, max_rows_per_file, {})

    def write_orc(
        self,
        path: str,
        *,
        filesystem: pyarrow.fs.FileSystem | None = None,
        min_rows_per_file: int | None = None,
        max_rows_per_file: int | None = None,
        mode: SaveMode | str = SaveMode.APPEND,
    ) -> None:
        """Writes ORC files to a folder.

        Args:
            path, filesystem, min_rows_per_file, max_rows_per_file, mode: As for
            :meth:`write_parquet`.
        """
        self._write("orc", path, filesystem, mode, min_rows_per_file, max_rows_per_file, {})

    def write_numpy(
        self,
        path: str,
        *,
        column: str = "data",
        filesystem: pyarrow.fs.FileSystem | None = None,
        min_rows_per_file: int | None = None,
        max_rows_per_file: int | None = None,
        mode: SaveMode | str = SaveMode.APPEND,
    ) -> None:
        """Writes a column as ``.npy`` files to a folder.

        Args:
            path, filesystem, min_rows_per_file, max_rows_per_file, mode: As for
                :meth:`write_parquet`.
            column: The column.
        """
        options = {"column": check_str("column", column, "a column's name")}
        self._write("numpy", path, filesystem, mode, min_rows_per_file, max_rows_per_file, options)

    def write_tfrecords(
        self,
        path: str,
        *,
        filesystem: pyarrow.fs.FileSystem | None = None,
        min_rows_per_file: int | None = None,
        max_rows_per_file: int | None = None,
        mode: SaveMode | str = SaveMode.APPEND,
    ) -> None:
        """Writes TFRecord files of examples to a folder.

        Args:
            path, filesystem, min_rows_per_file, max_rows_per_file, mode: As for
            :meth:`write_parquet`.
        """
        self._write("tfrecord", path, filesystem, mode, min_rows_per_file, max_rows_per_file, {})

    def write_webdataset(
        self,
        path: str,
        *,
        filesystem: pyarrow.fs.FileSystem | None = None,
        min_rows_per_file: int | None = None,
        max_rows_per_file: int | None = None,
        mode: SaveMode | str = SaveMode.APPEND,
    ) -> None:
        """Writes tar files in the form of WebDataset to a folder.

        Args:
            path, filesystem, min_rows_per_file, max_rows_per_file, mode: As for
            :meth:`write_parquet`.
        """
        self._write("webdataset", path, filesystem, mode, min_rows_per_file, max_rows_per_file, {})

    def write_images(
        self,
        path: str,
        column: str,
        file_format: str = "png",
        *,
        filesystem: pyarrow.fs.FileSystem | None = None,
        mode: SaveMode | str = SaveMode.APPEND,
    ) -> None:
        """Writes each row's image as a file to a folder. Function workers encode, with Pillow.

        Args:
            path, filesystem, mode: As for :meth:`write_parquet`.
            column: The column of arrays: height, width and colours, or height and width.
            file_format: One that Pillow writes, such as ``"png"`` or ``"jpeg"``.

        Raises:
            ModuleNotFoundError: Pillow is not installed.
        """
        encode = EncodedImage(check_str("column", column, "a column's name"), file_format)
        images = cast("Any", self).select_columns([column]).map(encode)
        images._write("bytes", path, filesystem, mode, None, 1, {"column": "bytes", "extension": encode.extension})

    def _write(
        self, kind: str, path: Any, filesystem: Any, mode: Any, least: Any, most: Any, options: dict[str, Any]
    ) -> None:
        for name, rows in (("min_rows_per_file", least), ("max_rows_per_file", most)):
            if rows is not None and check_int(name, rows, "None or an integer above 0") < 1:
                raise ValueError(f"{name} is {rows}; allowed: None or an integer above 0")
        if least is not None and most is not None and least > most:
            raise ValueError(f"min_rows_per_file is {least}; allowed: at most max_rows_per_file, which is {most}")
        given = {**options, "min_rows_per_file": least, "max_rows_per_file": most}
        arguments = {
            "format": kind,
            "path": _locations.location("path", path, filesystem),
            "mode": save_mode(mode),
            "options": {name: value for name, value in given.items() if value is not None},
        }
        _client.run(self._plan.then("write", arguments), self.context, self._plan)


def save_mode(given: Any) -> str:
    """A mode's value. Raises TypeError or ValueError for what is none."""
    modes = ", ".join(f'"{mode.value}"' for mode in SaveMode)
    value = getattr(given, "value", given)
    if not isinstance(value, str):
        refuse("mode", given, f"a SaveMode, or {modes}")
    if value not in [mode.value for mode in SaveMode]:
        raise ValueError(f"mode is {given!r}; allowed: a SaveMode, or {modes}")
    return value

"""The names of the files of a write, by a class of the user's."""

from __future__ import annotations

import inspect
import os
import uuid
from collections.abc import Callable, Mapping
from typing import Any

from headway._values.arguments import check_str, is_utf8, refuse
from headway._values.named_arguments import offer

#: The column with the rows' numbers, while images are written that a row's values name.
NUMBER = "__headway_row"
#: monotonically_increasing_id(): the unit, and below it the row within the unit.
_ROW_BITS = 33


class FilenameProvider:
    """Names the files of a write: for ``filename_provider=`` of the methods that write files.

    A subclass has a method :meth:`get_filename_for_task`. Names are different from file to file,
    the same for the same arguments, and have no folder. A write that adds to a folder needs new
    ones: put ``write_uuid`` into them.

    Args:
        dataset_uuid: Names begin with it.
        file_format: They end with it, such as ``"parquet"``.

    Example:
        >>> from headway.data.datasource import FilenameProvider
        >>> FilenameProvider("cats", "png").get_filename_for_task("5d3f", 2)
        'cats_5d3f_000002.png'
    """

    def __init__(self, dataset_uuid: str | None = None, file_format: str | None = None):
        for name, value in (("dataset_uuid", dataset_uuid), ("file_format", file_format)):
            if value is not None:
                check_str(name, value, "None or text")
        self.dataset_uuid = dataset_uuid
        self.file_format = file_format

    def get_filename_for_task(self, write_uuid: str, task_index: int) -> str:
        """The name of a file.

        Args:
            write_uuid: Different for each write.
            task_index: The file's number, from 0 on.
        """
        begin = "" if self.dataset_uuid is None else f"{self.dataset_uuid}_"
        end = "" if self.file_format is None else f".{self.file_format}"
        return f"{begin}{write_uuid}_{task_index:06}{end}"

    def get_filename_for_block(self, block: Any, write_uuid: str, task_index: int, block_index: int) -> str:
        """The older method, which is called where a subclass has it in place of
        :meth:`get_filename_for_task`; also without ``write_uuid``.

        Args:
            block: None: names do not depend on rows.
            write_uuid, task_index: As for :meth:`get_filename_for_task`.
            block_index: 0.
        """
        return self.get_filename_for_task(write_uuid, task_index)

    def get_filename_for_row(
        self, row: dict[str, Any], write_uuid: str, task_index: int, block_index: int, row_index: int
    ) -> str:
        """The older method for a file a row, which is called where a subclass has it in place of
        :meth:`get_filename_for_task`; also without ``write_uuid``. The name of a task's file has
        the numbers of block and row behind it otherwise.

        Args:
            row: The row's values.
            write_uuid: Different for each write.
            task_index: The number of the piece that the row is in.
            block_index: 0.
            row_index: The number of the row in its piece.
        """
        return _with_numbers(self.get_filename_for_task(write_uuid, task_index), block_index, row_index)


offer(globals(), ["FilenameProvider"], place="headway.data.datasource")


class FileNames:
    """What a provider calls the files of one write.

    Args:
        provider: It.

    Attributes:
        are_of_rows: Whether the values of rows name their files, where each row is one.
    """

    def __init__(self, provider: FilenameProvider):
        self._provider = provider
        self._write = uuid.uuid4().hex
        self.are_of_rows = not self._has("get_filename_for_task") and self._has("get_filename_for_row")
        self._is_by_block = not self._has("get_filename_for_task") and self._has("get_filename_for_block")

    def of_files(self, first: int, count: int) -> list[str]:
        """The names of so many files, from the file ``first`` on."""
        return [self._of_task(number) for number in range(first, first + count)]

    def of_rows_files(self, first: int, count: int) -> list[str]:
        """As :meth:`of_files`, where each row is a file."""
        task = self._of_task(0)
        return [_with_numbers(task, 0, number) for number in range(first, first + count)]

    def of_row(self, row: dict[str, Any], number: int) -> str:
        """The name of a row's file.

        Args:
            row: Its values.
            number: As monotonically_increasing_id() gives it.
        """
        piece, place = number >> _ROW_BITS, number & (2**_ROW_BITS - 1)
        return self._called("get_filename_for_row", row, self._write, piece, 0, place)

    def _of_task(self, number: int) -> str:
        if self._is_by_block:
            return self._called("get_filename_for_block", None, self._write, number, 0)
        return self._called("get_filename_for_task", self._write, number)

    def _has(self, method: str) -> bool:
        return getattr(type(self._provider), method) is not getattr(FilenameProvider, method)

    def _called(self, method: str, *arguments: Any) -> str:
        function = getattr(self._provider, method)
        try:
            inspect.signature(function).bind(*arguments)
        except TypeError:  # Of the time before writes had ids.
            arguments = tuple(each for each in arguments if each is not self._write)
        name = function(*arguments)
        if not isinstance(name, str) or not is_utf8(name):
            refuse(f"what {method}() of filename_provider returned", name, "a file's name, which is text (UTF-8)")
        return name


class NamedFile:
    """A function of rows: what another one makes of a row's values, and the row's file's name.

    Args:
        encode: The other one.
        names: Gives the name by the row's values and its number, which is in the column ``NUMBER``.
    """

    def __init__(self, encode: Callable[[dict[str, Any]], Mapping[str, Any]], names: FileNames):
        self._encode = encode
        self._names = names
        self.__name__ = encode.__name__

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        """The row's file, and its name."""
        number = int(row.pop(NUMBER))
        return {**self._encode(row), "name": self._names.of_row(row, number)}


def file_names(given: Any) -> FileNames | None:
    """The names of a write's files; None: they are those of the write.

    Raises:
        TypeError: it is no FilenameProvider.
    """
    if given is not None and not isinstance(given, FilenameProvider):
        refuse("filename_provider", given, "None or a headway.data.datasource.FilenameProvider")
    return None if given is None else FileNames(given)


def _with_numbers(name: str, block: int, row: int) -> str:
    begin, end = os.path.splitext(name)
    return f"{begin}_{block:06}_{row:06}{end}"

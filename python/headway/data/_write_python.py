"""Files that are written to filesystems that exist only in Python."""

from __future__ import annotations

import contextlib
import os
import shutil
import uuid
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from headway._storage.python_files import PythonFiles
from headway._worker.functions import whole_folder
from headway.data import _scratch

if TYPE_CHECKING:
    import pyarrow.fs


class OtherFolder:
    """A folder on such a filesystem.

    Args:
        filesystem: One of ``pyarrow.fs``.
        path: The folder's on it.
    """

    def __init__(self, filesystem: pyarrow.fs.FileSystem, path: str):
        self._files = PythonFiles(filesystem)
        self._path = path

    def is_there(self) -> bool:
        """Whether the folder exists."""
        try:
            self._files.info(self._path)
        except FileNotFoundError:
            return False
        return True

    def write(self, mode: str, write: Callable[[str], bool]) -> bool:
        """Has files written to a scratch folder, and copies them when they are whole. A failure
        leaves none of them.

        Args:
            mode: What to do where there are files already: a value of ``SaveMode``.
            write: Writes to a local folder, and says whether there is a file. False: nothing is
                copied.

        Returns:
            Whether there is a file; True for what the mode lets be.

        Raises:
            FileExistsError: there are files already, or one with the name of a new one.
        """
        before = {name for name, is_folder, _ in self._files.list(self._path, recursive=True) if not is_folder}
        if before and mode in ("create", "error"):
            raise FileExistsError(f"cannot write to {self._path}: there are files")
        if before and mode == "ignore":
            return True
        with _scratch_folder() as folder:
            has_files = write(folder)
            new = _files_below(folder)
            taken = sorted(before.intersection(new)) if mode != "overwrite" else []
            if taken:
                raise FileExistsError(f"cannot write to {self._path}: {taken[0]} is there already")
            self._copy(folder, new)
        if mode == "overwrite":
            for name in sorted(before.difference(new)):
                self._files.remove_file(self._place(name))
        return has_files

    def _copy(self, folder: str, names: list[str]) -> None:
        try:
            for name in sorted({os.path.dirname(name) for name in names}):
                self._files.make_directory(self._place(name))
            for name in names:
                there = self._files.open_writer(self._place(name))
                with open(os.path.join(folder, name), "rb") as here, there:
                    shutil.copyfileobj(here, there, 4 << 20)
        except BaseException:
            for name in names:
                with contextlib.suppress(Exception):
                    self._files.remove_file(self._place(name))
            raise

    def _place(self, name: str) -> str:
        return f"{self._path.rstrip('/')}/{name}" if name else self._path


@contextlib.contextmanager
def _scratch_folder() -> Iterator[str]:
    """A folder that goes with the block. What a killed process leaves is removed by the next
    operation that has one.
    """
    folder = os.path.join(_scratch.folder(), f"whole-{uuid.uuid4().hex}")
    try:
        with whole_folder.locked(folder):
            yield os.path.join(folder, "rows")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _files_below(folder: str) -> list[str]:
    return sorted(
        os.path.relpath(os.path.join(place, name), folder) for place, _, names in os.walk(folder) for name in names
    )

"""Any ``pyarrow.fs.FileSystem`` with the few methods that the core asks of a filesystem."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow.fs

# Object stores have no directories: making one costs a request and leaves an empty object.
_WITHOUT_DIRECTORIES = {"s3", "gcs", "abfs"}


class PythonFiles:
    """What ``src/bindings/python_files.cpp`` calls, from several threads at once. Paths are the
    filesystem's own.

    An entry is ``(name, is a directory, size in bytes)``; the name is relative to the directory
    that was listed.
    """

    def __init__(self, filesystem: pyarrow.fs.FileSystem):
        self._filesystem = filesystem
        self._kind = filesystem.type_name

    def shown(self, path: str) -> str:
        """A path as people know it."""
        return f"{path} on the {self._kind} filesystem"

    def info(self, path: str) -> tuple[str, bool, int]:
        """What lies at ``path``. Raises FileNotFoundError when nothing does."""
        info = self._filesystem.get_file_info(path)
        if self._is_missing(info):
            raise FileNotFoundError(f"there is nothing at {path}")
        return ("", *_kind_and_size(info))

    def list(self, path: str, recursive: bool) -> list[tuple[str, bool, int]]:
        """What lies in a directory, or all below it; nothing where there is none."""
        from pyarrow.fs import FileSelector

        infos = self._filesystem.get_file_info(FileSelector(path, allow_not_found=True, recursive=recursive))
        # Some filesystems answer with a "/" before the path that was not in the question.
        base = path.strip("/")
        return [(info.path.lstrip("/").removeprefix(base).lstrip("/"), *_kind_and_size(info)) for info in infos]

    def open_reader(self, path: str) -> Any:
        """A stream with ``read(n)`` and ``close()``."""
        return self._filesystem.open_input_stream(path, compression=None)

    def open_random(self, path: str) -> Any:
        """A file with ``size()``, ``read_at(n, offset)`` and ``close()``."""
        return self._filesystem.open_input_file(path)

    def open_writer(self, path: str) -> Any:
        """A stream with ``write(bytes)``, ``flush()`` and ``close()``."""
        return self._filesystem.open_output_stream(path, compression=None)

    def make_directory(self, path: str) -> None:
        """With those above it; nothing where there are no directories."""
        if self._kind not in _WITHOUT_DIRECTORIES:
            self._filesystem.create_dir(path, recursive=True)

    def remove_file(self, path: str) -> None:
        """Nothing happens when it is not there."""
        if not self._is_missing(self._filesystem.get_file_info(path)):
            self._filesystem.delete_file(path)

    def remove_tree(self, path: str) -> None:
        """A file, or a directory with all below it; nothing happens when it is not there."""
        from pyarrow.fs import FileType

        info = self._filesystem.get_file_info(path)
        if self._is_missing(info):
            return
        if info.type == FileType.Directory:
            self._filesystem.delete_dir(path)
        else:
            self._filesystem.delete_file(path)

    @staticmethod
    def _is_missing(info: pyarrow.fs.FileInfo) -> bool:
        from pyarrow.fs import FileType

        return info.type == FileType.NotFound


def _kind_and_size(info: pyarrow.fs.FileInfo) -> tuple[bool, int]:
    from pyarrow.fs import FileType

    directory = info.type == FileType.Directory
    return directory, 0 if directory else int(info.size or 0)

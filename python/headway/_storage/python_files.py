"""Any ``pyarrow.fs.FileSystem`` with the few methods that the core asks of a filesystem."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

if TYPE_CHECKING:
    import pyarrow.fs

# Object stores have no directories: making one costs a request and leaves an empty object.
_WITHOUT_DIRECTORIES = {"s3", "gcs", "abfs"}
_OF_GOOGLE = ("gs", "gcs")


class PythonFiles:
    """What ``src/bindings/python_files.cpp`` calls, from several threads at once. Paths are the
    filesystem's own.

    An entry is ``(name, is a directory, size in bytes)``; the name is relative to the directory
    that was listed.
    """

    def __init__(self, filesystem: pyarrow.fs.FileSystem):
        self._filesystem = filesystem
        self._kind = filesystem.type_name

    def path_of(self, location: str) -> str:
        """The path that a location on this filesystem stands for."""
        path = location.partition("://")[2]
        return path.rstrip("/") or path[:1]

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

        deep = recursive or not _lists_directories(self._filesystem)
        infos = self._filesystem.get_file_info(FileSelector(path, allow_not_found=True, recursive=deep))
        # Some filesystems answer with a "/" before the path that was not in the question.
        base = path.strip("/")
        entries = [(info.path.lstrip("/").removeprefix(base).lstrip("/"), *_kind_and_size(info)) for info in infos]
        return entries if deep == recursive else _first_level(entries)

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


class UrlFiles(PythonFiles):
    """The filesystem of a URL, as pyarrow has it.

    Args:
        url: Any URL on it.

    Raises:
        ValueError: pyarrow takes no such URL. OSError: what pyarrow asked the network for did not
            come.
    """

    def __init__(self, url: str):
        from pyarrow.fs import FileSystem

        self._scheme, place, _, query = _parts(url)
        if self._scheme in _OF_GOOGLE and "retry_limit_seconds=" not in query:
            # Google's library tries for a quarter of an hour by itself: no error would come within
            # seconds when storage cannot be reached.
            query = f"{query}&retry_limit_seconds=5".lstrip("&")
        filesystem, root = FileSystem.from_uri(f"{self._scheme}://{place}/{query and '?'}{query}")
        super().__init__(filesystem)
        #: The path of the URL without a path: the bucket.
        self._root = root.rstrip("/")

    def path_of(self, location: str) -> str:
        """The path that a URL on this filesystem stands for."""
        path = unquote(_parts(location)[2]).rstrip("/")
        return f"{self._root}{path}" or "/"

    def shown(self, path: str) -> str:
        """A path as people know it."""
        return f"{self._scheme}://{path}"


def _parts(url: str) -> tuple[str, str, str, str]:
    """Scheme, place (with user and port), path from its slash on, and query of a URL."""
    scheme, _, rest = url.partition("://")
    rest, _, query = rest.partition("?")
    place, slash, path = rest.partition("/")
    return scheme, place, slash + path, query


def _lists_directories(filesystem: pyarrow.fs.FileSystem) -> bool:
    """Google's store answers with the names of folders, which Arrow leaves out of what lies in a
    folder.
    """
    from pyarrow.fs import SubTreeFileSystem

    while isinstance(filesystem, SubTreeFileSystem):
        filesystem = filesystem.base_fs
    return bool(filesystem.type_name != "gcs")


def _first_level(entries: list[tuple[str, bool, int]]) -> list[tuple[str, bool, int]]:
    """Of what lies below a directory: what lies in it, each folder once."""
    files = [entry for entry in entries if not entry[1] and "/" not in entry[0]]
    folders = {name.partition("/")[0] for name, is_directory, _ in entries if is_directory or "/" in name}
    return files + [(name, True, 0) for name in sorted(folders)]


def _kind_and_size(info: pyarrow.fs.FileInfo) -> tuple[bool, int]:
    from pyarrow.fs import FileType

    directory = info.type == FileType.Directory
    return directory, 0 if directory else int(info.size or 0)

"""A filesystem that exists only in Python, for the data process, which has none: a function worker
answers its questions. The other end is ``src/flow/functions/python_filesystem.cpp``.
"""

from __future__ import annotations

import collections
import contextlib
from typing import TYPE_CHECKING, Any

from headway._storage.python_files import PythonFiles

if TYPE_CHECKING:
    import pyarrow

# A worker keeps so many files open, those that were read last.
_OPEN_MAX = 8


class ServedFiles:
    """Answers one question at a time: a table of one row with ``what``, ``path``, ``offset`` and
    ``bytes``.

    An answer has a row for each entry (``name``, ``directory``, ``size``), or one with ``data``; an
    exception is one with ``classes``, its words in ``name`` and its errno in ``size``.

    Args:
        filesystem: A ``pyarrow.fs.FileSystem``.
    """

    def __init__(self, filesystem: Any):
        self._filesystem = filesystem
        self._files = PythonFiles(filesystem)
        self._open: collections.OrderedDict[str, Any] = collections.OrderedDict()

    def __reduce__(self) -> tuple[Any, ...]:
        return ServedFiles, (self._filesystem,)

    def __call__(self, questions: pyarrow.Table) -> pyarrow.Table:
        """The answer to the one question."""
        (question,) = questions.to_pylist()
        path = question["path"]
        try:
            if question["what"] == "read":
                return _answer([{"data": self._read(path, question["offset"], question["bytes"])}])
            return _answer([_row(entry) for entry in self._entries(question["what"], path)])
        except Exception as error:
            self._forget(path)
            words = f"{type(error).__name__}: {error}"
            code = getattr(error, "errno", None) or 0
            return _answer([{"classes": [each.__name__ for each in type(error).__mro__], "name": words, "size": code}])

    def _entries(self, what: str, path: str) -> list[tuple[str, bool, int]]:
        if what == "info":
            return [self._files.info(path)]
        if what == "open":
            return [("", False, self._file(path).size())]
        return self._files.list(path, recursive=what == "list_all")

    def _read(self, path: str, offset: int, count: int) -> bytes:
        data: bytes = self._file(path).read_at(count, offset)
        return data

    def _file(self, path: str) -> Any:
        """An open file; the one that was read longest ago is closed for it."""
        file = self._open.pop(path, None)
        if file is None:
            file = self._files.open_random(path)
        self._open[path] = file
        if len(self._open) > _OPEN_MAX:
            self._forget(next(iter(self._open)))
        return file

    def _forget(self, path: str) -> None:
        file = self._open.pop(path, None)
        if file is not None:
            with contextlib.suppress(Exception):
                file.close()


def _row(entry: tuple[str, bool, int]) -> dict[str, Any]:
    return dict(zip(("name", "directory", "size"), entry, strict=True))


def _answer(rows: list[dict[str, Any]]) -> pyarrow.Table:
    import pyarrow as pa

    schema = pa.schema(
        {
            "classes": pa.list_(pa.string()),
            "name": pa.string(),
            "directory": pa.bool_(),
            "size": pa.int64(),
            "data": pa.binary(),
        }
    )
    return pa.Table.from_pylist([{name: row.get(name) for name in schema.names} for row in rows], schema)

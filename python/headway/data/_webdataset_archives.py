"""Archives of WebDataset whose files functions choose and name: function workers read them."""

from __future__ import annotations

import re
import tarfile
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from headway._storage import locations
from headway.data._webdataset import Decode, is_chosen

if TYPE_CHECKING:
    import pyarrow

#: Of the samples that are a batch together.
_BATCH_BYTES = 4 << 20
_NAME = re.compile(r"((?:.*/)?[^./][^./]*)[.]([^/]*)", re.DOTALL)


class Archives:
    """A function of a table with the column ``path``: the samples of these archives.

    Args:
        filesystem: Of ``pyarrow.fs``, where they are; None: their paths and URLs say where.
        renames: Functions of a file's name, which come first.
        fileselect: A function or patterns for files' names.
        suffixes: A function or patterns for suffixes.
        verbose_open: Whether to print where an archive begins and ends.
        decode: What is done to each sample.
        include_paths: Whether ``path`` is repeated in each row.
    """

    def __init__(
        self,
        filesystem: Any,
        renames: list[Callable[[str], str]],
        fileselect: Any,
        suffixes: Any,
        verbose_open: bool,
        decode: Decode,
        include_paths: bool,
    ):
        self._filesystem = filesystem
        self._renames = renames
        self._fileselect = fileselect
        self._suffixes = suffixes
        self._verbose_open = verbose_open
        self._decode = decode
        self._include_paths = include_paths
        self.__name__ = "read_webdataset"

    def __call__(self, archives: pyarrow.Table) -> Iterator[dict[str, list[Any]]]:
        """Batches of samples.

        Raises:
            ValueError: a file is no archive, or one of other samples; it is named.
        """
        for path in archives["path"].to_pylist():
            if self._verbose_open:
                print(f"start {path}", flush=True)
            rows: list[dict[str, Any]] = []
            size = 0
            for sample in self._samples(path):
                size += sum(len(value) for value in sample.values())
                rows.append({**self._decode(sample), **({"path": path} if self._include_paths else {})})
                if size >= _BATCH_BYTES:
                    yield _columns(rows)
                    rows, size = [], 0
            if rows:
                yield _columns(rows)
            if self._verbose_open:
                print(f"done {path}", flush=True)

    def _samples(self, path: str) -> Iterator[dict[str, Any]]:
        seen: set[str] = set()
        sample: dict[str, Any] = {}
        for name, content in self._files(path):
            parts = _NAME.fullmatch(name)
            if parts is None:
                continue
            key, suffix = parts.groups()
            if sample.get("__key__") != key:
                if sample:
                    yield {**sample, "__url__": path}
                if key in seen:
                    raise ValueError(
                        f"{path}: the files of the sample {key} are not all next to each other in the archive; "
                        "tar --sort=name makes one in which they are"
                    )
                seen.add(key)
                sample = {"__key__": key}
            if suffix in sample:
                raise ValueError(f"{path}: the sample {key} has two files .{suffix}")
            if is_chosen(suffix, self._suffixes):
                sample[suffix] = content
        if sample:
            yield {**sample, "__url__": path}

    def _files(self, path: str) -> Iterator[tuple[str, bytes]]:
        filesystem, place = self._filesystem, path
        if filesystem is None:
            place, filesystem = locations.split(path)
        try:
            with (
                filesystem.open_input_stream(place, compression=None) as stream,
                tarfile.open(fileobj=stream, mode="r|*") as archive,
            ):
                for member in archive:
                    name = member.name
                    file = archive.extractfile(member) if member.isreg() else None
                    if file is None:
                        continue
                    for rename in self._renames:
                        name = rename(name)
                    if not isinstance(name, str):
                        raise TypeError(f"filerename gave {name!r:.50} ({type(name).__name__}); a name is text")
                    if is_chosen(name, self._fileselect):
                        yield name, file.read()
        except tarfile.TarError as error:
            raise ValueError(f"{path}: it is no tar archive that can be read: {error}") from error


def _columns(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """A sample may lack files that others have."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}

"""What lies at paths and URLs, read by function workers."""

from __future__ import annotations

import concurrent.futures
import http.client
import os
import urllib.request
from typing import Any

from headway._storage import locations
from headway._values.arguments import refuse

#: Reads that wait at a time in one worker.
_AT_ONCE = 16
#: A server that says nothing for so many seconds has no content.
_ANSWER_S = 60


class Download:
    """A function of a column of paths and URLs: their contents.

    Args:
        filesystem: Where all of them are; None: their schemes say where.
    """

    def __init__(self, filesystem: Any):
        if filesystem is not None and not hasattr(filesystem, "open_input_stream") and not hasattr(filesystem, "open"):
            refuse("filesystem", filesystem, "None, a pyarrow.fs.FileSystem, or a filesystem of fsspec")
        self._filesystem = filesystem
        self.__name__ = "download"

    def __call__(self, column: Any) -> Any:
        """Bytes; missing where there is no path, or what is there cannot be read."""
        import pyarrow as pa

        types = pa.types
        if not any(of(column.type) for of in (types.is_string, types.is_large_string, types.is_null)):
            raise TypeError(f"download() of a column of the type {column.type}; allowed: text")
        with concurrent.futures.ThreadPoolExecutor(_AT_ONCE) as readers:
            return pa.array(readers.map(self._content, column.to_pylist()), pa.binary())

    def _content(self, place: str | None) -> bytes | None:
        if place is None:
            return None
        try:
            return self._read(place)
        except (OSError, ValueError, http.client.HTTPException):
            return None

    def _read(self, place: str) -> bytes:
        if self._filesystem is not None:
            opened = getattr(self._filesystem, "open_input_stream", None) or self._filesystem.open
            with opened(place) as file:
                return bytes(file.read())
        if place.startswith(("http://", "https://")):
            with urllib.request.urlopen(place, timeout=_ANSWER_S) as answer:
                return bytes(answer.read())
        found = locations.location_of(place)
        if locations.is_remote(found):
            return locations.read_file(found)
        with open(os.path.expanduser(locations.local_path(found)), "rb") as file:
            return file.read()

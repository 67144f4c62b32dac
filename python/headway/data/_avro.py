"""Avro, which Arrow does not read: function workers read its files with fastavro."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any


def rows_of(file: dict[str, Any], *, include_paths: bool) -> Iterator[dict[str, Any]]:
    """The rows of a whole file.

    Args:
        file: Its content under ``bytes``, and where it is under ``path``. Other values are repeated
            in each row.
        include_paths: Whether ``path`` is repeated, too.

    Raises:
        ValueError: the file is no Avro, or is cut off; its path is named.
    """
    import fastavro

    content, path = file.pop("bytes"), file.pop("path")
    beside = {**file, "path": path} if include_paths else file
    rows = 0
    try:
        for row in fastavro.reader(io.BytesIO(content)):
            made = {**row, **beside}
            rows += 1
            yield made
    except Exception as error:
        words = str(error) or type(error).__name__
        raise ValueError(f"{path}, after {rows} rows: no Avro that can be read: {words}") from error

"""Avro, which Arrow does not read: function workers read its files with fastavro."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow


def rows_of(files: pyarrow.Table, *, include_paths: bool) -> pyarrow.Table:
    """The rows of whole files.

    Args:
        files: Their contents in the column ``bytes``, and where they are in ``path``. Other columns
            are repeated in each row of their file.
        include_paths: Whether ``path`` is repeated, too.

    Raises:
        ValueError: a file is no Avro, or is cut off; its path is named.
    """
    import fastavro
    import pyarrow

    rows: list[dict[str, Any]] = []
    for file in files.to_pylist():
        content, path = file.pop("bytes"), file.pop("path")
        beside = {**file, "path": path} if include_paths else file
        begin = len(rows)
        try:
            rows.extend({**row, **beside} for row in fastavro.reader(io.BytesIO(content)))
        except Exception as error:
            words = str(error) or type(error).__name__
            raise ValueError(f"{path}, after {len(rows) - begin} rows: no Avro that can be read: {words}") from error
    return pyarrow.Table.from_pylist(rows)

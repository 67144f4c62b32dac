"""Avro, which Arrow does not read: function workers read its files with fastavro."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow


def rows_of(files: pyarrow.Table) -> pyarrow.Table:
    """The rows of whole files.

    Args:
        files: Their contents in the column ``bytes``; the column ``path``, if there is one, is
            repeated in each row of its file.
    """
    import fastavro
    import pyarrow

    rows: list[dict[str, Any]] = []
    for file in files.to_pylist():
        content = file.pop("bytes")
        rows += [{**row, **file} for row in fastavro.reader(io.BytesIO(content))]
    return pyarrow.Table.from_pylist(rows)

"""Files of numpy's whose arrays hold objects: function workers unpickle them."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import pyarrow


def rows_of(files: pyarrow.Table, *, include_paths: bool) -> Iterator[dict[str, Any]]:
    """The arrays of whole files, each a batch with the column ``data``.

    Args:
        files: Their contents in the column ``bytes``, and where they are in ``path``. Other columns
            are repeated in each row of their file.
        include_paths: Whether ``path`` is repeated, too.

    Raises:
        ValueError: a file is no array of rows; its path is named.
    """
    for file in files.to_pylist():
        content, path = file.pop("bytes"), file.pop("path")
        beside = {**file, "path": path} if include_paths else file
        values = _array(content, path)
        yield {"data": values, **{name: [value] * len(values) for name, value in beside.items()}}


def _array(content: bytes, path: str) -> np.ndarray:
    import numpy as np

    try:
        made = np.load(io.BytesIO(content), allow_pickle=True)
    except Exception as error:
        raise ValueError(f"{path}: no array that can be read: {str(error) or type(error).__name__}") from error
    if not isinstance(made, np.ndarray) or made.ndim == 0:
        raise ValueError(f"{path}: no array with a row for each value; allowed: what numpy.save writes of arrays")
    return made

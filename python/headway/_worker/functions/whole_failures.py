"""What DuckDB's failures mean for who wrote the data set."""

from __future__ import annotations

import errno
import os
import re

from headway._worker.functions.whole_names import own_names

_USED = re.compile(r"failed to offload data block.*?\((\S+ \S+?)/", re.DOTALL)
_NO_SPACE = "No space left on device"
_NO_MEMORY = "Out of Memory Error"
_TOO_LARGE = re.compile(
    r"with value (-?\d+) can't be cast.* destination type INT64 when casting from source column (.*)"
)
_CAST = re.compile(r"CAST\((.*) AS HUGEINT\)")  # DuckDB's own, around a column of uint64.
_MORE_MEMORY = (
    "give data sets more memory (DataContext.get_current().execution_options.resource_limits, object_store_memory)"
)


def in_words(error: Exception, operation: str, folder: str, memory: int) -> Exception:
    """The error to raise in place of one of DuckDB's: a disk that is full is an OSError that says
    how much was written, where, and what to change; too little memory is a MemoryError, and a sum
    of integers that is too large an OverflowError. Others have the columns' own names.

    Args:
        error: What was raised.
        operation: The user's, such as ``"sort"``.
        folder: Where DuckDB writes what does not fit into memory.
        memory: The bytes that it may use.
    """
    used = _USED.search(str(error))
    if _NO_MEMORY in str(error) and not used:
        return MemoryError(
            f"{operation}: {memory >> 20} MiB of memory are too little for rows with keys or groups of this size, even "
            f"where rows are written to disk. What to do: {_MORE_MEMORY}"
        )
    if not used and _NO_SPACE not in str(error):
        text = own_names(str(error))
        if found := _TOO_LARGE.search(text):
            sum_of = _CAST.sub(r"\1", found[2])
            return OverflowError(
                f"{sum_of} is {found[1]}, which is no int64: cast the column to pa.decimal128(38, 0) first"
            )
        return error if text == str(error) else type(error)(text)
    written = f" after {used[1]}" if used else ""
    place = os.path.dirname(folder)
    return OSError(
        errno.ENOSPC,
        f"{operation}: {place} has no space left{written}. Rows that do not fit into {memory >> 20} MiB of memory are "
        f"written there: set TMPDIR to a folder with more space before the program starts, or {_MORE_MEMORY}",
    )

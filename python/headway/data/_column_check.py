"""Whether the columns are there that a plan names, before any row is read, or types of tensors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from headway.data import _client
from headway.data._context import DataContext
from headway.data._plan import Plan


def check_columns(plan: Plan, context: DataContext) -> None:
    """Compares what a plan names before its first function with the columns that its sources show.
    Runs no function and reads no rows. What cannot be known here, such as files that only other
    machines see, is no error.

    Raises:
        ValueError: there is no such column, or its type does not fit; as ``Dataset.schema()`` says.
    """
    if not plan.names_known_columns():
        return
    try:
        wholes, schemas = _client.ask_once(plan, "check", context)
        _check_wholes(wholes, schemas)
    except (OSError, RuntimeError, ImportError):
        pass  # Whoever reads the data says so.


def check_dtypes(dtypes: Any, columns: Iterable[str]) -> None:
    """Raises ValueError for a name that ``columns`` lack, where another column has no dtype.
    Ray takes a dtype too many, and needs one for each column.
    """
    if not isinstance(dtypes, Mapping):
        return
    unknown = [name for name in dtypes if name not in columns]
    if unknown and any(name not in dtypes for name in columns):
        raise ValueError(f"dtypes names the column {unknown[0]!r}; the columns are {', '.join(columns)}")


def _check_wholes(wholes: list[dict[str, Any]], schemas: bytes) -> None:
    """Raises ValueError for an operation on all rows that does not fit the columns it gets."""
    if not wholes:
        return
    import pyarrow as pa

    from headway._worker.functions import whole_queries

    begin = 0
    for whole in wholes:
        inputs = []
        for size in whole["schema_bytes"]:
            inputs.append(pa.ipc.read_schema(pa.py_buffer(schemas[begin : begin + size])))
            begin += size
        whole_queries.query(whole["operation"], whole["options"], inputs)

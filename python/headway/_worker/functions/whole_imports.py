"""What a process that runs DuckDB imports."""

from __future__ import annotations

import sys
from typing import Any

_NO_DUCKDB = (
    "sort, groupby, join, unique and shuffles beyond memory need the package duckdb, which is not installed; "
    "run: pip install duckdb"
)


class _WithoutPandas:
    """Says that pandas is not installed."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("pandas is not imported in this process", name=name)


def imported_duckdb() -> Any:
    """The module. It and pyarrow would import pandas where it is installed, only to look whether
    values are pandas': 28 MiB of memory, and 0.15 s or more.

    Raises:
        RuntimeError: it is not installed.
    """
    sys.meta_path.insert(0, _WithoutPandas())
    try:
        import duckdb
    except ImportError:
        raise RuntimeError(_NO_DUCKDB) from None
    return duckdb

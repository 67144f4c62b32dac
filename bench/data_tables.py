"""The files that the programs of data sets read, written once for all programs of a run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import program


def written(name: str, write: Callable[[Path], None]) -> Path:
    """The folder of this name, whole: ``write`` fills it, unless an earlier program has."""
    folder = program.data_folder() / name
    if not folder.exists():
        begun = folder.with_suffix(".begun")
        begun.mkdir(parents=True, exist_ok=True)
        write(begun)
        begun.rename(folder)
    return folder


def write_tables(name: str, files: int, table: Callable[[int], Any], **options: Any) -> Path:
    """A folder of Parquet files; ``table`` makes the one of a number.

    Args:
        name: The folder's name, which says what is in it.
        files: How many.
        table: Gets a file's number.
        options: For Arrow's writer.
    """
    import pyarrow.parquet as pq

    def write(folder: Path) -> None:
        for number in range(files):
            pq.write_table(table(number), folder / f"{number:05}.parquet", **options)

    return written(name, write)


def use_all_cores() -> None:
    """Arrow reads with as many threads as the engines of the libraries do; ``OMP_NUM_THREADS`` says
    1.
    """
    import os

    import pyarrow

    pyarrow.set_cpu_count(os.cpu_count() or 1)

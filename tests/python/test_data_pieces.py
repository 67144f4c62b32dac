"""Pieces of rows from memory on their way to functions: small enough that workers share them, and
whole batches all the same.
"""

from __future__ import annotations

import os
from typing import Any

import pandas as pd
import pytest
from headway import data
from headway.data.expressions import col

pytestmark = pytest.mark.usefixtures("the_engine_ends")


def sizes(rows: data.Dataset, **options: Any) -> list[int]:
    """How many rows each batch of a function has."""
    counted = rows.map_batches(lambda batch: {"n": [len(batch["id"])]}, **options)
    return [row["n"] for row in counted.take_all()]


def in_memory(rows: int) -> data.Dataset:
    return data.from_pandas(pd.DataFrame({"id": range(rows)}))


@pytest.mark.parametrize("source", [data.range, in_memory])
def test_batches_have_as_many_rows_as_a_function_asks_for(source):
    assert sizes(source(1000), batch_size=300) == [300, 300, 300, 100]
    assert sizes(source(1000), batch_size=7) == [7] * 142 + [6]
    assert sizes(source(1000), batch_size=10_000) == [1000]
    assert sizes(source(1000)) == [1000]
    assert sizes(source(5000)) == [1024] * 4 + [904]


def test_batches_of_several_functions_have_the_rows_of_each():
    rows = data.range(1000).map(lambda row: row)
    assert sizes(rows, batch_size=300) == [300, 300, 300, 100]
    assert sizes(rows, batch_size=300, concurrency=1) == [300, 300, 300, 100]
    both = data.range(1000).map_batches(lambda batch: batch, batch_size=200)
    assert sizes(both, batch_size=300, concurrency=1) == [300, 300, 300, 100]
    assert sizes(data.range(600).filter(expr=col("id") < 500), batch_size=300) == [300, 200]
    assert sizes(data.range(10_000).limit(500), batch_size=300) == [300, 200]


def test_two_workers_share_a_few_rows(tmp_path):
    fifo = tmp_path / "met"
    os.mkfifo(fifo)

    def meet(row):
        if row["id"] in (0, 8):  # Each waits for the other.
            with open(fifo, "wb" if row["id"] == 0 else "rb"):
                pass
        return {**row, "worker": os.getpid()}

    rows = data.range(16).map(meet, concurrency=2).take_all()
    assert [row["id"] for row in rows] == list(range(16))
    assert rows[0]["worker"] != rows[8]["worker"]


def test_rows_of_a_function_may_differ_from_piece_to_piece():
    def changing(row):
        return {"value": [None, 1, 2.5][row["id"] // 8], "more": {"a": 1} if row["id"] else None}

    rows = data.range(24).map(changing)
    assert [row["value"] for row in rows.take_all()] == [None] * 8 + [1] * 8 + [2.5] * 8
    assert [row["more"] for row in rows.take_all()] == [None] + [{"a": 1}] * 23


def test_an_exception_names_the_row():
    def fails(row):
        return {"x": 1 // (row["id"] - 700)}

    with pytest.raises(ZeroDivisionError) as caught:
        data.range(1000).map(fails).take_all()
    assert "range, rows 0 to 999, of these 672 to 703, row 28 of it" in str(caught.value.__cause__)


def test_written_rows_do_not_become_more_files(tmp_path):
    data.range(2000).map(lambda row: row).write_parquet(str(tmp_path / "rows"))
    assert len(data.read_parquet(str(tmp_path / "rows")).input_files()) == 1

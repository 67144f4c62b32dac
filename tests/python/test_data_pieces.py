"""Pieces of rows from memory and of small files on their way to functions: small enough that
workers share them, and whole batches all the same.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
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


def in_files(folder: Path, rows: int, files: int = 20) -> str:
    """Parquet files of ``rows`` rows each, whose ids count on."""
    for number in range(files):
        ids = pa.table({"id": range(number * rows, (number + 1) * rows)})
        pq.write_table(ids, folder / f"{number:03}.parquet")
    return str(folder)


def in_texts(folder: Path, files: int = 20) -> str:
    for number in range(files):
        (folder / f"{number:03}.csv").write_text(f"id\n{number}\n")
    return str(folder)


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


def met_by_two(fifo: Path, first: int, second: int):
    """A function that waits at one row until another worker has reached the other row."""
    os.mkfifo(fifo)

    def meet(row):
        if row["id"] in (first, second):
            with open(fifo, "wb" if row["id"] == first else "rb"):
                pass
        return {**row, "worker": os.getpid()}

    return meet


def test_two_workers_share_a_few_rows(tmp_path):
    rows = data.range(16).map(met_by_two(tmp_path / "met", 0, 8), concurrency=2).take_all()
    assert [row["id"] for row in rows] == list(range(16))
    assert rows[0]["worker"] != rows[8]["worker"]


@pytest.mark.parametrize("files", ["parquet", "csv"])
@pytest.mark.parametrize("function", ["map", "map_batches"])
def test_two_workers_share_a_few_small_files(tmp_path, files, function):
    folder = tmp_path / "files"
    folder.mkdir()
    if files == "parquet":
        read, each = data.read_parquet(in_files(folder, 10)), 10
    else:
        read, each = data.read_csv(in_texts(folder)), 1
    meet = met_by_two(tmp_path / "met", 0, each)

    def meet_batch(batch):
        rows = [meet({"id": value}) for value in batch["id"]]
        return {"id": batch["id"], "worker": [row["worker"] for row in rows]}

    made = read.map(meet, concurrency=2) if function == "map" else read.map_batches(meet_batch, concurrency=2)
    rows = made.take_all()
    assert [row["id"] for row in rows] == list(range(20 * each))
    assert rows[0]["worker"] != rows[each]["worker"]


def test_batches_of_small_files_have_as_many_rows_as_a_function_asks_for(tmp_path):
    rows = data.read_parquet(in_files(tmp_path, 30))
    assert sizes(rows, batch_size=64) == [64] * 9 + [24]
    assert sizes(rows, batch_size=300) == [300, 300]
    assert sizes(rows, batch_size=1000) == [600]
    assert sizes(rows) == [30] * 20
    assert sizes(rows.map(lambda row: row), batch_size=64) == [64] * 9 + [24]
    assert sizes(rows.limit(100), batch_size=64) == [64, 36]


def test_batches_of_files_whose_rows_nobody_knows_have_as_many_rows_as_a_function_asks_for(tmp_path):
    rows = data.read_csv(in_texts(tmp_path))
    assert sizes(rows, batch_size=16) == [16, 4]
    assert sizes(rows) == [1] * 20


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


def test_pieces_stay_large_where_a_limit_may_need_all_rows():
    """A million rows in pieces of eight would take half a minute."""

    def fails(row):
        return 1 // (row["id"] - 700)

    with pytest.raises(ZeroDivisionError) as caught:
        data.range(1_000_000).filter(lambda row: fails(row) > 0).limit(10).take_all()
    assert "of these 489 to 977, row 211 of it" in str(caught.value.__cause__)


def test_an_exception_behind_whole_batches_names_the_row_of_a_small_file(tmp_path):
    def fails(batch):
        assert 100 not in batch["id"]
        return batch

    with pytest.raises(AssertionError) as caught:
        data.read_parquet(in_files(tmp_path, 30, 40)).map_batches(fails, batch_size=16).take_all()
    assert f"{tmp_path}/001.parquet from row 18 on and 2 more files, rows 48 to 63 of it" in str(caught.value.__cause__)


def test_an_exception_names_the_row_of_a_small_file(tmp_path):
    def fails(row):
        return {"x": 1 // (row["id"] - 75)}

    with pytest.raises(ZeroDivisionError) as caught:
        data.read_parquet(in_files(tmp_path, 10)).map(fails).take_all()
    assert f"{tmp_path}/007.parquet, row 5" in str(caught.value.__cause__)


def test_written_rows_do_not_become_more_files(tmp_path):
    data.range(2000).map(lambda row: row).write_parquet(str(tmp_path / "rows"))
    assert len(data.read_parquet(str(tmp_path / "rows")).input_files()) == 1
    (tmp_path / "small").mkdir()
    small = data.read_parquet(in_files(tmp_path / "small", 10))
    small.map(lambda row: row).write_parquet(str(tmp_path / "written"))
    assert len(data.read_parquet(str(tmp_path / "written")).input_files()) == 1

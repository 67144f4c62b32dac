"""Rows without columns: there is nothing of them but how many they are."""

import pandas as pd
import pyarrow as pa
import pytest
from headway import data
from headway.data.expressions import lit

pytestmark = pytest.mark.usefixtures("the_engine_ends")


def rows(count=5):
    """So many, in two pieces."""
    return data.range(count, override_num_blocks=2).drop_columns(["id"])


def same(given):
    return given


def one(row):
    return {"x": 1 + len(row)}


def test_rows_without_columns_stay_rows():
    assert rows().take_all() == [{}] * 5
    assert rows().take(2) == [{}] * 2
    assert rows().limit(3).take_all() == [{}] * 3
    assert rows().union(rows(2)).take_all() == [{}] * 7
    assert data.from_items([{}, {}]).take_all() == [{}] * 2
    assert rows().to_pandas().shape == (5, 0)
    assert rows().to_arrow().num_rows == 5


def test_functions_of_rows_get_rows_without_columns():
    assert rows().map(one).take_all() == [{"x": 1}] * 5
    assert rows().flat_map(lambda row: [one(row)] * 2).count() == 10
    assert rows().filter(lambda row: not row).with_column("x", lit(1)).count() == 5
    assert rows().filter(lambda row: bool(row)).count() == 0


@pytest.mark.parametrize("batch_format", ["pandas", "pyarrow"])
def test_frames_and_tables_without_columns_have_their_rows(batch_format):
    counted = rows().map_batches(lambda batch: {"rows": [batch.shape[0]]}, batch_format=batch_format)
    assert [row["rows"] for row in counted.take_all()] == [3, 2]
    kept = rows().map_batches(same, batch_format=batch_format)
    assert kept.map(one).take_all() == [{"x": 1}] * 5
    assert [each.shape[0] for each in rows().iter_batches(batch_size=2, batch_format=batch_format)] == [2, 2, 1]


def test_functions_may_drop_all_columns_of_frames_and_tables():
    frames = data.range(3).map_batches(lambda batch: pd.DataFrame(index=batch.index), batch_format="pandas")
    assert frames.take_all() == [{}] * 3
    tables = data.range(3).map_batches(lambda batch: batch.select([]), batch_format="pyarrow")
    assert tables.take_all() == [{}] * 3


def test_dictionaries_of_arrays_without_columns_are_errors():
    words = r"the \d rows have no columns.*batch_format=\"pyarrow\""
    with pytest.raises(ValueError, match=words):
        rows().map_batches(lambda batch: {"x": [1]}).take_all()
    with pytest.raises(ValueError, match=words):
        list(rows().iter_batches())


def test_rows_without_columns_are_kept_and_cut():
    kept = rows().materialize()
    assert kept.count() == 5
    assert kept.to_arrow().num_rows == 5
    assert kept.map(one).count() == 5
    assert [each.count() for each in rows().split(2)] == [2, 3]
    assert data.from_arrow(pa.table({"x": [1, 2]}).select([])).count() == 2


@pytest.mark.parametrize("format_name", ["csv", "parquet"])
def test_files_that_have_rows_only_of_columns_are_not_written_without(tmp_path, format_name):
    with pytest.raises(ValueError, match=r"the rows have no columns.* add a column first"):
        getattr(rows(), f"write_{format_name}")(str(tmp_path / "out"))
    assert not (tmp_path / "out").exists()


def test_lines_of_json_have_rows_without_columns(tmp_path):
    rows().write_json(str(tmp_path))
    assert data.read_json(str(tmp_path)).count() == 5

"""Data sets without rows are written, and read again."""

import os

import pytest
from headway import data
from headway.data.expressions import col

pytestmark = pytest.mark.usefixtures("the_engine_ends")
KINDS = ["parquet", "csv", "orc", "json", "numpy", "tfrecords", "webdataset"]


def rows():
    return data.from_items([{"a": 1, "data": 2.0}, {"a": 3, "data": 4.0}])


def without_rows():
    return rows().filter(expr=col("a") > 9)


def of_a_function():
    """Rows that a function would make, of columns that nobody knows."""
    return without_rows().map_batches(lambda batch: batch)


def write(rows, kind, folder, **options):
    getattr(rows, f"write_{kind}")(str(folder), **options)


def read(kind, folder):
    return getattr(data, f"read_{kind}")(str(folder))


@pytest.mark.parametrize("kind", KINDS)
def test_no_rows_are_read_again_as_no_rows(tmp_path, kind):
    write(without_rows(), kind, tmp_path / "rows")
    back = read(kind, tmp_path / "rows")
    assert (back.count(), back.take_all()) == (0, [])
    if kind in ("parquet", "csv", "orc"):
        assert back.schema().names == ["a", "data"]
        assert back.sort("a").take_all() == []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("order", ["before", "behind"])
def test_no_rows_beside_others_change_nothing(tmp_path, kind, order):
    parts = [without_rows(), rows()] if order == "before" else [rows(), without_rows()]
    for part in parts:
        write(part, kind, tmp_path)
    assert read(kind, tmp_path).count() == 2
    assert read(kind, tmp_path).schema().names == read(kind, tmp_path).limit(1).schema().names


def test_partitions_of_no_rows_have_all_columns_and_fit_beside_others(tmp_path):
    without_rows().write_parquet(str(tmp_path), partition_cols=["a"])
    assert data.read_parquet(str(tmp_path)).schema().names == ["data", "a"]
    rows().write_parquet(str(tmp_path), partition_cols=["a"])
    assert data.read_parquet(str(tmp_path)).sort("a").take_all() == [{"data": 2.0, "a": "1"}, {"data": 4.0, "a": "3"}]


@pytest.mark.parametrize("none", [without_rows, of_a_function])
@pytest.mark.parametrize("kind", KINDS)
def test_no_rows_take_the_place_of_others(tmp_path, kind, none):
    folder = tmp_path / "rows"
    write(rows(), kind, folder)
    [before] = os.listdir(folder)
    with pytest.raises(FileExistsError, match="there are files"):
        write(none(), kind, folder, mode="error")
    write(none(), kind, folder, mode="ignore")
    assert os.listdir(folder) == [before]
    write(none(), kind, folder, mode="overwrite")
    assert before not in os.listdir(folder)


@pytest.mark.parametrize("kind", KINDS)
def test_no_rows_of_a_function_have_a_file_or_a_word_about_it(tmp_path, kind, capfd):
    write(of_a_function(), kind, tmp_path / "rows")
    made = os.listdir(tmp_path / "rows")
    words = f"{tmp_path / 'rows'}: there is no file, because the data set that was written has no rows"
    assert (words in capfd.readouterr().err) == (made == [])
    if made:
        assert read(kind, tmp_path / "rows").count() == 0


def test_no_images_are_a_folder_without_files(tmp_path, capfd):
    pytest.importorskip("PIL")
    without_rows().write_images(str(tmp_path / "images"), "data")
    assert os.listdir(tmp_path / "images") == []
    assert "there is no file, because the data set that was written has no rows" in capfd.readouterr().err

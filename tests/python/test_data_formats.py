"""Each reader and writer with its arguments, from Python: the formats themselves are tested where
they are read and written.
"""

import contextlib
import os
import re
import sqlite3

import numpy as np
import pyarrow as pa
import pytest
from headway import data

pytestmark = pytest.mark.usefixtures("the_engine_ends")


ROWS = [{"id": number, "name": f"row {number}"} for number in range(6)]


@pytest.fixture
def rows():
    return data.from_items(ROWS)


@pytest.mark.parametrize("kind", ["parquet", "csv", "json", "orc", "tfrecords"])
def test_what_is_written_is_read_again(tmp_path, rows, kind):
    place = str(tmp_path / kind)
    getattr(rows, f"write_{kind}")(place)
    again = getattr(data, f"read_{kind}")(place).take_all()
    if kind == "tfrecords":  # Its text is bytes.
        again = [{"id": row["id"], "name": row["name"].decode()} for row in again]
    assert again == ROWS


@pytest.mark.parametrize(
    ("values", "read"),
    [
        ([1, None, None, 3], [1, None, None, 3]),
        ([None, 1.5], [None, 1.5]),
        (["a", None, "", "b"], ["a", "", "", "b"]),
        ([None, None], [None, None]),
    ],
)
def test_a_missing_value_of_the_only_column_is_a_line_of_csv(tmp_path, values, read):
    column = pa.table({"a": values})
    data.from_arrow(column).write_csv(str(tmp_path / "csv"))
    assert [row["a"] for row in data.read_csv(str(tmp_path / "csv")).take_all()] == read


def test_a_column_without_a_name_is_one_in_csv(tmp_path):
    place = str(tmp_path / "csv")
    data.from_items([{"": 1}, {"": 2}]).write_csv(place)
    assert data.read_csv(place).take_all() == [{"": 1}, {"": 2}]


def test_a_type_that_orc_lacks_is_named_with_its_column(tmp_path):
    rows = data.from_arrow(pa.table({"a": [1], "took": pa.array([5], pa.duration("s"))}))
    with pytest.raises(ValueError, match=r"ORC has no place for the column took of type duration\[s\]; drop it"):
        rows.write_orc(str(tmp_path / "orc"))


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (pa.array([1, 2**64 - 1], pa.uint64()), "of the column x: Integer value 18446744073709551615 not in range"),
        (pa.array([[1], [1, None, 3]]), "of the column x: a list with a missing value, in row 1 of a file"),
    ],
)
def test_a_value_that_tfrecords_lack_is_an_error_that_names_its_column(tmp_path, column, words):
    with pytest.raises(ValueError, match=words):
        data.from_arrow(pa.table({"x": column})).write_tfrecords(str(tmp_path / "out"))
    assert not (tmp_path / "out").exists()


def test_a_sample_without_files_is_an_error(tmp_path):
    texts = data.from_items([{"txt": "a"}, {"txt": None}])
    with pytest.raises(ValueError, match="row 1 of a file has no values"):
        texts.write_webdataset(str(tmp_path / "out"))


def test_a_folder_that_is_there_is_left_replaced_or_an_error(tmp_path, rows):
    place = str(tmp_path / "there")
    rows.write_parquet(place)
    with pytest.raises(FileExistsError, match="there"):
        rows.write_parquet(place, mode="error")
    rows.limit(1).write_parquet(place, mode="ignore")
    assert data.read_parquet(place).count() == 6
    rows.limit(2).write_parquet(place)
    assert data.read_parquet(place).count() == 8
    rows.limit(1).write_parquet(place, mode=data.SaveMode.OVERWRITE)
    assert data.read_parquet(place).count() == 1


def test_folders_are_columns(tmp_path, rows):
    place = str(tmp_path / "parts")
    rows.write_parquet(place, partition_cols=["name"], max_rows_per_file=1)
    again = data.read_parquet(place)
    assert sorted(row["name"] for row in again.take_all()) == [row["name"] for row in ROWS]
    assert len(again.input_files()) == 6
    assert "name" not in data.read_parquet(place, partitioning=None).columns()


def test_arrays_images_and_samples(tmp_path):
    from PIL import Image

    arrays = data.from_numpy(np.arange(12).reshape(3, 2, 2))
    arrays.write_numpy(str(tmp_path / "arrays"))
    again = data.read_numpy(str(tmp_path / "arrays")).take_batch()["data"]
    assert np.array_equal(again, np.arange(12).reshape(3, 2, 2))
    (tmp_path / "images").mkdir()
    Image.new("RGB", (8, 4), (255, 0, 0)).save(tmp_path / "images" / "red.png")
    batch = data.read_images(str(tmp_path / "images"), size=(2, 4), mode="RGB", include_paths=True).take_batch()
    assert batch["image"].shape == (1, 2, 4, 3)
    assert batch["image"][0, 0, 0].tolist() == [255, 0, 0]
    assert batch["path"][0].endswith("red.png")
    samples = data.from_items([{"__key__": "one", "txt": "words"}, {"__key__": "two", "txt": "more"}])
    samples.write_webdataset(str(tmp_path / "shards"))
    again = data.read_webdataset(str(tmp_path / "shards"), suffixes=["txt"]).take_all()
    assert [(row["__key__"], row["txt"]) for row in again] == [("one", "words"), ("two", "more")]


def test_a_pattern_is_told_from_a_path(tmp_path):
    (tmp_path / "rows.csv").write_text("a\n1\n")
    with pytest.raises(FileNotFoundError, match=r"\*\.csv does not exist; patterns are no paths: give a folder, or "):
        data.read_csv(str(tmp_path / "*.csv"))
    with pytest.raises(FileNotFoundError, match=r"none\.csv does not exist$"):
        data.read_csv(str(tmp_path / "none.csv"))


def test_lines_and_whole_files(tmp_path):
    (tmp_path / "a.txt").write_text("one\n\ntwo\n")
    assert data.read_text(str(tmp_path)).take_all() == [{"text": "one"}, {"text": "two"}]
    assert data.read_text(str(tmp_path), drop_empty_lines=False).count() == 3
    assert data.read_binary_files(str(tmp_path)).take_all() == [{"bytes": b"one\n\ntwo\n"}]


def test_options_of_csv_and_of_json(tmp_path):
    import pyarrow.csv

    (tmp_path / "a.csv").write_text("a;b\n1;x\n2;NA\n")
    rows = data.read_csv(
        str(tmp_path / "a.csv"),
        parse_options=pyarrow.csv.ParseOptions(delimiter=";"),
        convert_options=pyarrow.csv.ConvertOptions(column_types={"a": "float32"}, strings_can_be_null=True),
    )
    assert rows.take_all() == [{"a": 1.0, "b": "x"}, {"a": 2.0, "b": None}]
    assert str(rows.schema().types[0]) == "float"
    (tmp_path / "a.json").write_text('[{"a": 1}, {"a": 2}]')
    assert data.read_json(str(tmp_path / "a.json")).take_all() == [{"a": 1}, {"a": 2}]


def test_a_bad_row_is_named_with_its_file(tmp_path):
    (tmp_path / "bad.csv").write_text("a,b\n1,2\n3\n")
    with pytest.raises(Exception, match=r"bad\.csv"):
        data.read_csv(str(tmp_path / "bad.csv")).take_all()


def test_files_in_a_random_order_are_in_another_one_in_each_epoch(tmp_path):
    """Small files are read, and shuffled, several together: these are not small."""
    data.range(600_000).write_parquet(str(tmp_path / "files"), max_rows_per_file=100_000)
    shuffled = data.read_parquet(str(tmp_path / "files"), shuffle=data.FileShuffleConfig(seed=1))
    iterator = shuffled.iterator()
    epochs = [[int(batch["id"][0]) for batch in iterator.iter_batches(batch_size=100_000)] for _ in range(2)]
    assert sorted(epochs[0]) == sorted(epochs[1]) == list(range(0, 600_000, 100_000))
    assert epochs[0] != epochs[1]


def test_avro_is_read_by_function_workers(tmp_path, monkeypatch):
    import importlib.util

    import fastavro

    schema = {
        "type": "record",
        "name": "Row",
        "fields": [{"name": "id", "type": "long"}, {"name": "name", "type": "string"}],
    }
    for part in range(2):
        with open(tmp_path / f"{part}.avro", "wb") as file:
            fastavro.writer(file, schema, ROWS[3 * part : 3 * part + 3])
    assert data.read_avro(str(tmp_path)).take_all() == ROWS
    named = data.read_avro(str(tmp_path), include_paths=True).take_all()
    assert [row["path"][-6:] for row in named] == ["0.avro"] * 3 + ["1.avro"] * 3

    def hidden(name, find=importlib.util.find_spec):
        return None if name == "fastavro" else find(name)

    monkeypatch.setattr(importlib.util, "find_spec", hidden)
    with pytest.raises(ModuleNotFoundError, match="pip install fastavro"):
        data.read_avro(str(tmp_path))


def test_an_avro_file_that_cannot_be_read_is_named(tmp_path):
    import fastavro

    schema = {"type": "record", "name": "row", "fields": [{"name": "a", "type": "long"}]}
    for name in ("good", "cut"):
        with open(tmp_path / f"{name}.avro", "wb") as file:
            fastavro.writer(file, schema, [{"a": number} for number in range(1000)])
    whole = (tmp_path / "cut.avro").read_bytes()
    (tmp_path / "cut.avro").write_bytes(whole[:-100])
    with pytest.raises(ValueError, match=r"cut\.avro, after \d+ rows: no Avro that can be read"):
        data.read_avro(str(tmp_path)).take_all()


def test_images_are_files_of_their_rows(tmp_path):
    rows = data.from_items([{"id": number, "image": np.full((2, 3, 3), 50 * number, np.uint8)} for number in range(4)])
    rows.write_images(str(tmp_path / "colours"), "image")
    again = data.read_images(str(tmp_path / "colours")).take_batch()["image"]
    assert np.array_equal(again, rows.take_batch()["image"])
    grey = data.from_items([{"grey": np.full((8, 8, 1), 200, np.uint8)}])
    grey.write_images(str(tmp_path / "grey"), "grey", "jpg")
    (file,) = (tmp_path / "grey").iterdir()
    assert file.suffix == ".jpg"
    assert file.read_bytes()[:2] == b"\xff\xd8"


def test_what_is_no_image_leaves_no_folder(tmp_path):
    rows = data.from_items([{"image": np.zeros((2, 3, 5), np.uint8)}, {"image": np.zeros((2, 3, 5), np.uint8)}])
    with pytest.raises(TypeError, match=r"column 'image': an array of uint8 with the shape \(2, 3, 5\) cannot be"):
        rows.write_images(str(tmp_path / "images"), "image")
    assert not list(tmp_path.rglob("*.png"))


@pytest.fixture
def prices(tmp_path):
    """Makes connections to a data base with the table prices."""

    def connect():
        return sqlite3.connect(tmp_path / "prices.db")

    with contextlib.closing(connect()) as connection:
        connection.execute("create table prices (id integer primary key, name text)")
    return connect


def test_a_data_base_gets_all_rows(prices):
    rows = data.range(3000).map_batches(lambda batch: {**batch, "name": [f"row {number}" for number in batch["id"]]})
    rows.write_sql("insert into prices values (?, ?)", prices)
    with contextlib.closing(prices()) as connection:
        assert connection.execute("select count(*), max(name) from prices").fetchall() == [(3000, "row 999")]
    again = data.read_sql("select * from prices where id < 2 order by id", prices)
    assert again.take_all() == [{"id": 0, "name": "row 0"}, {"id": 1, "name": "row 1"}]


def test_a_data_base_gets_no_row_of_a_write_that_fails(prices):
    rows = data.range(3000).map_batches(lambda batch: {**batch, "name": ["same"] * len(batch["id"])})
    doubled = rows.union(rows.limit(1))
    with pytest.raises(sqlite3.IntegrityError, match="UNIQUE"):
        doubled.write_sql("insert into prices values (?, ?)", prices)
    with contextlib.closing(prices()) as connection:
        assert connection.execute("select count(*) from prices").fetchall() == [(0,)]


def test_a_write_that_fails_leaves_no_folder_that_was_not_there(tmp_path):
    rows = data.from_items([{"a": [1, 2]}])
    (tmp_path / "there").mkdir()
    for name in ("new", "there"):
        with pytest.raises(ValueError, match="CSV has no place for the column a"):
            rows.write_csv(str(tmp_path / name))
    assert [(each.name, list(each.iterdir())) for each in tmp_path.iterdir()] == [("there", [])]


@pytest.mark.parametrize("format", ["parquet", "csv", "json"])
def test_a_file_that_the_system_does_not_let_grow_is_named_with_the_reason(script, tmp_path, format):
    folder = tmp_path / "rows"
    code = f"""
import resource
import headway
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
headway.data.range(300_000).write_{format}({str(folder)!r})
"""
    status, output = script.run(code)
    assert (status, folder.exists()) == (1, False)
    pattern = rf"OSError: cannot write {folder}/[0-9a-f]+_000000\.{format}: File too large\n$"
    assert re.search(pattern, output), output


def test_a_path_that_is_no_text_is_named_where_it_would_be_a_value(tmp_path):
    odd = tmp_path / os.fsdecode(b"a\xff.txt")
    odd.write_text("one\n")
    (tmp_path / "b.txt").write_text("two\n")
    folder = data.read_text(str(tmp_path))
    assert [row["text"] for row in folder.take_all()] == ["one", "two"]
    words = r"a\ufffd\.txt: the path is no text \(UTF-8\)"
    with_paths = data.read_text(str(tmp_path), include_paths=True)
    for use in (with_paths.take_all, with_paths.count, folder.input_files):
        with pytest.raises(ValueError, match=words):
            use()
    with pytest.raises(ValueError, match=words):
        with_paths.filter(lambda row: True).to_pandas()
    part = tmp_path / os.fsdecode(b"k=\xff")
    part.mkdir()
    (part / "c.csv").write_text("x\n1\n")
    with pytest.raises(ValueError, match=r"would be a value of a partition's column; rename the file"):
        data.read_csv(str(tmp_path), file_extensions=["csv"]).take_all()


def test_paths_that_are_skipped(tmp_path, rows):
    place = tmp_path / "parts"
    rows.write_parquet(str(place), partition_cols=["name"], max_rows_per_file=1)
    (place / "notes.txt").write_text("no rows")
    folders = sorted(place.glob("name=*"))
    file = str(next(folders[1].iterdir()))

    def names(paths=str(place), **options):
        return sorted(row["name"] for row in data.read_parquet(paths, **options).take_all())

    everything = [row["name"] for row in ROWS]
    assert names(skip_paths=str(folders[0])) == everything[1:]
    assert names(skip_paths=[str(folders[0]), file, "/not/there"]) == everything[2:]
    assert names(skip_paths=[]) == everything
    assert names([str(folders[2]), str(tmp_path / "gone")], skip_paths=str(tmp_path / "gone")) == everything[2:3]
    with pytest.raises(ValueError, match="skip_paths leaves none of the files"):
        names(skip_paths=str(place))


def test_the_older_name_of_the_number_of_blocks():
    assert (
        data.range(6, parallelism=3).materialize().num_blocks()
        == data.range(6).repartition(3).materialize().num_blocks()
    )
    with pytest.raises(ValueError, match="parallelism is 0"):
        data.range_tensor(6, parallelism=0)


@pytest.mark.heavy
def test_a_row_group_with_more_text_than_one_array_can_have(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows, length = 2300, 1 << 20
    text = pa.array(["x" * length] * 100)
    place = str(tmp_path / "wide.parquet")
    table = pa.table({"id": pa.array(range(rows)), "text": pa.chunked_array([text] * (rows // 100))})
    pq.write_table(table, place, row_group_size=rows, use_dictionary=False)
    del table
    assert pq.ParquetFile(place).num_row_groups == 1

    def lengths(batch):
        return {"id": batch["id"], "length": [len(each) for each in batch["text"].to_pylist()]}

    made = data.read_parquet(place).map_batches(lengths, batch_format="pyarrow", batch_size=100).take_all()
    assert made == [{"id": number, "length": length} for number in range(rows)]
    kept = data.read_parquet(place).filter(lambda row: row["id"] % 1000 == 0).select_columns(["id"]).take_all()
    assert kept == [{"id": 0}, {"id": 1000}, {"id": 2000}]

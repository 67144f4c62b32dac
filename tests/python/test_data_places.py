"""Failures say at which file, rows and column they are, once."""

import decimal
import re

import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as pq
import pytest
from headway import data
from headway._worker.functions.whole_failures import in_words
from headway.data.expressions import col

pytestmark = pytest.mark.usefixtures("the_engine_ends")


@pytest.fixture
def files(tmp_path):
    """Five small files of ten rows, which are read together."""
    for number in range(5):
        texts = [str(number * 10 + row) for row in range(10)]
        table = pa.table({"x": range(number * 10, number * 10 + 10), "text": texts, "zero": [1] * 10})
        pq.write_table(table, tmp_path / f"{number}.parquet", compression="none")
    return tmp_path


def failure(dataset, kind=ValueError):
    with pytest.raises(kind) as raised:
        dataset.take_all()
    return str(raised.value)


def replaced(files, number, column, values):
    table = pq.read_table(files / f"{number}.parquet")
    index = table.schema.get_field_index(column)
    pq.write_table(table.set_column(index, column, pa.array(values)), files / f"{number}.parquet")


def test_a_damaged_small_file_is_named_with_its_rows(files):
    path = files / "3.parquet"
    damaged = bytearray(path.read_bytes())
    damaged[4:60] = b"\xff" * 56
    path.write_bytes(damaged)
    words = failure(data.read_parquet(str(files)), OSError)
    assert words.startswith(f"{path}, rows 0 to 9: ")
    assert words.count(str(files)) == 1


def test_a_small_file_of_another_type_is_named_with_column_and_row(files):
    replaced(files, 2, "x", [*map(str, range(7)), "seven", "8", "9"])
    words = failure(data.read_parquet(str(files)))
    assert words.startswith(f"{files}/2.parquet: column x has type string, and int64 in the data set's schema; row 7: ")
    assert words.count(str(files)) == 1


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        (lambda: col("text").cast("int64"), "the expression cast(text) fails; column text has type string"),
        (lambda: col("x") // col("zero"), "the expression floor_divide(x, zero) fails; column x has type int64"),
        (lambda: col("x") % col("zero"), "the expression modulo(x, zero) fails"),
    ],
)
def test_an_expression_that_fails_names_file_row_and_column(files, expression, words):
    replaced(files, 3, "text", [str(row) if row != 6 else "six" for row in range(10)])
    replaced(files, 3, "zero", [int(row != 6) for row in range(10)])
    expected = f"{files}/3.parquet, row 6: {words}"
    rows = data.read_parquet(str(files))
    assert failure(rows.with_column("y", expression())).startswith(expected)
    assert failure(rows.drop_columns(["nothing"][:0]).filter(expr=expression() > 0)).startswith(expected)
    assert failure(rows.rename_columns({"x": "x"}).with_column("y", expression())).startswith(expected)


def test_rows_of_a_row_group_are_counted_in_the_file(tmp_path):
    path = tmp_path / "groups.parquet"
    texts = [str(row) if row != 2345 else "no number" for row in range(4000)]
    pq.write_table(pa.table({"text": texts}), path, row_group_size=1000)
    words = failure(data.read_parquet(str(path)).with_column("y", col("text").cast("int64")))
    assert words.startswith(f"{path}, row 2345: the expression cast(text) fails")


def test_rows_that_a_filter_has_let_through_have_no_number_in_the_file(files):
    replaced(files, 0, "text", ["no", *map(str, range(9))])
    rows = data.read_parquet(str(files / "0.parquet")).filter(expr=col("x") < 5)
    words = failure(rows.with_column("y", col("text").cast("int64")))
    assert words.startswith(f"{files}/0.parquet: the expression cast(text) fails")


def test_a_type_that_an_expression_does_not_take_has_no_row(files):
    words = failure(data.read_parquet(str(files)).with_column("y", col("text").dt.year()))
    assert words.startswith("the expression year(text) fails; column text has type string: ")


def test_data_in_memory_has_rows_and_no_file():
    rows = data.from_items([{"text": "1"}, {"text": "x"}])
    words = failure(rows.with_column("y", col("text").cast("int64")))
    assert words.startswith("data in memory, row 1: the expression cast(text) fails")


def test_bytes_that_are_no_text_cannot_be_csv(tmp_path):
    rows = data.from_items([{"a": 1, "b": b"text"}, {"a": 2, "b": b"\xff"}])
    with pytest.raises(ValueError, match=r"the column b of type binary: its bytes are no text \(UTF-8\) in row 1 of"):
        rows.write_csv(str(tmp_path / "csv"))
    rows.limit(1).write_csv(str(tmp_path / "text"))
    assert [path.read_text() for path in (tmp_path / "text").iterdir()] == ['"a","b"\n1,"text"\n']


def test_bytes_that_a_parser_quotes_are_no_text(files):
    path = files / "names.csv"
    path.write_bytes(b"a,\xffb\n1,2\n")
    assert failure(data.read_csv(str(path))) == f"{path}: the name of a column is no text (UTF-8): \ufffdb"
    path.write_bytes(b"a,b\n1,2\n\xff,3,4\n")
    assert failure(data.read_csv(str(path))).startswith(f"{path}: CSV parse error: line 3: Expected 2 columns, got 3")


DECIMALS = pa.table(
    {"d": pa.array([decimal.Decimal(3), None, decimal.Decimal(1)], pa.decimal256(50, 2)), "x": [2, 1, 0]}
)


def test_a_row_group_in_parts_has_its_batches_and_rows(tmp_path):
    """24 MB, which a worker gets in parts."""
    numbers = range(1_000_000)
    pq.write_table(pa.table(dict.fromkeys("xyz", numbers)), tmp_path / "a.parquet", row_group_size=1_000_000)
    rows = data.read_parquet(str(tmp_path))

    def size(batch):
        assert (batch["x"] == range(batch["x"][0], batch["x"][0] + 1000)).all()
        return {"rows": [len(batch["x"])]}

    assert [row["rows"] for row in rows.map_batches(size, batch_size=1000).take_all()] == [1000] * 1000

    def fails(batch):
        if 700_500 in batch["x"]:
            raise KeyError("no such place")
        return batch

    with pytest.raises(KeyError) as raised:
        rows.map_batches(fails, batch_size=1000).take_all()
    assert "rows 700000 to 700999 of it" in str(raised.value.__cause__)


def as_text(values):
    """Bytes that are text for Arrow, which does not look at them."""
    return pa.Array.from_buffers(pa.string(), len(values), pa.array(values, pa.binary()).buffers())


NO_TEXT = (
    "column text has bytes that are no text (UTF-8) in row 7; leave it out (columns), or read the file with pyarrow"
)


def test_text_of_a_row_group_that_is_no_utf8_is_named(files):
    table = pa.table({"x": range(10), "text": as_text([b"a"] * 7 + [b"caf\xe9"] * 3), "zero": [1] * 10})
    pq.write_table(table, files / "2.parquet", row_group_size=4)
    rows = data.read_parquet(str(files))
    assert failure(rows).startswith(f"{files}/2.parquet: {NO_TEXT}")
    assert failure(rows.map(lambda row: row)).count(NO_TEXT) == 1
    assert len(data.read_parquet(str(files), columns=["x"]).take_all()) == 50


def test_text_in_memory_that_is_no_utf8_is_named_without_a_file():
    words = failure(data.from_arrow(pa.table({"text": as_text([b"a"] * 7 + [b"\xff"])})))
    assert words == (
        "data in memory: column text has bytes that are no text (UTF-8) in row 7; leave it out, or cast it to binary"
    )


def test_text_that_is_no_utf8_is_a_piece_that_may_be_left_out(files, monkeypatch):
    replaced(files, 2, "text", as_text([b"\xff"] * 10))
    monkeypatch.setattr(data.DataContext.get_current(), "max_errored_blocks", 1)
    assert len(data.read_parquet(str(files)).take_all()) == 40


def test_text_of_orc_and_json_lines_that_is_no_utf8_is_named(tmp_path):
    orc.write_table(pa.table({"text": as_text([b"a"] * 7 + [b"caf\xe9"])}), tmp_path / "a.orc")
    (tmp_path / "a.jsonl").write_bytes(b'{"text": "a"}\n' * 7 + b'{"text": "caf\xe9"}\n')
    assert failure(data.read_orc(str(tmp_path / "a.orc"))).startswith(f"{tmp_path}/a.orc: {NO_TEXT}")
    assert failure(data.read_json(str(tmp_path / "a.jsonl"))).startswith(f"{tmp_path}/a.jsonl: {NO_TEXT}")


def test_decimals_of_256_bits_are_sorted_grouped_and_joined():
    rows = data.from_arrow(DECIMALS)
    assert [row["x"] for row in rows.sort("d").take_all()] == [0, 2, 1]
    assert rows.sort("x").schema().base_schema.field("d").type == pa.decimal256(50, 2)
    assert rows.groupby("d").count().take_all()[0] == {"d": decimal.Decimal(1), "count()": 1}
    assert sorted(row["x_r"] for row in rows.join(rows, "inner", on="d", right_suffix="_r").take_all()) == [0, 2]


def test_decimals_that_duckdb_does_not_have_are_named():
    large = pa.array([decimal.Decimal(10) ** 45, decimal.Decimal(1)], pa.decimal256(50, 2))
    rows = data.from_arrow(pa.table({"d": large, "x": [1, 0]}))
    assert [row["d"] for row in rows.sort("x").take_all()] == [decimal.Decimal(1), decimal.Decimal(10) ** 45]
    with pytest.raises(ValueError, match=r"^column 'd' is decimal256\(50, 2\) and has values that are no decimal128"):
        rows.sort("d").take_all()


def test_a_disk_that_is_full_is_said_in_words(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(":memory:") as connection:
        folder = str(tmp_path / "whole-1")
        for setting in ("memory_limit='64MB'", "threads=1", f"temp_directory='{folder}'"):
            connection.execute(f"SET {setting}")
        connection.execute("SET max_temp_directory_size='8MB'")
        with pytest.raises(duckdb.Error) as raised:
            connection.sql("SELECT random() AS x FROM range(20000000) ORDER BY x").to_arrow_reader().read_all()
    error = in_words(raised.value, "sort", folder, 64 << 20)
    assert isinstance(error, OSError)
    assert re.search(rf"sort: {tmp_path} has no space left after \d.* MiB\. Rows .* 64 MiB of memory", str(error))
    assert "TMPDIR" in str(error)
    assert "object_store_memory" in str(error)
    other = ValueError("another")
    assert in_words(other, "sort", folder, 1) is other

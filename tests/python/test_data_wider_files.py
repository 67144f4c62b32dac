"""Numbers of JSON lines and CSV whose type changes far behind the samples that types are of."""

import bz2
import itertools
import json

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from headway import data

pytestmark = pytest.mark.usefixtures("the_engine_ends")

#: So many rows make a file that is one unit: smaller files are read together.
ROWS = 60_000


def json_text(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def csv_text(rows):
    return "".join(",".join(str(value) for value in each) + "\n" for each in [rows[0], *(row.values() for row in rows)])


WRITTEN = {"json": (json_text, data.read_json), "csv": (csv_text, data.read_csv)}


def files(folder, kind, contents):
    """A file for each list of rows; samples are of the first, the middle and the last one."""
    for number, rows in enumerate(contents):
        (folder / f"{number}.{kind}").write_text(WRITTEN[kind][0](rows))
    return WRITTEN[kind][1](str(folder))


def numbered(begin, rows=ROWS):
    return [{"id": number, "x": number % 7} for number in range(begin, begin + rows)]


@pytest.fixture(params=["json", "csv"])
def mixed(request, tmp_path):
    """Files of integers, and one with fractions that no sample sees."""
    parts = [numbered(number * ROWS) for number in range(5)]
    parts[3][-1]["x"] = 0.5
    return files(tmp_path, request.param, parts), [row for part in parts for row in part]


def test_fractions_behind_the_samples_make_later_batches_doubles(mixed):
    rows, expected = mixed
    assert rows.schema().base_schema.field("x").type == pa.int64()
    batches = list(rows.iter_batches(batch_size=1000))
    kinds = [batch["x"].dtype.name for batch in batches]
    assert kinds[0] == "int64"
    assert kinds[-1] == "float64"
    # It changes once, and rows go on where they were.
    assert sum(before != after for before, after in itertools.pairwise(kinds)) == 1
    assert np.concatenate([batch["id"] for batch in batches]).tolist() == [row["id"] for row in expected]
    assert np.concatenate([batch["x"] for batch in batches]).tolist() == [row["x"] for row in expected]
    # The next epoch has the wider type from its first batch on, and so have other questions.
    assert next(iter(rows.iter_batches(batch_size=10)))["x"].dtype.name == "float64"
    assert rows.schema().base_schema.field("x").type == pa.float64()
    assert rows.select_columns(["x"]).schema().base_schema.field("x").type == pa.float64()


def test_what_needs_all_rows_begins_again(mixed, tmp_path):
    rows, expected = mixed
    assert rows.count() == len(expected)
    assert rows.sum("x") == sum(row["x"] for row in expected)
    rows.write_parquet(str(tmp_path / "out"))
    table = data.read_parquet(str(tmp_path / "out")).to_arrow()
    assert table.schema.field("x").type == pa.float64()
    assert table["x"].to_pylist() == [row["x"] for row in expected]


def test_kept_rows_and_sorted_rows_have_the_wider_type(mixed):
    rows, expected = mixed
    assert rows.materialize().to_arrow()["x"].to_pylist() == [row["x"] for row in expected]
    assert rows.sort("id", descending=True).limit(ROWS + 1).to_pandas()["x"].tolist()[-1] == 0.5


def test_a_cursor_of_the_time_before_resumes(mixed):
    rows, expected = mixed
    iterator = rows.iterator()
    batches = iter(iterator.iter_batches(batch_size=1000))
    seen = [next(batches)["id"] for _ in range(5)]
    state = iterator.state_dict()
    del batches
    assert rows.count() == len(expected)
    again = rows.iterator()
    again.load_state_dict(state)
    seen += [batch["id"] for batch in again.iter_batches(batch_size=1000)]
    assert np.concatenate(seen).tolist() == [row["id"] for row in expected]


@pytest.mark.parametrize("kind", WRITTEN)
def test_integers_that_doubles_lack_are_errors_beside_fractions(tmp_path, kind):
    large = 2**53 + 1
    rows = files(tmp_path, kind, [[{"x": 1}], [{"x": 0.5}, {"x": large}], [{"x": 2}], [{"x": 3}], [{"x": 3}]])
    with pytest.raises(ValueError, match=f"column x has fractions, and as one of them the integer {large}"):
        rows.take_all()
    (tmp_path / f"1.{kind}").write_text(WRITTEN[kind][0]([{"x": 0.5}, {"x": 2**53}, {"x": 1e300}, {"x": -(2**60)}]))
    assert [row["x"] for row in rows.take_all()] == [1, 0.5, 2**53, 1e300, -(2**60), 2, 3, 3]


def test_integers_within_lists_and_objects_are_looked_at_too(tmp_path):
    large = 2**62 + 1
    before = [{"x": [1], "y": {"z": 1}}]
    rows = files(tmp_path, "json", [before, [{"x": [0.5, 1], "y": {"z": 0.5}}], before, before, before])
    assert rows.schema().base_schema.field("x").type == pa.list_(pa.int64())
    assert [row["x"] for row in rows.take_all()] == [[1], [0.5, 1], [1], [1], [1]]
    assert rows.schema().base_schema.field("y").type == pa.struct({"z": pa.float64()})
    for wrong in ({"x": [0.5, large], "y": {"z": 1}}, {"x": [1], "y": {"z": large}}):
        (tmp_path / "1.json").write_text(json_text([{"x": [0.5], "y": {"z": 0.5}}, wrong]))
        with pytest.raises(ValueError, match=f"the integer {large} in row 1 would be another number"):
            rows.take_all()


@pytest.mark.parametrize("kind", WRITTEN)
def test_a_column_without_values_in_the_samples_gets_the_type_of_later_ones(tmp_path, kind):
    def empty(name):
        return {"id": name, "x": None if kind == "json" else ""}

    rows = files(tmp_path, kind, [[empty("a")], [{"id": "b", "x": 3}], *([empty(name)] for name in "cde")])
    assert rows.schema().base_schema.field("x").type == pa.null()
    assert [row["x"] for row in rows.take_all()] == [None, 3, None, None, None]


def test_text_among_numbers_stays_an_error(tmp_path):
    rows = files(tmp_path, "json", [[{"x": 1}], [{"x": "a"}], [{"x": 2}], [{"x": 3}], [{"x": 4}]])
    with pytest.raises(ValueError, match=r"1\.json"):
        rows.take_all()
    assert rows.schema().base_schema.field("x").type == pa.int64()


def test_types_that_were_said_are_not_widened(tmp_path):
    (tmp_path / "rows.csv").write_text("x\n1\n0.5\n")
    options = pa.csv.ConvertOptions(column_types={"x": pa.int64()})
    with pytest.raises(ValueError, match=r"column x: line 3: CSV conversion error to int64: invalid value '0\.5'"):
        data.read_csv(str(tmp_path), convert_options=options).take_all()


@pytest.mark.parametrize(
    "option", [{"newlines_in_values": True}, {"escape_char": "\\"}], ids=lambda each: next(iter(each))
)
def test_files_that_are_read_from_their_begin_widen_too(tmp_path, option):
    newline = "\n" if "newlines_in_values" in option else "\\\n"
    lines = [f'{number},1,"a{newline}b"\n' for number in range(400_000)]
    lines[-1] = f'399999,0.5,"a{newline}b"\n'
    (tmp_path / "rows.csv").write_text("id,x,text\n" + "".join(lines))
    rows = data.read_csv(str(tmp_path), parse_options=pa.csv.ParseOptions(**option))
    batches = list(rows.iter_batches(batch_size=10_000))
    assert batches[0]["x"].dtype.name == "int64"
    assert batches[-1]["x"].tolist()[-2:] == [1, 0.5]
    assert np.concatenate([batch["id"] for batch in batches]).tolist() == list(range(400_000))
    assert {text for batch in batches for text in batch["text"]} == {"a\nb"}


def test_a_bad_value_behind_line_ends_in_values_is_named_with_its_line(tmp_path):
    (tmp_path / "rows.csv").write_text('x,text\n1,"a\nb"\n2,"c\nd"\nwrong,e\n')
    rows = data.read_csv(
        str(tmp_path),
        parse_options=pa.csv.ParseOptions(newlines_in_values=True),
        convert_options=pa.csv.ConvertOptions(column_types={"x": pa.int64()}),
    )
    with pytest.raises(ValueError, match=r"column x: line \d+: CSV conversion error to int64: invalid value 'wrong'"):
        rows.take_all()


def test_files_that_have_changed_are_looked_at_anew(tmp_path):
    rows = files(tmp_path, "json", [[{"x": 1}], [{"x": 0.5}], [{"x": 2}], [{"x": 3}], [{"x": 4}]])
    assert rows.sum("x") == 10.5
    (tmp_path / "1.json").write_text('{"x": 1}\n')
    assert rows.schema().base_schema.field("x").type == pa.int64()


@pytest.mark.parametrize("kind", WRITTEN)
def test_compressed_lines_are_read_in_blocks(tmp_path, kind):
    text, read = WRITTEN[kind]
    place = tmp_path / f"rows.{kind}.bz2"

    def made(rows):
        place.write_bytes(bz2.compress(text(rows).encode()))
        return read(str(place), file_extensions=None)

    rows = [{"id": number, "text": "x" * 50} for number in range(100_000)]
    rows[-1]["id"] = 0.5
    assert made(rows).schema().base_schema.field("id").type == pa.int64()
    assert [row["id"] for row in made(rows).take_all()] == [*range(99_999), 0.5]
    rows[90_000]["id"] = "a"
    # A line of CSV is counted from 1 on, behind that of the names.
    words = "in row 90000" if kind == "json" else "column id: line 90002: CSV conversion error to int64: .* 'a'"
    with pytest.raises(ValueError, match=words):
        made(rows).take_all()


def test_compressed_csv_has_line_ends_within_quotes(tmp_path):
    rows = [{"id": number, "text": f'"a\nb{number}"' if number % 1000 == 0 else "x" * 50} for number in range(200_000)]
    (tmp_path / "rows.csv.bz2").write_bytes(bz2.compress(csv_text(rows).encode()))
    made = data.read_csv(str(tmp_path / "rows.csv.bz2"), file_extensions=None).take_all()
    assert [row["id"] for row in made] == [*range(200_000)]
    assert made[199_000]["text"] == "a\nb199000"

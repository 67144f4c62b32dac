"""Integers beside nulls in batches of numpy's and of pandas'."""

import pyarrow as pa
import pytest
from headway import data

pytestmark = pytest.mark.usefixtures("the_engine_ends")

#: No double has this value.
LARGE = 2**53 + 1


def same(batch):
    return batch


COLUMNS = {
    "integers": pa.array([LARGE, None]),
    "unsigned integers": pa.array([2**64 - 1, None], pa.uint64()),
    "lists": pa.array([[LARGE, 1], [None, 2]]),
    "lists of lists": pa.array([[[LARGE], [None]], None]),
}
WORDS = r"column 'i' has nulls and the integer .* beyond 2\^53; fill the nulls .*batch_format=\"pyarrow\""


@pytest.mark.parametrize("batch_format", ["numpy", "pandas"])
@pytest.mark.parametrize("column", COLUMNS)
def test_integers_that_floats_lack_are_errors_beside_nulls(column, batch_format):
    rows = data.from_arrow(pa.table({"i": COLUMNS[column]}))
    with pytest.raises(TypeError, match=WORDS):
        rows.map_batches(same, batch_format=batch_format).take_all()
    with pytest.raises(TypeError, match=WORDS):
        list(rows.iter_batches(batch_format=batch_format))
    with pytest.raises(TypeError, match=WORDS):
        rows.to_pandas()


@pytest.mark.parametrize("kind", [pa.struct([("a", pa.int64())]), pa.map_(pa.string(), pa.int64())])
def test_integers_of_structs_and_maps_are_exact_in_batches_of_numpy(kind):
    values = [[("a", LARGE)], [("a", None)]] if pa.types.is_map(kind) else [{"a": LARGE}, {"a": None}]
    rows = data.from_arrow(
        pa.table({"i": pa.array([*values, None], kind), "l": pa.array([values, None, [None]], pa.list_(kind))})
    )
    made = rows.map_batches(lambda batch: {"i": list(batch["i"]), "l": list(map(list_of, batch["l"]))}).take_all()
    assert made == rows.take_all()
    (batch,) = rows.iter_batches()
    assert list(batch["i"]) == [*values, None]
    with pytest.raises(TypeError, match=WORDS):
        rows.map_batches(same, batch_format="pandas").take_all()


def list_of(row):
    return None if row is None else list(row)


def test_integers_that_floats_have_are_floats_beside_nulls():
    rows = data.from_arrow(pa.table({"i": pa.array([2**53, -(2**53), 2**62, None])}))
    made = rows.map_batches(same).take_all()
    assert [row["i"] for row in made[:3]] == [2**53, -(2**53), 2**62]
    assert rows.to_pandas()["i"].tolist()[:3] == [2**53, -(2**53), 2**62]


def test_tables_and_rows_have_exact_integers_beside_nulls():
    rows = data.from_arrow(pa.table({"i": [LARGE, None]}))
    assert rows.map_batches(same, batch_format="pyarrow").map(same).take_all() == [{"i": LARGE}, {"i": None}]
    filled = rows.with_column("i", data.expressions.col("i").fill_null(0)).map_batches(same)
    assert filled.take_all() == [{"i": LARGE}, {"i": 0}]


def test_integers_that_floats_lack_are_errors_beside_fractions_of_one_list():
    with pytest.raises(TypeError, match=r"column 'x'.*9007199254740993"):
        data.range(1).map_batches(lambda batch: {"x": [0.5, LARGE]}).take_all()
    assert data.range(1).map_batches(lambda batch: {"x": [0.5, 2]}).take_all() == [{"x": 0.5}, {"x": 2.0}]

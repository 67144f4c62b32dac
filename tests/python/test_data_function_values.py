"""Values and faults of functions that are easily lost on the way from Python to Arrow."""

from __future__ import annotations

import datetime
import threading

import numpy as np
import pyarrow as pa
import pytest
from headway import data
from headway._worker.functions.outputs import BadOutput, columns_of

pytestmark = pytest.mark.usefixtures("the_engine_ends")

NOON = datetime.datetime(2026, 1, 1, 12)


def stored(values):
    made = columns_of({"x": values})["x"]
    return made.to_pylist() if isinstance(made, pa.ChunkedArray) else made.tolist()


def exhausted(value):
    return next(iter([]))


@pytest.mark.parametrize(
    "run",
    [
        lambda rows: rows.map_batches(exhausted),
        lambda rows: rows.map_batches(exhausted, batch_format="pyarrow", batch_size=2),
        lambda rows: rows.map(exhausted),
        lambda rows: rows.flat_map(exhausted),
        lambda rows: rows.filter(exhausted),
        lambda rows: rows.groupby("id").map_groups(exhausted),
        lambda rows: rows.map_batches(lambda batch: batch).map_batches(exhausted),
    ],
    ids=["batches", "arrow", "rows", "lists", "filter", "groups", "second"],
)
def test_a_function_without_a_next_value_loses_no_rows(run):
    with pytest.raises(RuntimeError, match="the function raised StopIteration"):
        run(data.range(10)).take_all()


def test_a_function_without_a_next_value_for_the_last_row_loses_no_row():
    numbers = iter(range(9))
    with pytest.raises(RuntimeError, match="the function raised StopIteration"):
        data.range(10).map(lambda row: {"next": next(numbers)}, concurrency=1).take_all()


class NeedsTwo(Exception):
    def __init__(self, file, line):
        super().__init__(f"{file} has a bad line: {line}")
        self.line = line
        self.lock = threading.Lock()


def test_an_exception_that_cannot_be_pickled_keeps_its_class():
    def bad(batch):
        raise NeedsTwo("a.txt", 3)

    with pytest.raises(NeedsTwo, match=r"a\.txt has a bad line: 3") as caught:
        data.range(10).map_batches(bad).take_all()
    assert caught.value.line == 3
    assert not hasattr(caught.value, "lock")
    assert "raise NeedsTwo" in str(caught.value.__cause__)


@pytest.mark.parametrize("batch_format", ["numpy", "pandas", "pyarrow"])
def test_maps_within_structs_and_lists_go_through_functions(batch_format):
    values = [{"lists": [[("k", NOON)], []], "n": 1}, None, {"lists": None, "n": 2}]
    kind = pa.struct([("lists", pa.list_(pa.map_(pa.string(), pa.timestamp("us")))), ("n", pa.int64())])
    rows = data.from_arrow(pa.table({"x": pa.array(values, kind)}))
    made = rows.map_batches(lambda batch: batch, batch_format=batch_format).to_arrow()
    assert made.schema.field("x").type == kind
    assert made["x"].to_pylist() == values
    assert rows.map(lambda row: row).to_arrow().equals(made)


def test_faults_within_nested_values_name_the_field():
    with pytest.raises(TypeError, match=r"column 'x\.a': row 1 is of type str, and a row before it of type int"):
        columns_of({"x": [{"a": 1}, {"a": "b"}]})
    with pytest.raises(TypeError, match=r"column 'x\.m\.value': row 0 is of type object"):
        columns_of({"x": [{"m": [("k", object())]}]})


@pytest.mark.parametrize("value", [2**70, "\ud800"])
def test_numbers_and_text_that_cannot_be_stored_say_why(value):
    with pytest.raises(TypeError, match=r"column 'x': the value of row 1 cannot be stored: .*(too large|surrogates)"):
        columns_of({"x": [type(value)(), value]})


def test_masked_values_are_missing():
    assert stored(np.ma.array([1, 2, 3], mask=[0, 1, 0])) == [1, None, 3]
    assert stored(np.ma.array([1, 2, 3])) == [1, 2, 3]
    assert stored(np.ma.array([[1, 2], [3, 4]])) == [[1, 2], [3, 4]]
    with pytest.raises(BadOutput, match="column 'x' has missing values within arrays"):
        columns_of({"x": np.ma.array([[1, 2]], mask=[[0, 1]])})


@pytest.mark.parametrize("kind", [">i4", ">f8", ">u2"])
def test_arrays_of_the_other_byte_order(kind):
    assert stored(np.array([1, 2, 3], kind)) == [1, 2, 3]
    assert columns_of({"x": np.array([[1, 2], [3, 4]], kind)})["x"].combine_chunks().to_numpy_ndarray().tolist() == [
        [1, 2],
        [3, 4],
    ]


def test_times_in_units_that_arrow_lacks():
    day, weeks = datetime.date(2026, 1, 1), datetime.timedelta(days=14)
    assert stored(np.array(["2026", "NaT"], "datetime64[Y]")) == [day, None]
    assert stored([np.datetime64("2026-01", "M"), None]) == [day, None]
    assert stored(np.array(["2026-01-01T12"], "datetime64[h]")) == [NOON]
    assert stored(np.array([2], "timedelta64[W]")) == [weeks]
    assert stored([np.timedelta64(14, "D")]) == [weeks]


def test_two_data_sets_that_share_a_function_have_their_own_types(tmp_path):
    def parsed(batch):
        return {"value": [float(text) if text.isdigit() else text for text in batch["text"]]}

    for name, line in (("words", "one"), ("numbers", "1")):
        (tmp_path / f"{name}.txt").write_text(line)
    words, numbers = (data.read_text(str(tmp_path / f"{name}.txt")) for name in ("words", "numbers"))
    assert words.map_batches(parsed).take_all() == [{"value": "one"}]
    assert numbers.map_batches(parsed).take_all() == [{"value": 1.0}]

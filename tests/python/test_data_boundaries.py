"""Sorted rows, cut into pieces where a column's values pass boundaries."""

import math

import headway.data as data
import numpy as np
import pyarrow as pa
import pytest
from headway.data.expressions import col

pytestmark = pytest.mark.usefixtures("the_engine_ends")


def pieces(rows, column="x"):
    return [list(batch[column]) for batch in rows.iter_batches(batch_size=None, batch_format="numpy")]


def shuffled(values):
    return data.from_arrow(pa.table({"x": np.random.default_rng(3).permutation(np.array(values))}))


def test_pieces_end_where_a_value_reaches_a_boundary():
    rows = shuffled(range(15))
    assert pieces(rows.sort("x", boundaries=[5, 12])) == [[*range(5)], [*range(5, 12)], [*range(12, 15)]]
    down = rows.sort("x", descending=True, boundaries=[5, 12])
    assert pieces(down) == [[14, 13, 12], [*range(11, 4, -1)], [*range(4, -1, -1)]]
    assert down.count() == 15
    assert pieces(rows.sort("x", boundaries=[])) == [[*range(15)]]


def test_there_is_no_piece_without_rows():
    rows = shuffled([1.5, 2.5, 9.5])
    assert pieces(rows.sort("x", boundaries=[-1, 2, 2, 5, 20])) == [[1.5], [2.5], [9.5]]
    assert pieces(rows.filter(expr=col("x") > 100).sort("x", boundaries=[2])) == []


def test_pieces_stay_when_they_are_kept_and_functions_get_them_whole():
    rows = shuffled(range(100)).sort("x", boundaries=[10, 90])
    assert rows.materialize().num_blocks() == 3
    counted = rows.map_batches(lambda batch: {"rows": [len(batch["x"])]}, batch_size=None)
    assert pieces(counted, "rows") == [[10], [80], [10]]
    assert [half.count() for half in rows.split(2)] == [50, 50]


def test_a_piece_may_have_many_batches_and_a_batch_many_pieces():
    rows = data.range(300_000, override_num_blocks=4).sort("id", boundaries=[1, 2, 290_000])
    seen = rows.map_batches(lambda piece: {"rows": [len(piece["id"])], "first": piece["id"][:1]}, batch_size=None)
    assert seen.to_pandas().values.tolist() == [[1, 0], [1, 1], [289_998, 2], [10_000, 290_000]]
    # Loops get a large piece in parts, and none that has rows of two pieces.
    made = pieces(rows, "id")
    assert np.array_equal(np.concatenate(made), np.arange(300_000))
    assert {0, 1, 2, 290_000} < {part[0] for part in made}


def test_nulls_and_nan_are_in_the_last_piece():
    table = pa.table({"x": pa.array([3.0, None, math.nan, -1.0, 7.0])})
    rows = data.from_arrow(table)
    for descending, first, rest in ((False, [-1.0], 4), (True, [7.0, 3.0], 3)):
        made = rows.sort("x", descending, [0]).iter_batches(batch_size=None, batch_format="pyarrow")
        values = [piece["x"].to_pylist() for piece in made]
        assert values[0] == first
        assert [len(each) for each in values[1:]] == [rest]


def test_several_columns_are_cut_by_the_first():
    table = pa.table({"a": [2, 1, 2, 1], "x": [1, 9, 0, 8]})
    assert pieces(data.from_arrow(table).sort(["a", "x"], boundaries=[2])) == [[8, 9], [0, 1]]


def test_integers_of_64_bits_are_compared_exactly():
    large = 2**63
    rows = data.from_arrow(pa.table({"x": pa.array([large, large + 1, large + 2], pa.uint64())}))
    assert pieces(rows.sort("x", boundaries=[large + 1])) == [[large], [large + 1, large + 2]]
    rows = data.from_arrow(pa.table({"x": pa.array([2**53, 2**53 + 1], pa.int64())}))
    assert pieces(rows.sort("x", boundaries=[2**53 + 0.5])) == [[2**53, 2**53 + 1]]
    assert pieces(rows.sort("x", boundaries=[np.int64(2**53 + 1)])) == [[2**53], [2**53 + 1]]


def test_text_has_no_boundaries():
    rows = data.from_items([{"x": "a"}, {"x": "b"}]).sort("x", boundaries=[1])
    with pytest.raises(ValueError, match="boundaries: column x is string; they cut columns of integers or fractions"):
        rows.take_all()

"""Numbers of several types in the outputs of one function, and their extremes."""

import numpy as np
import pytest
from headway import data
from headway.data.aggregate import AbsMax, Max, Min

pytestmark = pytest.mark.usefixtures("the_engine_ends")


def pieces_of(*outputs):
    """A piece for each output, which is its column ``x``."""
    return data.range(len(outputs), override_num_blocks=len(outputs)).map_batches(
        lambda batch: {"x": outputs[int(batch["id"][0])]}
    )


@pytest.mark.parametrize(
    ("first", "later", "kind"),
    [
        (np.array([1]), np.array([2.5]), "double"),
        (np.array([1], np.int32), np.array([2**40]), "int64"),
        (np.array([1], np.float32), np.array([0.1]), "double"),
        (np.array([1]), np.array([0.5], np.float32), "double"),
        (np.array([-1], np.int8), np.array([200], np.uint8), "int16"),
        ([[1, 2]], [[0.5]], "list<element: double>"),
        ([{"a": 1}], [{"a": 0.5, "b": 1}], "struct<a: double, b: int64>"),
        (
            np.array([[1], [2]])[:1],
            np.array([[0.5]]),
            "extension<arrow.fixed_shape_tensor[value_type=double, shape=[1]]>",
        ),
    ],
)
def test_numbers_of_several_types_get_one_for_all(first, later, kind):
    streamed = pieces_of(first, later, first)
    made = streamed.materialize()
    found = made.schema().types[0]
    assert str(found).replace("item:", "element:") == kind
    assert str(streamed.schema().types[0]).replace("item:", "element:") == kind
    assert sum(len(batch["x"]) for batch in pieces_of(first, later, first).iter_batches(batch_size=2)) == 3
    rows = [np.asarray(row["x"]).tolist() for row in made.take_all()]
    expected = [np.asarray(each[0]).tolist() for each in (first, later, first)]
    assert [row if not isinstance(row, dict) else row["a"] for row in rows] == [
        row if not isinstance(row, dict) else row["a"] for row in expected
    ]


@pytest.mark.parametrize(
    ("first", "later"),
    [
        (np.zeros((1, 4), np.uint8), np.zeros((1, 4), np.float32)),
        (np.zeros((1, 4), np.float32), np.zeros((1, 4), np.uint8)),
        (np.zeros((1, 4), np.uint8), np.zeros((1, 5), np.int64)),
        ([{"a": np.zeros(2, np.int8)}], [{"a": np.zeros(2, np.uint8)}]),
    ],
)
def test_arrays_of_8_bit_numbers_have_one_type(first, later):
    """Shuffles count the bytes of these arrays, and count the same in every run."""
    with pytest.raises(ValueError, match=r'column "x" is .*; expected .*8-bit numbers .*make all of one dtype'):
        pieces_of(first, later).take_all()
    assert len(pieces_of(first, first[:0], [None], first).take_all()) == 3
    pixels = data.from_numpy(np.zeros((3, 4), np.uint8))
    with pytest.raises(ValueError, match=r'union.* column "data" .*uint8.*; cast one of them'):
        data.from_numpy(np.zeros((3, 4), np.float32)).union(pixels).take_all()


def late_fractions():
    """Integers, and a fraction behind more rows than are read ahead of whoever takes them."""
    rows = 1 << 20
    return data.range(20 * rows, override_num_blocks=20).map_batches(
        lambda batch: {"x": batch["id"] + (0.5 if batch["id"][0] >= 19 * rows else 0)}, batch_size=None
    )


def test_a_table_of_rows_has_the_type_of_them_all():
    seen = {str(batch["x"].dtype) for batch in late_fractions().iter_batches(batch_size=1 << 20)}
    assert seen == {"int64", "float64"}
    table = late_fractions().to_arrow()
    assert str(table.schema.types[0]) == "double"
    assert table.column("x").slice(19 << 20, 1).to_pylist() == [(19 << 20) + 0.5]
    assert late_fractions().to_pandas().x.dtype == np.float64


def test_parts_of_a_data_set_have_the_types_of_the_whole():
    parts = data.from_items([1, 2, 3, 4]).map(lambda row: {"x": row["item"] if row["item"] < 4 else 4.5})
    for split in (parts.split_at_indices([0, 2, 3]), parts.split(3), parts.train_test_split(0.25)):
        assert {str(part.schema().types[0]) for part in split} == {"double"}
        assert [row["x"] for part in split for row in part.take_all()] == [1, 2, 3, 4.5]


def test_a_sort_shows_its_columns_before_it_is_made():
    halves = data.range(3).with_column("id", data.expressions.col("id") * 0.5)
    for made in (data.range(3).sort("id").union(halves.sort("id")), data.range(3).union(halves).sort("id")):
        assert [str(kind) for kind in made.schema().types] == ["double"]
        assert {type(value) for row in made.take_all() for value in row.values()} == {float}


@pytest.mark.parametrize("big", [2**53 + 1, -(2**53) - 1])
def test_integers_that_no_double_has_are_named(big):
    for outputs in ([np.array([big]), np.array([2.5])], [np.array([2.5]), np.array([big])]):
        with pytest.raises(ValueError, match=rf'"x" is int64; expected double, as in the first .*value {big} not in'):
            pieces_of(*outputs).materialize()


@pytest.mark.parametrize("later", [np.array([2]), np.array([2.5]), np.array(["x"])])
def test_truth_values_before_others_are_named(later):
    with pytest.raises(ValueError, match=r"\"x\" is (int64|double|string); expected bool, as in the first output"):
        pieces_of(np.array([True]), later).materialize()


@pytest.mark.parametrize("ignore_nulls", [True, False])
def test_what_ray_counts_from_changes_no_extreme(ignore_nulls):
    rows = data.from_items([{"x": 3}, {"x": -4}])
    made = rows.aggregate(
        Min("x", ignore_nulls, zero_factory=lambda: float("+inf")),
        Max("x", ignore_nulls, zero_factory=lambda: float("-inf")),
        AbsMax("x", ignore_nulls, None, lambda: 0),
    )
    assert made == {"min(x)": -4, "max(x)": 3, "abs_max(x)": 4}


def test_fractions_without_a_fraction_are_fractions_in_json(tmp_path):
    rows = [{"x": 1.0, "v": [2.0, -0.0]}, {"x": 1e16, "v": [0.5]}]
    data.from_items(rows).write_json(str(tmp_path))
    text = "".join(path.read_text() for path in tmp_path.iterdir())
    assert text == '{"x":1.0,"v":[2.0,-0.0]}\n{"x":1e+16,"v":[0.5]}\n'
    data.from_items([{"x": 1.0}, {"x": 2.0}]).write_json(str(tmp_path / "whole"))
    assert [str(kind) for kind in data.read_json(str(tmp_path / "whole")).schema().types] == ["double"]


def test_a_sum_that_is_too_large_is_named_as_the_user_did():
    rows = data.from_numpy(np.array([2**64 - 1, 1], np.uint64))
    with pytest.raises(OverflowError, match=r"^sum\(data\) is 18446744073709551616, which is no int64"):
        rows.sum("data")

"""Types that few tables have keep their values in rows, functions and operations on all rows."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import numpy as np
import pandas
import pyarrow as pa
import pytest
from headway import data
from headway.data.expressions import col, lit

pytestmark = pytest.mark.usefixtures("the_engine_ends")

DURATIONS = pa.array([3, 1, None, 1], pa.duration("ms"))


def test_nanoseconds_are_times_in_rows_and_stay_exact_in_functions():
    moments = pa.array([1_700_000_000_123_456_789, 5], pa.timestamp("ns", "Europe/Berlin"))
    table = pa.table({"at": moments, "took": pa.array([7, 1_001], pa.duration("ns"))})
    rows = data.from_arrow(table)
    expected = [
        {"at": pandas.Timestamp(at, tz="UTC"), "took": pandas.Timedelta(took)}
        for at, took in ((1_700_000_000_123_456_789, 7), (5, 1_001))
    ]
    assert rows.take_all() == expected
    assert rows.select_columns("took").take_all() == [{"took": row["took"]} for row in expected]
    assert rows.map(lambda row: row).to_arrow() == table


def test_durations_and_exact_times_of_day_are_keys():
    rows = data.from_arrow(pa.table({"took": DURATIONS, "id": range(4)}))
    assert [row["id"] for row in rows.sort("took").take_all()] == [1, 3, 0, 2]
    assert [row["id"] for row in rows.sort("took", descending=True).take_all()] == [0, 1, 3, 2]
    assert rows.unique("took") == [timedelta(milliseconds=1), timedelta(milliseconds=3), None]
    counted = rows.groupby("took").count().take_all()
    assert [(row["took"], row["count()"]) for row in counted] == [
        (timedelta(milliseconds=1), 2), (timedelta(milliseconds=3), 1), (None, 1)
    ]  # fmt: skip
    assert rows.max("took") == timedelta(milliseconds=3)
    joined = rows.join(rows.rename_columns({"id": "other"}), "inner", on="took").to_arrow()
    assert sorted(zip(joined["id"].to_pylist(), joined["other"].to_pylist(), strict=True)) == [
        (0, 0), (1, 1), (1, 3), (3, 1), (3, 3)
    ]  # fmt: skip
    assert joined["took"].type == pa.duration("ms")
    # Two that are alike in microseconds, all that DuckDB keeps of a time of day.
    times = data.from_arrow(pa.table({"at": pa.array([1_001, 1_000, 1_001], pa.time64("ns"))}))
    assert [row["count()"] for row in times.groupby("at").count().take_all()] == [1, 2]


def test_lists_and_structs_of_what_duckdb_lacks_come_along():
    halves = np.arange(6, dtype=np.float16)
    table = pa.table({
        "id": [2, 0, 1],
        "pair": pa.FixedSizeListArray.from_arrays(pa.array(halves), 2),
        "halves": pa.array([[halves[1], None], None, [halves[2]]], pa.list_(pa.float16())),
        "took": pa.array([[3, None], [], None], pa.large_list(pa.duration("ms"))),
        "none": pa.array([[], None, []], pa.list_(pa.int8(), 0)),
        "both": pa.array([{"a": [halves[1]]}, None, {"a": None}], pa.struct([("a", pa.list_(pa.float16(), 1))])),
    })  # fmt: skip
    rows = data.from_arrow(table)
    ordered = table.take([1, 2, 0])
    for made in (rows.sort("id"), rows.groupby("id").map_groups(lambda group: group, batch_format="pyarrow")):
        assert made.to_arrow() == ordered
    shuffled = rows.limit(3).random_shuffle(seed=1).to_arrow()
    assert (shuffled.schema, shuffled.sort_by("id")) == (table.schema, ordered)
    assert rows.sort("pair", descending=True).to_arrow()["id"].to_pylist() == [1, 0, 2]
    assert rows.join(rows.select_columns("id"), "inner", on="id").to_arrow().schema == table.schema


def test_durations_of_two_units_are_not_joined_unsaid():
    milliseconds = data.from_arrow(pa.table({"took": DURATIONS}))
    seconds = data.from_arrow(pa.table({"took": DURATIONS.cast(pa.duration("s"), safe=False)}))
    with pytest.raises(ValueError, match=r"'took' is duration\[ms\] on the left, and 'took' is duration\[s\] on the"):
        milliseconds.join(seconds, "inner", on="took").take_all()


def test_decimals_that_functions_return_have_one_type_in_every_piece():
    prices = [Decimal("0.50"), Decimal("12345.75"), Decimal("0.05")]
    rows = data.from_items([{"id": number, "price": price} for number, price in enumerate(prices)])
    for made in (
        rows.map_batches(lambda batch: batch, batch_size=1),
        rows.groupby("id").map_groups(lambda group: group),
        rows.repartition(3).map(lambda row: row),
    ):
        assert [row["price"] for row in made.take_all()] == prices


def test_decimals_in_expressions_are_exact():
    large = Decimal("12345678901234567890.12")  # No float has it.
    rows = data.from_arrow(pa.table({"price": pa.array([large, Decimal("1.10"), None], pa.decimal128(30, 2))}))
    added = rows.with_column("price", col("price") + Decimal("0.005"))
    assert [row["price"] for row in added.take_all()] == [large + Decimal("0.005"), Decimal("1.105"), None]
    assert rows.filter(expr=col("price") == large).count() == 1
    assert rows.filter(expr=col("price").is_in([large, None])).count() == 2
    assert rows.filter(expr=col("price").is_in([Decimal("1.10"), 2])).count() == 1
    assert [row["price"] for row in rows.with_column("price", lit(Decimal("-1E+3"))).take(1)] == [Decimal(-1000)]


def test_integers_beside_missing_ones_in_structs_stay_integers_in_functions():
    large = 2**53 + 1  # No float has it.
    rows = data.from_arrow(pa.table({"box": pa.array([{"a": large}, None, {"a": None}])}))
    assert rows.map_batches(lambda batch: batch).take_all() == [
        {"box": {"a": large}},
        {"box": None},
        {"box": {"a": None}},
    ]


def test_unions_are_refused_by_name_where_duckdb_would_see_them():
    union = pa.UnionArray.from_sparse(pa.array([0, 1], pa.int8()), [pa.array([1, 2]), pa.array(["a", "b"])])
    rows = data.from_arrow(pa.table({"id": [1, 0], "either": union}))
    with pytest.raises(ValueError, match=r"sort: column 'either' is of type sparse_union<.*DuckDB does not have"):
        rows.sort("id").take_all()


def test_a_column_without_a_name_goes_through_operations_on_all_rows(tmp_path):
    pandas.DataFrame({"k": [2, 1, 1]}).to_csv(tmp_path / "table.csv")  # The index has no name.
    rows = data.read_csv(str(tmp_path / "table.csv"))
    assert rows.sort("k").take_all() == [{"": 1, "k": 1}, {"": 2, "k": 1}, {"": 0, "k": 2}]
    assert rows.sort("", descending=True).take(1) == [{"": 2, "k": 1}]
    assert rows.groupby("").count().take(1) == [{"": 0, "count()": 1}]
    assert rows.unique("") == [0, 1, 2]
    assert rows.join(rows.rename_columns({"k": "other"}), "inner", on="").take(1) == [{"": 0, "k": 2, "other": 2}]


CASES = [{"a": 2, "A": 1, "aB": "x"}, {"a": 1, "A": 2, "aB": "y"}, {"a": 1, "A": 1, "aB": "z"}]


def test_names_that_differ_only_in_case_are_columns_of_their_own():
    rows = data.from_items(CASES)
    assert [row["aB"] for row in rows.sort("a").take_all()] == ["y", "z", "x"]
    assert [row["aB"] for row in rows.sort("A").take_all()] == ["x", "z", "y"]
    assert rows.sort(["A", "a"], descending=[False, False]).take_all() == [CASES[2], CASES[0], CASES[1]]
    assert rows.groupby("A").sum("a").take_all() == [{"A": 1, "sum(a)": 3}, {"A": 2, "sum(a)": 1}]
    assert rows.groupby(["a", "A"]).count().count() == 3
    assert rows.unique("A") == [1, 2]
    assert rows.aggregate(data.aggregate.Max("a", alias_name="m"), data.aggregate.Min("A", alias_name="M")) == {
        "m": 2,
        "M": 1,
    }
    other = data.from_items([{"A": 2, "AB": "found"}])
    assert rows.join(other, "inner", on="A").take_all() == [{**CASES[1], "AB": "found"}]
    assert rows.join(other, "left_anti", on="A").count() == 2
    groups = rows.groupby("A").map_groups(lambda group: {"A": group["A"][:1], "n": [len(group["a"])]})
    assert groups.take_all() == [{"A": 1, "n": 2}, {"A": 2, "n": 1}]


def test_failures_name_columns_as_they_are_called():
    rows = data.from_items([{"Name": "text", "k": 1}])
    with pytest.raises(Exception, match=r"sort: there is no column 'Nam'; there are Name, k"):
        rows.sort("Nam").take_all()
    with pytest.raises(ValueError, match=r"'Name' is string; allowed: a column of numbers"):
        rows.sum("Name")


def test_intervals_keep_nanoseconds_or_are_refused():
    kind = pa.month_day_nano_interval()
    intervals = pa.array([(1, 2, 3), None, (0, 0, 1_000_000_001), (14, -1, -5)], kind)
    rows = data.from_arrow(pa.table({"id": [3, 2, 1, 0], "i": intervals}).slice(1))
    assert rows.sort("id").to_arrow().column("i").to_pylist() == intervals[1:].to_pylist()[::-1]
    assert rows.join(rows.select_columns(["id"]), "inner", on="id").to_arrow().schema.field("i").type == kind
    with pytest.raises(ValueError, match=r"column 'i' is month_day_nano_interval and has parts of microseconds"):
        rows.sort("i").take_all()
    whole = data.from_arrow(pa.table({"i": pa.array([(0, 0, 5000), (0, 0, -2000)], kind)}))
    assert [row["i"].nanoseconds for row in whole.sort("i").take_all()] == [-2000, 5000]


def test_arrays_of_several_shapes_may_be_written_into():
    rows = data.range(3).map(lambda row: {"x": np.full((row["id"] + 1, 2), row["id"])})
    (batch,) = rows.iter_batches()
    for array in batch["x"]:
        array += 1  # torch warns of arrays that are not writable.
    assert [array.tolist() for array in batch["x"]] == [[[1, 1]], [[2, 2]] * 2, [[3, 3]] * 3]
    assert all(row["x"].flags.writeable for row in rows.iter_rows())


def _changed(batch):
    for values in batch.values():
        if values.dtype == object and isinstance(values[0], np.ndarray):
            for row in values:
                row += 1
        elif values.dtype.kind in "if":
            values += 1
    return batch


MIXED = {
    "text": list("abcd"),
    "number": np.arange(4),
    "tensor": pa.FixedShapeTensorArray.from_numpy_ndarray(np.arange(8.0).reshape(4, 2)),
    "pair": pa.array([[1, 2]] * 4, pa.list_(pa.int64(), 2)),
    "list": [[1], [2, 3], [4], []],
}


def test_a_function_may_write_into_its_arrays_whatever_columns_are_beside_them():
    rows = data.from_arrow(pa.table(MIXED)).materialize()
    twice = rows.map_batches(_changed, batch_size=2).map_batches(_changed)
    given = rows.map_batches(lambda table: table, batch_format="pyarrow").map_batches(_changed)
    for made, more in ((rows.map_batches(_changed), 1), (twice, 2), (given, 1), (rows, 0)):
        table = made.to_pandas()
        assert table["number"].tolist() == [i + more for i in range(4)]
        assert np.stack(table["tensor"]).tolist() == (np.arange(8.0).reshape(4, 2) + more).tolist()
        assert [list(row) for row in table["pair"]] == [[1 + more, 2 + more]] * 4
        assert [list(row) for row in table["list"]] == [[1 + more], [2 + more, 3 + more], [4 + more], []]


def test_an_arrow_table_that_a_function_returns_again_and_again_is_not_written_into():
    kept = pa.table({"text": ["a"] * 3, "number": np.zeros(3)})
    rows = data.range(4).map_batches(lambda batch: kept, batch_size=1, batch_format="pyarrow").map_batches(_changed)
    assert rows.to_pandas()["number"].tolist() == [1.0] * 12


def test_rows_of_a_function_and_of_a_loop_may_be_written_into():
    images = data.from_items([{"image": np.ones((2 + i, 2)), "name": "a"} for i in range(2)])
    rows = data.from_arrow(pa.table(MIXED))

    def more(row):
        row["image" if "image" in row else "tensor"] += 1
        return row

    assert [row["image"].sum() for row in images.map(more).take_all()] == [8, 12]
    assert [row["tensor"].sum() for row in rows.map(more).take_all()] == [3, 7, 11, 15]
    for row in rows.iter_rows():
        row["tensor"] += 1

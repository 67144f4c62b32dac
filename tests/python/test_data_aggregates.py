"""Aggregates that users write, and those that describe columns."""

import datetime
import math

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from headway import data
from headway._worker.functions import whole_queries
from headway.data.aggregate import (
    AbsMax,
    AggregateFn,
    AggregateFnV2,
    ApproximateQuantile,
    ApproximateTopK,
    Count,
    Max,
    Min,
    MissingValuePercentage,
    Sum,
    ValueCounter,
    ZeroPercentage,
)
from headway.data.expressions import col

pytestmark = pytest.mark.usefixtures("the_engine_ends")


class Mean(AggregateFnV2):
    def __init__(self, on, ignore_nulls=True, name="own_mean"):
        super().__init__(f"{name}({on})", lambda: [0, 0], on=on, ignore_nulls=ignore_nulls)

    def aggregate_block(self, block):
        column = block[self.get_target_column()]
        if not self._ignore_nulls and column.null_count:
            return None
        if column.null_count == len(column):
            return None
        return [pc.sum(column).as_py(), pc.count(column).as_py()]

    def combine(self, current_accumulator, new):
        return [one + other for one, other in zip(current_accumulator, new, strict=True)]

    def finalize(self, accumulator):
        return accumulator[0] / accumulator[1] if accumulator[1] else None


@pytest.fixture(scope="module")
def numbers():
    """Four pieces of 25 rows; the third of each ten is missing."""
    rows = [
        {"id": i, "k": "abc"[i % 3], "x": None if i % 10 == 3 else float(i), "of_c": i if i % 3 == 2 else None}
        for i in range(100)
    ]
    return data.from_items(rows, override_num_blocks=4)


VALUES = [float(i) for i in range(100) if i % 10 != 3]


def test_pieces_are_combined_to_one_value(numbers):
    every = [Mean("x", ignore_nulls=False, name="strict"), Mean("id", ignore_nulls=False)]
    assert numbers.aggregate(Mean("x"), *every) == {
        "own_mean(x)": sum(VALUES) / len(VALUES),
        "strict(x)": None,
        "own_mean(id)": 49.5,
    }


def test_groups_have_values_of_their_own_beside_computed_ones(numbers):
    # The first value is None, and its column has the type of the others.
    made = numbers.groupby("k").aggregate(Count(), Mean("of_c", name="late"), Mean("x"), Max("id")).take_all()
    assert [list(row) for row in made] == [["k", "count()", "late(of_c)", "own_mean(x)", "max(id)"]] * 3
    assert [row["late(of_c)"] for row in made] == [None, None, 50.0]
    assert [(row["k"], row["count()"], row["max(id)"]) for row in made] == [("a", 34, 99), ("b", 33, 97), ("c", 33, 98)]
    of_a = [value for value in VALUES if value % 3 == 0]
    assert made[0]["own_mean(x)"] == sum(of_a) / len(of_a)


def test_no_rows_have_the_value_of_the_zero_factory(numbers):
    class Rows(AggregateFnV2):
        def __init__(self):
            super().__init__("rows", lambda: 0, on=None, ignore_nulls=False)

        def aggregate_block(self, block):
            return block.num_rows

        def combine(self, current_accumulator, new):
            return current_accumulator + new

    none = numbers.filter(expr=col("id") < 0)
    assert none.aggregate(Rows(), Count()) == {"rows": 0, "count()": 0}


def test_the_older_form_of_functions(numbers):
    def begin(key):
        return {"key": key, "rows": 0}

    def add(accumulator, row):
        return {**accumulator, "rows": accumulator["rows"] + row["id"]}

    def merge(one, other):
        return {**one, "rows": one["rows"] + other["rows"]}

    by_row = AggregateFn(begin, merge, "own", accumulate_row=add, finalize=lambda made: f"{made['key']}{made['rows']}")
    by_block = AggregateFn(
        lambda key: 0, int.__add__, "rows", accumulate_block=lambda count, block: count + block.num_rows
    )
    assert numbers.aggregate(by_row, by_block) == {"own": "None4950", "rows": 100}
    assert [row["own"] for row in numbers.groupby("k").aggregate(by_row).take_all()] == ["a1683", "b1617", "c1650"]


def test_the_older_form_merges_pieces_alone(numbers):
    def larger(one, row):
        return row["id"] if one is None else max(one, row["id"])

    greatest = AggregateFn(lambda key: None, max, "greatest", accumulate_row=larger)
    assert numbers.aggregate(greatest) == {"greatest": 99}
    assert [row["greatest"] for row in numbers.groupby("k").aggregate(greatest).take_all()] == [99, 97, 98]


class OwnError(Exception):
    pass


def test_an_exception_of_an_aggregate_keeps_its_class(numbers):
    class Failing(Mean):
        def combine(self, current_accumulator, new):
            raise OwnError("cannot combine")

    with pytest.raises(OwnError, match="cannot combine"):
        numbers.aggregate(Failing("x"))


def test_percentages_of_many_columns_are_counted_without_filters():
    """DuckDB takes time for each FILTER and each column: a summary of 400 columns took 30 s."""
    schema = pa.schema([("a", pa.float64()), ("b", pa.bool_())])
    aggregates = [
        {"function": function, "on": name, "name": f"{function}({name})", "ignore_nulls": True}
        for function in ("missing_pct", "zero_pct")
        for name in schema.names
    ]
    assert "FILTER" not in whole_queries.query("aggregate", {"keys": [], "aggregates": aggregates}, [schema])


def test_percentages_frequent_values_and_quantiles():
    nan = math.nan
    rows = [
        {"x": 0.0, "word": "b", "list": [1, 2], "flag": True},
        {"x": None, "word": "a", "list": [2], "flag": False},
        {"x": nan, "word": None, "list": None, "flag": None},
        {"x": 4.0, "word": "b", "list": [], "flag": False},
    ]
    made = data.from_items(rows).aggregate(
        MissingValuePercentage("x"),
        MissingValuePercentage("word", alias_name="no_word"),
        ZeroPercentage("x"),
        ZeroPercentage("x", ignore_nulls=False, alias_name="of_all"),
        ZeroPercentage("flag"),
        ApproximateTopK("word", k=2),
        ApproximateTopK("list", k=1, encode_lists=True),
        ValueCounter("word"),
    )
    assert made == {
        "missing_pct(x)": 50.0,
        "no_word": 25.0,
        "zero_pct(x)": pytest.approx(100 / 3),
        "of_all": 25.0,
        "zero_pct(flag)": pytest.approx(200 / 3),
        "approx_topk(word)": [{"word": "b", "count": 2}, {"word": "a", "count": 1}],
        "approx_topk(list)": [{"list": 2, "count": 2}],
        "value_counter(word)": {"values": ["a", "b"], "counts": [1, 2]},
    }
    (quantiles,) = data.range(1001).aggregate(ApproximateQuantile("id", quantiles=[0.1, 0.5])).values()
    assert quantiles == [pytest.approx(100, abs=10), pytest.approx(500, abs=10)]
    assert data.range(1).limit(0).aggregate(ApproximateTopK("id", k=1), ValueCounter("id")) == {
        "approx_topk(id)": [],
        "value_counter(id)": {"values": [], "counts": []},
    }


def test_a_summary_of_durations_and_of_no_rows():
    rows = data.from_items([{"time": datetime.timedelta(1), "x": 2.0}])
    assert "time" in rows.summary().to_pandas().columns
    none = rows.filter(expr=col("x") > 9).summary().to_pandas()
    assert "approx_quantile[0]" in set(none["statistic"])
    assert "approx_quantile" not in set(none["statistic"])


def test_a_summary_has_what_suits_each_type():
    rows = [
        {"age": 25, "name": "Alice", "city": "NYC"},
        {"age": 30, "name": None, "city": "LA"},
        {"age": 0, "name": "Bob", "city": None},
    ]
    people = data.from_items(rows)
    summary = people.summary()
    frame = summary.to_pandas().set_index("statistic")
    assert frame["age"].dropna().to_dict() == {
        "approx_quantile[0]": 25.0,
        "count": 3,
        "max": 30,
        "mean": pytest.approx(55 / 3),
        "min": 0,
        "missing_pct": 0.0,
        "std": pytest.approx(13.123346),
        "zero_pct": pytest.approx(100 / 3),
    }
    city = summary.get_column_stats("city").set_index("statistic")["value"]
    assert city["approx_topk[1]"] == {"city": "NYC", "count": 1}
    assert city["missing_pct"] == pytest.approx(100 / 3)
    assert summary.dataset_schema.names == summary.columns == ["age", "name", "city"]
    own = people.summary(["age"], {pa.int64(): lambda name: [Sum(name)]})
    assert own.to_pandas().to_dict("list") == {"statistic": ["sum"], "age": [55]}
    with pytest.raises(ValueError, match="columns has 'town'; allowed: age, name, city"):
        people.summary(["town"])


@pytest.mark.parametrize("kind", [pa.float16(), pa.float32(), pa.float64()])
def test_the_greatest_number_is_no_nan_where_there_are_others(kind):
    numbers = pa.array(np.array([1, math.nan, -5, math.nan])).cast(kind)
    rows = data.from_arrow(pa.table({"x": numbers, "key": [0, 0, 0, 1]}))
    assert (rows.min("x"), rows.max("x")) == (-5, 1)
    first, second = rows.groupby("key").aggregate(Max("x"), Min("x"), AbsMax("x")).take_all()
    assert first == {"key": 0, "max(x)": 1, "min(x)": -5, "abs_max(x)": 5}
    assert all(math.isnan(second[name]) for name in ("max(x)", "min(x)", "abs_max(x)"))

"""Names of columns that SQL lacks or that could be the engine's own, in operations on all rows."""

import pyarrow as pa
import pytest
from headway import data
from headway._worker.functions.whole_names import own_names, seen_name
from headway.data.expressions import col

pytestmark = pytest.mark.usefixtures("the_engine_ends")

NAMES = ["", "a\0b", "a", "A", "__headway_row", "__headway_bytes_61", "a__headway_capitals_1", 'a"b', "ä\0"]


@pytest.mark.parametrize("name", NAMES)
def test_a_column_of_any_name_is_sorted_grouped_joined_and_shuffled(name):
    rows = [{name: 3, "other": 1}, {name: 1, "other": 2}, {name: 3, "other": 3}]
    made = data.from_items(rows)
    assert made.sort([name, "other"]).take_all() == [rows[1], rows[0], rows[2]]
    assert made.groupby(name).max("other").take_all() == [
        {name: 1, "max(other)": 2},
        {name: 3, "max(other)": 3},
    ]
    assert sorted(made.unique(name)) == [1, 3]
    other = data.from_items([{name: 1, "more": 9}])
    assert made.join(other, "inner", on=(name,)).take_all() == [{**rows[1], "more": 9}]
    sizes = made.groupby(name).map_groups(lambda group: {"n": [len(group["other"])]}).take_all()
    assert sizes == [{"n": 1}, {"n": 2}]


def test_names_that_are_seen_differ_and_are_found_again():
    seen = [seen_name(name) for name in NAMES]
    assert len({each.lower() for each in seen}) == len(NAMES)
    assert [own_names(each) for each in seen] == NAMES


def test_a_sum_that_no_integer_is_names_itself_and_what_to_do():
    rows = data.from_items([{"k": 1, "x": 2**62}] * 2)
    with pytest.raises(
        OverflowError, match=r"sum\(x\) is 9223372036854775808, which is no int64: cast the column to pa"
    ):
        rows.sum("x")
    assert rows.with_column("x", col("x").cast(pa.decimal128(38, 0))).sum("x") == 2**63

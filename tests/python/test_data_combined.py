"""Operations of data sets behind one another, which are right by themselves."""

from collections import Counter
from decimal import Decimal

import pandas
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from headway import data
from headway.data.expressions import col, monotonically_increasing_id

pytestmark = pytest.mark.usefixtures("the_engine_ends")


def same(row):
    return row


def numbers(rows):
    return [row["id"] for row in rows.take_all()]


@pytest.mark.parametrize(
    "make",
    [lambda rows: rows.sort("id"), lambda rows: rows.zip(data.range(3_000).rename_columns({"id": "other"}))],
    ids=["sort", "zip"],
)
def test_a_shuffle_of_rows_without_pieces_is_followed_by_any_step(make):
    shuffled = make(data.range(3_000)).random_shuffle(seed=1)
    assert sorted(numbers(shuffled.map(same))) == list(range(3_000))
    assert sorted(numbers(shuffled.filter(expr=col("id") >= 10))) == list(range(10, 3_000))
    locally = shuffled.iter_batches(batch_size=64, local_shuffle_buffer_size=128)
    assert sorted(number for batch in locally for number in batch["id"]) == list(range(3_000))


@pytest.mark.parametrize("other", [lambda: data.range(10), lambda: data.range(10).map(same)], ids=["plain", "map"])
def test_rows_of_a_random_split_stay_on_their_side_in_a_union(other):
    train, test = data.range(1_000).streaming_train_test_split(0.4, seed=5)
    tested = numbers(test)
    assert not set(tested) & set(numbers(train))
    assert numbers(other().union(test)) == [*range(10), *tested]
    assert numbers(other().union(other().union(test), test)) == [*range(10), *range(10), *tested, *tested]


@pytest.mark.parametrize(
    "behind",
    [
        lambda rows: rows.map(same),
        lambda rows: rows.map_batches(same),
        lambda rows: rows.map_batches(same, batch_size=7).limit(5_000),
        lambda rows: data.range(0).union(rows),
        lambda rows: rows.union(rows).limit(rows.count()),
    ],
    ids=["map", "map_batches", "limit", "union", "twice"],
)
def test_a_random_sample_has_the_same_rows_whatever_is_behind_it(behind, tmp_path):
    data.range(2_000).write_parquet(str(tmp_path), max_rows_per_file=500)
    for rows in (data.range(2_000), data.read_parquet(str(tmp_path))):
        sample = rows.random_sample(0.5, seed=5)
        assert numbers(behind(sample)) == numbers(sample)


def test_a_random_sample_of_a_data_set_is_the_same_in_both_places_of_a_union():
    sample = data.range(2_000).random_sample(0.5, seed=5)
    assert numbers(sample.union(sample)) == numbers(sample) * 2


def test_rows_of_a_union_are_numbered_anew():
    first = data.range(4).with_column("number", monotonically_increasing_id())
    twice = first.union(first).with_column("of_all", monotonically_increasing_id())
    rows = twice.take_all()
    assert [row["number"] for row in rows[:4]] == [row["number"] for row in rows[4:]]
    assert len({row["of_all"] for row in rows}) == 8


def test_a_random_split_of_a_union_without_pieces_is_the_same_in_each_read():
    part = data.range(3_000).map(same).limit(2_000)
    _, test = part.union(part).streaming_train_test_split(0.4, seed=5)
    first = numbers(test)
    assert all(numbers(test) == first for _ in range(8))


def test_a_union_of_a_function_s_rows_and_of_a_column_without_nulls():
    made = data.range(10).map(same)
    assert numbers(made.union(data.range(5))) == [*range(10), *range(5)]
    assert numbers(data.range(5).union(made)) == [*range(5), *range(10)]


def sorted_rows(values):
    """Rows whose types nobody knows before they come."""
    return data.from_items([{"x": value} for value in values]).map(same).sort("x")


@pytest.mark.parametrize("combine", [lambda one, other: one.union(other), lambda one, other: one.mix(other)])
@pytest.mark.parametrize(
    ("first", "second", "wanted"),
    [([1, 2], [2.5], "double"), ([2.5], [1, 2], "double"), ([None], ["a"], "string"), (["a"], [None], "string")],
)
def test_data_sets_whose_types_only_rows_show_get_the_wider_one(combine, first, second, wanted, tmp_path):
    both = combine(sorted_rows(first), sorted_rows(second))
    rows = [row["x"] for row in both.take_all()]
    assert Counter(rows) == Counter([*first, *second])
    assert all(isinstance(x, float) for x in rows) == (wanted == "double")
    both.write_parquet(str(tmp_path / "written"))
    assert [str(kind) for kind in data.read_parquet(str(tmp_path / "written")).schema().types] == [wanted]


@pytest.mark.parametrize("inside", ["struct", "list", "list of structs"])
def test_decimals_within_rows_have_as_many_digits_as_any(inside):
    def row(number):
        value = Decimal(number)
        return {"struct": {"d": value}, "list": [value], "list of structs": [{"d": value}]}[inside]

    rows = data.from_arrow(pa.table({"x": [row(10**power) for power in range(20)]})).map(same)
    assert [each["x"] for each in rows.take_all()] == [row(10**power) for power in range(20)]


def made(rows=True):
    """Rows of functions, whose columns are not known where there are none."""
    return data.range(4).map(lambda row: {"id": row["id"], "k": row["id"] % 2}).filter(lambda row: rows)


@pytest.mark.parametrize(
    ("operation", "wanted"),
    [
        (lambda none: none.sort("id").take_all(), []),
        (lambda none: none.unique("id"), []),
        (lambda none: none.groupby("k").sum("id").take_all(), []),
        (lambda none: none.sum("id"), None),
        (lambda none: none.groupby(None).map_groups(lambda group: group).take_all(), []),
        (lambda none: none.sort("id").random_shuffle(seed=2).take_all(), []),
        (lambda none: none.limit(3).random_shuffle(seed=2).take_all(), []),
        (lambda none: none.groupby("k").map_groups(lambda group: group).take_all(), []),
        (lambda none: none.repartition(2, keys=["k"]).take_all(), []),
        (lambda none: none.join(made(), "inner", 2, on=("id",)).take_all(), []),
        (lambda none: [row["id"] for row in made().join(none, "left_outer", 2, on=("id",)).take_all()], [0, 1, 2, 3]),
        (lambda none: [row["id"] for row in none.join(made(), "full_outer", 2, on=("id",)).take_all()], [0, 1, 2, 3]),
        (lambda none: [row["id"] for row in none.sort("id").union(made()).take_all()], [0, 1, 2, 3]),
    ],
)
def test_functions_that_make_no_rows_give_an_empty_data_set_to_what_needs_all_rows(operation, wanted):
    assert operation(made(rows=False)) == wanted


@pytest.mark.parametrize("use", [lambda rows: rows.sort("id"), lambda rows: rows.limit(2).random_shuffle(seed=1)])
def test_rows_without_columns_are_an_error_in_words(use):
    rows = data.from_arrow(pa.table({"id": [1, 2, 3]}).select([]))
    with pytest.raises(ValueError, match="the rows have no columns"):
        use(rows).take_all()


@pytest.fixture(params=["parquet", "files"])
def wide_rows(request, tmp_path):
    """Rows with a small column, "path" or "id", and a large one: many of the small one are read at
    a time, where it is read alone.
    """
    if request.param == "files":
        for number in range(60):
            (tmp_path / f"{number:02}").write_bytes(bytes(50_000))
        return data.read_binary_files(str(tmp_path), include_paths=True), "path"
    table = pa.table({"id": range(3_000), "text": [f"{number:06}" * 1_000 for number in range(3_000)]})
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=200, use_dictionary=False)
    return data.read_parquet(str(tmp_path)), "id"


def test_parts_by_chance_have_the_same_rows_whichever_columns_are_read(wide_rows):
    rows, name = wide_rows

    def values(part):
        return sorted(row[name] for row in part.select_columns([name]).take_all())

    def with_all_columns(part):
        return sorted(row[name] for row in part.take_all())

    train, test = rows.streaming_train_test_split(0.4, seed=5)
    assert values(test) == with_all_columns(test)
    assert sorted([*with_all_columns(train), *values(test)]) == values(rows)
    sample = rows.random_sample(0.5, seed=3)
    assert values(sample) == with_all_columns(sample)
    first = rows.random_shuffle(seed=1).limit(20)
    assert values(first) == with_all_columns(first)


@pytest.mark.parametrize("batch_size", [32, None])
def test_parts_by_chance_have_the_same_rows_whatever_is_done_with_them(batch_size):
    train, test = data.range(3_000).streaming_train_test_split(0.4, seed=5)
    tested = sorted(numbers(test.map_batches(same, batch_size=batch_size)))
    assert tested == sorted(numbers(test))
    assert sorted([*numbers(train.map(same)), *tested]) == list(range(3_000))


def test_rows_behind_a_limit_are_not_said_to_be_dropped(capfd):
    batches = data.range(300_000).limit(1_000).iterator().iter_batches(batch_size=None)
    assert sum(len(batch["id"]) for batch in batches) == 1_000
    assert "dropped" not in capfd.readouterr().err


def test_a_zip_of_different_numbers_of_rows_has_no_count():
    with pytest.raises(ValueError, match="zip: the inputs have different numbers of rows: one ends after 4"):
        data.range(5).zip(data.range(4)).count()
    assert data.range(5).zip(data.range(5)).count() == 5
    assert data.range(5).zip(data.range(4)).limit(3).count() == 3


def sizes(batch):
    return {"size": [len(batch["id"])] * len(batch["id"])}


@pytest.mark.parametrize(
    "make",
    [
        lambda rows: rows.zip(data.range(3_000).rename_columns({"id": "other"})),
        lambda rows: rows.mix(data.range(3_000), weights=[1, 2]).limit(3_000),
    ],
    ids=["zip", "mix"],
)
def test_functions_behind_small_pieces_get_batches_of_the_size_that_they_ask_for(make):
    """However small the batches are that a function before them has made."""
    made = make(data.range(3_000).map_batches(same, batch_size=3))
    for size, rest in [(1024, 952), (700, 200), (1500, 0), (2000, 1000)]:
        found = Counter(row["size"] for row in made.map_batches(sizes, batch_size=size).take_all())
        assert found[size] == 3_000 - rest, found
        assert sum(found.values()) == 3_000


@pytest.mark.parametrize(
    "put_together",
    [
        lambda rows: rows.sort("id"),
        lambda rows: rows.zip(data.range(1000).rename_columns({"id": "other"})).filter(lambda row: True),
        lambda rows: rows.limit(1000).random_shuffle(),
    ],
    ids=["sort", "zip", "shuffle"],
)
def test_categories_of_small_batches_go_together(put_together):
    """Each batch has few, for which pandas takes bytes, and all have more than bytes name."""

    def categories(frame):
        frame["name"] = pandas.Categorical([f"v{number // 3}" for number in frame["id"]])
        return frame

    rows = put_together(data.range(1000).map_batches(categories, batch_size=7, batch_format="pandas"))
    assert {row["id"]: row["name"] for row in rows.take_all()} == {number: f"v{number // 3}" for number in range(1000)}


def test_results_without_rows_have_their_columns():
    left = data.from_arrow(pa.table({"key": [5], "text": ["a"]}))
    right = data.from_arrow(pa.table({"key": [1], "list": [[2.0]]}))
    joined = left.join(right, "inner", on="key")
    assert joined.to_arrow() == pa.table({"key": [5], "text": ["a"], "list": [[2.0]]}).slice(0, 0)
    assert joined.columns() == ["key", "text", "list"]
    assert joined.sort("key").to_pandas().columns.tolist() == ["key", "text", "list"]
    assert joined.join(right.rename_columns({"list": "other"}), "inner", on="key").columns()[-1] == "other"
    counted = left.filter(expr="key < 0").groupby("key").count()
    assert counted.to_arrow().schema == pa.schema({"key": pa.int64(), "count()": pa.int64()})
    assert (joined.count(), joined.take_all(), counted.take_all()) == (0, [], [])

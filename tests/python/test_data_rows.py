"""What data sets read, compute and give: the engine at work for a script."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from headway import data
from headway.data.aggregate import Count, Max, Mean
from headway.data.expressions import col, random, udf

pytestmark = pytest.mark.usefixtures("the_engine_ends")


@pytest.fixture
def parquet(tmp_path):
    """Two files with three row groups each; ids from 0 to 599."""
    folder = tmp_path / "rows"
    folder.mkdir()
    for number in range(2):
        ids = np.arange(number * 300, (number + 1) * 300)
        table = pa.table({"id": ids, "x": ids * 0.5, "name": [f"row {each}" for each in ids]})
        pyarrow.parquet.write_table(table, folder / f"{number}.parquet", row_group_size=100)
    return str(folder)


def ids(dataset):
    return [row["id"] for row in dataset.take_all()]


def test_rows_come_in_the_order_of_the_files(parquet):
    rows = data.read_parquet(parquet)
    assert rows.count() == 600
    assert rows.schema().names == ["id", "x", "name"]
    assert rows.take(1) == [{"id": 0, "x": 0.0, "name": "row 0"}]
    assert ids(rows) == list(range(600))
    assert len(rows.input_files()) == 2


def test_columns_that_nobody_wants_are_not_read(parquet):
    assert data.read_parquet(parquet, columns=["x"]).take(1) == [{"x": 0.0}]
    assert data.read_parquet(parquet).select_columns("name").columns() == ["name"]


def test_batches_cross_row_groups_and_only_the_last_is_short(parquet):
    batches = list(data.read_parquet(parquet).iter_batches(batch_size=256))
    assert [len(batch["id"]) for batch in batches] == [256, 256, 88]
    assert np.concatenate([batch["id"] for batch in batches]).tolist() == list(range(600))
    assert isinstance(batches[0]["name"][0], str)
    kept = data.read_parquet(parquet).iter_batches(batch_size=256, drop_last=True)
    assert [len(batch["id"]) for batch in kept] == [256, 256]


def test_a_batch_is_the_user_s_to_change(parquet):
    for batch in data.read_parquet(parquet).iter_batches(batch_size=100):
        batch["id"] += 1
        assert batch["x"].flags.writeable


@pytest.mark.parametrize("batch_format", ["pandas", "pyarrow"])
def test_batches_as_frames_and_tables(parquet, batch_format):
    batch = data.read_parquet(parquet).take_batch(5, batch_format=batch_format)
    if batch_format == "pandas":
        assert batch["name"].tolist() == [f"row {number}" for number in range(5)]
    else:
        assert batch.to_pydict()["id"] == [0, 1, 2, 3, 4]


def test_expressions_filter_and_add_columns(parquet):
    rows = data.read_parquet(parquet)
    made = rows.filter(expr=col("id") >= 597).with_column("y", col("x") * 2 + 1).drop_columns("name")
    assert made.take_all() == [{"id": number, "x": number / 2, "y": number + 1.0} for number in (597, 598, 599)]


def test_random_numbers_of_a_seed_are_the_same_each_time(parquet):
    rows = data.read_parquet(parquet, columns=["id"]).with_column("r", random(seed=3))
    once = rows.take_all()
    assert rows.take_all() == once
    assert len({row["r"] for row in once}) == 600


def test_a_python_function_in_an_expression(parquet):
    @udf(return_dtype="int64")
    def squared(values):
        return values**2

    rows = data.read_parquet(parquet).limit(3).with_column("y", squared(col("id") + 1) - 1)
    assert [row["y"] for row in rows.take_all()] == [0, 3, 8]
    assert rows.columns() == ["id", "x", "name", "y"]


def test_functions_of_batches_rows_and_lists_of_rows(parquet):
    class Plus:
        def __init__(self, number):
            self.number = number

        def __call__(self, batch):
            batch["id"] = batch["id"] + self.number
            return batch

    rows = data.read_parquet(parquet, columns=["id"]).limit(4)
    assert ids(rows.map_batches(Plus, fn_constructor_args=[10], concurrency=1)) == [10, 11, 12, 13]
    assert ids(rows.map(lambda row: {"id": row["id"] * 2})) == [0, 2, 4, 6]
    assert ids(rows.flat_map(lambda row: [row] * row["id"])) == [1, 2, 2, 3, 3, 3]
    assert ids(rows.filter(lambda row: row["id"] % 2 == 1)) == [1, 3]


class OwnError(Exception):
    pass


def test_a_function_s_exception_keeps_its_class_and_shows_its_frames_first(parquet):
    def fails(batch):
        raise OwnError("no such luck")

    with pytest.raises(OwnError, match="no such luck") as caught:
        data.read_parquet(parquet).map_batches(fails).take(1)
    words = str(caught.value.__cause__)
    assert "in fails" in words
    assert "0.parquet" in words


def test_a_shuffle_is_a_function_of_its_seed(parquet):
    rows = data.read_parquet(parquet)
    one, again = ids(rows.random_shuffle(seed=3)), ids(rows.random_shuffle(seed=3))
    assert one == again
    assert sorted(one) == list(range(600))
    assert one != list(range(600))
    assert ids(rows.random_shuffle(seed=4)) != one
    iterator = rows.random_shuffle().iterator()
    epochs = [[row["id"] for row in iterator.iter_rows()] for _ in range(2)]
    assert epochs[0] != epochs[1]
    assert sorted(epochs[0]) == sorted(epochs[1])


def test_a_local_shuffle_mixes_rows_within_its_windows(parquet):
    batches = data.read_parquet(parquet).iter_batches(
        batch_size=50, local_shuffle_buffer_size=200, local_shuffle_seed=1
    )
    got = np.concatenate([batch["id"] for batch in batches]).tolist()
    assert sorted(got) == list(range(600))
    assert got != list(range(600))


def test_a_column_of_nothing_but_none_shifts_no_other():
    rows = [{"x": number, "none": None, "word": f"word {number}"} for number in range(3)]
    assert data.from_items(rows).take_all() == rows
    assert data.from_items(rows).take_batch()["word"].tolist() == ["word 0", "word 1", "word 2"]


def test_vectors_and_lists_become_arrays():
    rows = data.from_items([{"x": [number], "v": np.full((2, 3), number)} for number in range(4)])
    batch = rows.take_batch(4)
    assert batch["x"].tolist() == [[0], [1], [2], [3]]
    assert batch["v"].shape == (4, 2, 3)
    uneven = data.from_items([{"x": [1]}, {"x": [1, 2]}]).take_batch()
    assert [each.tolist() for each in uneven["x"]] == [[1], [1, 2]]


def test_lists_of_one_length_are_views_and_others_are_what_arrow_makes_of_them():
    values = [[1, 2], [3, 4], [5, 6], [7, 8], [9, 10]]
    kinds = {
        "fixed": pa.list_(pa.float32(), 2),
        "list": pa.list_(pa.int16()),
        "large": pa.large_list(pa.float64()),
        "times": pa.list_(pa.timestamp("ms")),
        "flags": pa.list_(pa.bool_(), 2),
    }
    columns = {name: pa.array(values, kind) for name, kind in kinds.items() if name != "flags"}
    columns["flags"] = pa.array([[True, False]] * 5, kinds["flags"])
    columns["holes"] = pa.array([[1, None], *values[1:]], pa.list_(pa.int32(), 2))
    columns["none"] = pa.array([None, *values[1:]], pa.list_(pa.int32()))
    table = pa.table(columns)
    for batch, begin in zip(data.from_arrow(table).iter_batches(batch_size=2), (0, 2, 4), strict=True):
        for name, column in columns.items():
            wanted = column.to_pylist()[begin : begin + 2]
            if name in ("holes", "none"):
                shown = [each if each is None else [None if x != x else x for x in each] for each in batch[name]]
                assert shown == wanted
                continue
            assert batch[name].shape == (len(wanted), 2)
            assert batch[name].tolist() == np.array(wanted, batch[name].dtype).tolist()
            assert batch[name].flags.writeable
        # They are where the engine has written them: nothing was copied.
        assert batch["fixed"].dtype == np.float32
        assert batch["list"].dtype == np.int16
        assert not any(batch[name].base.flags.owndata for name in ("fixed", "list", "large", "times"))


def test_missing_values_are_nan_in_arrays_and_none_in_rows():
    rows = data.from_items([{"x": 1}, {"x": None}])
    assert rows.take_all() == [{"x": 1}, {"x": None}]
    assert np.isnan(rows.take_batch()["x"][1])


def test_torch_batches_have_the_types_that_are_asked_for(parquet):
    import torch

    rows = data.read_parquet(parquet, columns=["id", "x"])
    batch = next(iter(rows.iter_torch_batches(batch_size=4, dtypes={"x": torch.float32})))
    assert (batch["id"].dtype, batch["x"].dtype) == (torch.int64, torch.float32)
    with pytest.raises(ValueError, match="dtypes names the column 'y'; the columns are id, x"):
        next(iter(rows.iter_torch_batches(dtypes={"y": torch.float32})))
    all_and_more = dict.fromkeys(["id", "x", "y"], torch.float32)  # As Ray takes them.
    assert next(iter(rows.iter_torch_batches(dtypes=all_and_more)))["id"].dtype == torch.float32
    sums = [
        value.item()
        for value in rows.iter_torch_batches(batch_size=300, collate_fn=lambda b: torch.tensor(b["x"].sum()))
    ]
    assert sums == [22425.0, 67425.0]
    with pytest.raises(TypeError, match="column 'name' is text, which is no tensor; drop it"):
        next(iter(data.read_parquet(parquet).iter_torch_batches()))


def test_data_sets_one_after_another_and_side_by_side():
    left, right = data.range(3), data.range(3).rename_columns({"id": "other"})
    assert ids(left.union(data.range(2))) == [0, 1, 2, 0, 1]
    assert left.zip(right).take(1) == [{"id": 0, "other": 0}]


def test_rows_that_are_kept_are_computed_once(tmp_path):
    def count(batch):
        with open(tmp_path / "calls", "a") as file:
            file.write("x")
        return batch

    kept = data.range(10).map_batches(count).materialize()
    assert (ids(kept), kept.count(), ids(kept.limit(2))) == (list(range(10)), 10, [0, 1])
    assert (tmp_path / "calls").read_text() == "x"


def test_data_sets_are_cut():
    rows = data.range(10)
    assert [ids(part) for part in rows.split_at_indices([2, 5])] == [[0, 1], [2, 3, 4], [5, 6, 7, 8, 9]]
    assert [part.count() for part in rows.split(3)] == [3, 3, 4]
    assert [part.count() for part in rows.split(3, equal=True)] == [3, 3, 3]
    assert [part.count() for part in rows.split_proportionately([0.2, 0.5])] == [2, 5, 3]
    train, test = rows.train_test_split(0.3)
    assert (ids(train), ids(test)) == (list(range(7)), [7, 8, 9])
    train, test = rows.train_test_split(3, shuffle=True, seed=1)
    assert sorted(ids(train) + ids(test)) == list(range(10))
    assert ids(test) != [7, 8, 9]


def test_no_part_of_a_split_is_empty_unsaid():
    for rows, part, expected in ((569, 0.2, (455, 114)), (3, 0.2, (2, 1)), (10, 0.3, (7, 3)), (10, 0.01, (9, 1))):
        train, test = data.range(rows).train_test_split(part)
        assert (len(train), len(test)) == expected  # Ray's numbers.
    with pytest.raises(ValueError, match=r"test_size is 0\.2 of 1 rows; allowed: fewer than all rows"):
        data.range(1).train_test_split(0.2)
    with pytest.raises(ValueError, match=r"proportions is \[0\.1, 0\.2\] of 5 rows; allowed: at least one row in each"):
        data.range(5).split_proportionately([0.1, 0.2])
    assert [len(part) for part in data.range(10).split_proportionately([0.1, 0.7])] == [1, 7, 2]


def test_each_class_has_its_part_in_a_stratified_split():
    rows = data.from_items([{"id": number, "kind": "ab"[number % 5 == 0]} for number in range(50)])
    _, test = rows.train_test_split(0.2, stratify="kind")
    assert sorted(row["kind"] for row in test.take_all()) == ["a"] * 8 + ["b"] * 2
    some = data.from_items([{"kind": "ab"[number % 2] if number > 4 else None} for number in range(25)])
    _, test = some.train_test_split(0.2, stratify="kind")
    assert sorted(str(row["kind"]) for row in test.take_all()) == ["None", "a", "a", "b", "b"]
    with pytest.raises(ValueError, match="stratify is 'sort'; allowed: kind"):
        some.train_test_split(0.2, stratify="sort")


def test_whole_data_sets_are_sorted_grouped_and_joined():
    rows = data.from_items([{"k": "b", "v": 1}, {"k": "a", "v": 2}, {"k": "b", "v": 5}])
    assert [row["v"] for row in rows.sort("v", descending=True).take_all()] == [5, 2, 1]
    assert rows.groupby("k").aggregate(Count(), Mean("v"), Max("v", alias_name="top")).take_all() == [
        {"k": "a", "count()": 1, "mean(v)": 2.0, "top": 2},
        {"k": "b", "count()": 2, "mean(v)": 3.0, "top": 5},
    ]
    assert (rows.sum("v"), rows.mean("v"), rows.min("v"), rows.unique("k")) == (8, pytest.approx(8 / 3), 1, ["a", "b"])
    assert (rows.mean(["v"]), rows.sum(), rows.sum([])) == (pytest.approx(8 / 3), 8, {})
    names = data.from_items([{"k": "a", "name": "Anna"}])
    assert rows.join(names, "inner", on="k").take_all() == [{"k": "a", "v": 2, "name": "Anna"}]
    groups = rows.groupby("k").map_groups(lambda group: {"k": group["k"][:1], "n": [len(group["v"])]})
    assert groups.take_all() == [{"k": "a", "n": 1}, {"k": "b", "n": 2}]


def test_everything_that_is_in_memory():
    import pandas

    assert data.from_pandas(pandas.DataFrame({"a": [1, 2]})).take_all() == [{"a": 1}, {"a": 2}]
    kinds = pandas.DataFrame({"kind": pandas.Categorical(["x", "y", "x"])})
    assert [row["kind"] for row in data.from_pandas(kinds).take_all()] == ["x", "y", "x"]
    assert data.from_numpy([np.ones((2, 3)), np.zeros((1, 3))]).take_batch()["data"].sum() == 6
    assert data.from_arrow(pa.table({"a": [1]}).to_reader()).take_all() == [{"a": 1}]
    assert data.from_items([1, 2]).take_all() == [{"item": 1}, {"item": 2}]
    assert data.range_tensor(2, shape=(2, 2)).take_batch()["data"].tolist() == [[[0, 0], [0, 0]], [[1, 1], [1, 1]]]
    assert data.from_items([{"a": 1}] * 5).to_pandas()["a"].sum() == 5
    assert pa.table(data.range(3)).to_pydict() == {"id": [0, 1, 2]}


class Squares:
    def __len__(self):
        return 600

    def __getitem__(self, index):
        return index, index**2


def test_what_python_reads(tmp_path):
    import sqlite3

    squares = data.from_torch(Squares())
    assert squares.count() == 600
    assert squares.take_all()[599] == {"item_0": 599, "item_1": 599**2}
    # As of a TensorDataset of one tensor.
    assert data.from_torch([(1,), (2,)]).take_all() == [{"item_0": 1}, {"item_0": 2}]
    place = str(tmp_path / "rows.db")
    with sqlite3.connect(place) as connection:
        connection.execute("create table rows (a integer, b text)")
        connection.executemany("insert into rows values (?, ?)", [(1, "x"), (2, "y")])
    rows = data.read_sql("select * from rows order by a", lambda: sqlite3.connect(place))
    assert rows.take_all() == [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]


class Damaged(Squares):
    def __getitem__(self, index):
        if index == 300:
            raise OSError("a sample is damaged")
        return super().__getitem__(index)


def test_a_sample_that_cannot_be_read_is_found():
    with pytest.raises(OSError, match="a sample is damaged") as caught:
        data.from_torch(Damaged()).take_all()
    assert "the source, rows 256 to 511" in str(caught.value.__cause__)


def test_an_iterator_resumes_from_its_state(parquet):
    rows = data.read_parquet(parquet, columns=["id"]).random_shuffle(seed=5)
    whole = [batch["id"].tolist() for batch in rows.iterator().iter_batches(batch_size=50)]
    iterator = rows.iterator()
    begun = iter(iterator.iter_batches(batch_size=50))
    first = [next(begun)["id"].tolist() for _ in range(5)]
    state = iterator.state_dict()
    other = rows.iterator()
    other.load_state_dict(state)
    rest = [batch["id"].tolist() for batch in other.iter_batches(batch_size=50)]
    assert first + rest == whole
    assert other.state_dict()["epoch"] == 1
    changed = data.read_parquet(parquet, columns=["x"]).iterator()
    changed.load_state_dict(state)
    with pytest.raises(ValueError, match="the operations have changed"):
        next(iter(changed.iter_batches(batch_size=50)))


def test_an_epoch_that_is_left_is_behind(parquet):
    iterator = data.read_parquet(parquet, columns=["id"]).iterator()
    for _ in iterator.iter_batches(batch_size=50):
        break
    state = iterator.state_dict()
    assert (state["epoch"], state["cursor"]) == (1, None)


def test_statistics_and_plans_are_shown(parquet):
    rows = data.read_parquet(parquet).filter(expr=col("id") > 3)
    assert "nothing was run" in rows.stats()
    rows.take_all()
    assert "parquet" in rows.explain()


@pytest.mark.heavy
def test_tensorflow_batches():
    tf = pytest.importorskip("tensorflow")
    rows = data.from_items([{"x": float(number), "v": np.ones(3), "y": number % 2} for number in range(10)])
    batch = next(iter(rows.iter_tf_batches(batch_size=4, dtypes=tf.float32)))
    assert {name: (tensor.dtype.name, tuple(tensor.shape)) for name, tensor in batch.items()} == {
        "x": ("float32", (4,)), "v": ("float32", (4, 3)), "y": ("float32", (4,))
    }  # fmt: skip
    pairs = rows.to_tf(["x", "v"], "y", batch_size=5)
    for _ in range(2):
        assert [(tuple(features["v"].shape), tuple(labels.shape)) for features, labels in pairs] == [((5, 3), (5,))] * 2

    weighted = rows.to_tf(
        "v", "y", additional_columns="x", batch_size=5, local_shuffle_buffer_size=10, local_shuffle_seed=1,
        label_type_spec=tf.TensorSpec(shape=(None,), dtype=tf.float32),
    )  # fmt: skip
    seen = [(labels.dtype.name, weights.numpy().tolist()) for _, labels, weights in weighted]
    assert {name for name, _ in seen} == {"float32"}
    assert sorted(seen[0][1] + seen[1][1]) == list(range(10)) != seen[0][1] + seen[1][1]
    specs = {"v": tf.TensorSpec(shape=(None, 3), dtype=tf.float16), "x": tf.TensorSpec(shape=(None,), dtype=tf.int32)}
    features, _ = next(iter(rows.to_tf(["x", "v"], "y", batch_size=2, feature_type_spec=specs)))
    assert {name: each.dtype.name for name, each in features.items()} == {"v": "float16", "x": "int32"}

"""Names of ray.data beyond the usual ones: splits that stream, pieces, tensors of pairs, functions
of groups, files of a column.
"""

import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import numpy as np
import pandas
import pyarrow.fs
import pytest
from headway import data
from headway.data.expressions import col, download, lit, pyarrow_udf, random, udf, unnest
from headway.data.preprocessors import Categorizer, Preprocessor

pytestmark = pytest.mark.usefixtures("the_engine_ends")


def ids(dataset):
    return [row["id"] for row in dataset.take_all()]


def test_a_streaming_split_by_chance_has_each_row_once_and_the_same_each_time():
    rows = data.range(1000, override_num_blocks=4)
    train, test = rows.streaming_train_test_split(0.2, seed=7)
    parts = ids(train), ids(test)
    assert sorted(parts[0] + parts[1]) == list(range(1000))
    assert 150 < len(parts[1]) < 250
    assert (ids(train), ids(test)) == parts
    again = rows.streaming_train_test_split(0.2, seed=7)
    assert ids(again[1]) == parts[1]
    assert ids(rows.streaming_train_test_split(0.2, seed=8)[1]) != parts[1]


def test_a_streaming_split_keeps_types_and_missing_values():
    rows = data.from_items([{"x": 1, "v": [1.0]}, {"x": None, "v": [2.0, 3.0]}, {"x": 3, "v": []}])
    parts = rows.streaming_train_test_split(0.5, seed=1)
    assert sorted(map(str, [row for part in parts for row in part.take_all()])) == sorted(map(str, rows.take_all()))
    assert [str(part.schema()) for part in parts if part.count()] == [str(rows.schema())] * sum(
        1 for part in parts if part.count()
    )


def test_a_streaming_split_by_chance_wants_an_order_that_stays():
    rows = data.range(20)
    with pytest.raises(ValueError, match="the order of the rows changes from one read to the next; allowed"):
        rows.random_shuffle().streaming_train_test_split(0.3, seed=3)
    train, test = rows.random_shuffle(seed=1).streaming_train_test_split(0.3, seed=3)
    assert sorted(ids(train) + ids(test)) == list(range(20))


def test_random_numbers_of_a_seed_are_those_of_each_epoch():
    numbers = data.range(5).with_column("r", random(seed=3)).iterator()
    epochs = [[row["r"] for row in numbers.iter_rows()] for _ in range(2)]
    assert epochs[0] == epochs[1]
    assert len(set(epochs[0])) == 5


def test_a_streaming_split_by_hash_keeps_equal_values_together():
    rows = data.range(300).with_column("user", col("id") % 30)
    train, test = rows.streaming_train_test_split(0.25, split_type="hash", hash_column="user")
    users = [{row["user"] for row in part.take_all()} for part in (train, test)]
    assert users[0] | users[1] == set(range(30))
    assert not users[0] & users[1]
    assert train.columns() == ["id", "user"]
    # As Ray divides them.
    eight = data.range(8).streaming_train_test_split(0.25, split_type="hash", hash_column="id")
    assert ids(eight[1]) == [1, 7]


def test_kept_rows_have_a_number_of_pieces():
    assert data.from_items(list(range(10)), override_num_blocks=4).num_blocks() == 4
    assert data.range(10, override_num_blocks=3).materialize().num_blocks() == 3
    assert data.from_items([1]).num_blocks() == 1
    with pytest.raises(NotImplementedError, match=r"call materialize\(\) first"):
        data.range(10).num_blocks()
    with pytest.raises(NotImplementedError, match=r"call materialize\(\) first"):
        data.from_items([1]).limit(1).num_blocks()


def test_pairs_of_features_and_labels_are_tensors():
    torch = pytest.importorskip("torch")
    rows = data.from_items([{"a": i, "b": 2.0 * i, "v": np.full(3, i), "y": i % 2} for i in range(4)])
    pairs = rows.drop_columns("v").to_torch(label_column="y", batch_size=3, feature_column_dtypes=torch.float32)
    assert isinstance(pairs, torch.utils.data.IterableDataset)
    for _ in range(2):
        (features, labels), last = pairs
        assert features.tolist() == [[0, 0], [1, 2], [2, 4]]
        assert labels.tolist() == [[0], [1], [0]]
        assert len(last[0]) == 1
    lists = next(
        iter(rows.to_torch(feature_columns=[["a", "v"], ["b"]], batch_size=2, unsqueeze_feature_tensors=False))
    )
    assert [each.tolist() for each in lists[0]] == [[[0, 0, 0, 0], [1, 1, 1, 1]], [0.0, 2.0]]
    assert lists[1] is None
    named = rows.to_torch(
        label_column="y",
        feature_columns={"left": ["a"], "right": ["b"]},
        feature_column_dtypes={"left": torch.int32, "right": None},
        label_column_dtype=torch.float64,
        unsqueeze_label_tensor=False,
    )
    features, labels = next(iter(named))
    assert {name: each.dtype for name, each in features.items()} == {"left": torch.int32, "right": torch.float64}
    assert labels.shape == (1,)
    with pytest.raises(ValueError, match="there is no column 'z'; allowed: a, b, v, y"):
        next(iter(rows.to_torch(feature_columns=["z"])))


LOADERS = """
import torch
from headway import data

pairs = data.range(10).to_torch(batch_size=2)
for workers in (0, 1):
    batches = torch.utils.data.DataLoader(pairs, None, num_workers=workers)
    assert [int(each) for features, _ in batches for each in features] == list(range(10))
try:
    list(torch.utils.data.DataLoader(pairs, None, num_workers=2))
except ValueError as error:
    assert "num_workers of the DataLoader is 2; allowed: 0 or 1" in str(error), error
    print("refused")
"""


def test_several_workers_of_a_data_loader_do_not_give_each_row_twice(script):
    pytest.importorskip("torch")
    status, output = script.run(LOADERS)
    assert (status, output.strip().splitlines()[-1]) == (0, "refused"), output


def test_a_column_of_groups_is_computed_row_by_row_or_of_whole_groups():
    rows = data.from_items([{"k": "b", "x": 1.0}, {"k": "a", "x": 2.0}, {"k": "b", "x": 5.0}])
    twice = rows.groupby("k").with_column("twice", col("x") * 2)
    assert [(row["k"], row["twice"]) for row in twice.take_all()] == [("a", 4.0), ("b", 2.0), ("b", 10.0)]

    @udf("float64")
    def centred(values):
        return values - values.mean()

    of_groups = rows.groupby("k").with_column("c", centred(col("x") + 1) + 0.5)
    assert [(row["k"], row["c"]) for row in of_groups.take_all()] == [("a", 0.5), ("b", -1.5), ("b", 2.5)]
    assert of_groups.columns() == ["k", "x", "c"]


def test_fields_of_structs_become_columns():
    rows = data.from_items([{"a": 2, "b": 10}, {"a": 3, "b": 20}])

    @pyarrow_udf(pyarrow.struct({"sum": pyarrow.int64(), "pair": pyarrow.struct({"a": pyarrow.int64()})}))
    def features(a, b):
        import pyarrow
        import pyarrow.compute as pc

        inner = pyarrow.StructArray.from_arrays([a.combine_chunks()], ["a"])
        return pyarrow.StructArray.from_arrays([pc.add(a, b).combine_chunks(), inner], ["sum", "pair"])

    made = rows.with_columns({"c": lit(1)}, unnest(features(col("a"), col("b"))))
    assert made.take(1) == [{"a": 2, "b": 10, "c": 1, "sum": 12, "pair": {"a": 2}}]
    with pytest.raises(TypeError, match=r"unnest\(col\('a'\)\) is of int64; allowed: an expression that has structs"):
        rows.with_columns(unnest(col("a")))


@pytest.fixture
def server():
    class Answers(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200 if self.path == "/there" else 404)
            self.end_headers()
            self.wfile.write(b"from the web")

        def log_message(self, *words):
            """Silent."""

    with HTTPServer(("127.0.0.1", 0), Answers) as made:
        thread = threading.Thread(target=made.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{made.server_port}"
        made.shutdown()
        thread.join()


def test_files_of_a_column_are_read(tmp_path, server):
    (tmp_path / "a file").write_bytes(b"from a file")
    places = [str(tmp_path / "a file"), f"file://{tmp_path}/a%20file", f"{server}/there", f"{server}/gone", None]
    places += [str(tmp_path / "gone"), "nonsense://x", f"{server}/a b"]
    rows = data.from_items([{"id": number, "uri": place} for number, place in enumerate(places)])
    made = [row["bytes"] for row in rows.with_column("bytes", download("uri")).take_all()]
    assert made == [b"from a file", b"from a file", b"from the web", None, None, None, None, None]
    with pytest.raises(TypeError, match="of a column of the type int64; allowed: text"):
        rows.with_column("bytes", download("id")).take_all()
    below = pyarrow.fs.SubTreeFileSystem(str(tmp_path), pyarrow.fs.LocalFileSystem())
    one = data.from_items([{"uri": "a file"}]).with_column("bytes", download("uri", filesystem=below))
    assert one.take_all() == [{"uri": "a file", "bytes": b"from a file"}]


def test_categories_are_those_of_the_data_or_given():
    rows = data.from_items([{"sex": "m", "level": 4}, {"sex": "f", "level": 3}, {"sex": None, "level": 9}])
    known = pandas.CategoricalDtype([3, 4], ordered=True)
    categorizer = Categorizer(columns=["sex", "level"], dtypes={"level": known}, output_columns=["sex", "cat"]).fit(
        rows
    )
    made = categorizer.transform(rows).take_all()
    assert [(row["sex"], row["level"], row["cat"]) for row in made] == [("m", 4, 4), ("f", 3, 3), (None, 9, None)]
    restored = Preprocessor.deserialize(categorizer.serialize())
    frame = restored.transform_batch(pandas.DataFrame({"sex": ["f", "x"], "level": [4, 5]}))
    assert list(frame["sex"].cat.categories) == ["f", "m"]
    assert frame["sex"].cat.codes.tolist() == [0, -1]
    assert frame["cat"].dtype == known


JAX = """
import numpy as np
from headway import data
from headway.data.collate_fn import NumpyBatchCollateFn

rows = data.from_items([{"x": float(i), "v": np.full(2, i), "l": [i, i]} for i in range(10)])
paddings = {"x": -1, "v": 0, "l": 0}
batches = list(rows.iter_jax_batches(batch_size=4, dtypes={"x": np.float32}, paddings=paddings))
assert [batch["x"].tolist() for batch in batches] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, -1, -1]]
assert all(len(column.sharding.device_set) == 2 for batch in batches for column in batch.values())
assert {name: column.shape for name, column in batches[0].items()} == {"x": (4,), "v": (4, 2), "l": (4, 2)}


class Doubled(NumpyBatchCollateFn):
    def __call__(self, batch):
        return batch["x"] * 2


doubled = rows.iter_jax_batches(batch_size=4, collate_fn=Doubled(), drop_last=True)
assert [batch.tolist() for batch in doubled] == [[0, 2, 4, 6], [8, 10, 12, 14]]


def refused(dataset, **arguments):
    try:
        list(dataset.iter_jax_batches(**arguments))
    except (TypeError, ValueError) as error:
        return str(error)


assert "batch_size is 3; allowed: a multiple of the 2 devices" in refused(rows, batch_size=3)
assert "batch_size is None" in refused(rows, batch_size=None)
assert "collate_fn is" in refused(rows, collate_fn=print)
assert "paddings is 'a' (str)" in refused(rows, paddings="a")
assert "synchronize_batches is 1 (int)" in refused(rows, synchronize_batches=1)
assert "1 rows, which 2 devices cannot share" in refused(rows.limit(5), batch_size=4)
assert "column 's'" in refused(data.from_items([{"s": "a"}]), batch_size=2)
"""


@pytest.mark.heavy
def test_batches_lie_on_all_devices_of_jax(script):
    status, output = script.run(JAX, XLA_FLAGS="--xla_force_host_platform_device_count=2")
    assert status == 0, output


def test_an_object_of_a_class_is_a_function_in_expressions():
    @udf(return_dtype="int64")
    class Add:
        def __init__(self, amount, *, factor=1):
            self.amount = amount * factor

        def __call__(self, values):
            return values + self.amount

    rows = data.range(3).with_column("y", Add(5, factor=2)(col("id")) * 2)
    assert [row["y"] for row in rows.take_all()] == [20, 22, 24]


def test_materialize_says_how_many_bytes_lie_where(monkeypatch, tmp_path, capfd):
    monkeypatch.setenv("HEADWAY_MACHINE_TMPDIR", str(tmp_path))
    small = data.range(1000).materialize()
    assert "materialize:" not in capfd.readouterr().err
    large = data.range(18_000_000).materialize()  # 137 MiB.
    lines = [line for line in capfd.readouterr().err.splitlines() if line.startswith("materialize:")]
    assert len(lines) == 2  # From 64 MiB on, and when that has doubled.
    assert all(str(tmp_path) in line and "MiB are in" in line for line in lines)
    assert (small.count(), large.count()) == (1000, 18_000_000)


@pytest.mark.parametrize("size", [None, 4])
def test_lists_of_one_length_are_arrays_in_batches_and_lists_in_rows(size):
    values = pyarrow.array([float(number) for number in range(20)], pyarrow.float32())
    table = pyarrow.table({"x": pyarrow.FixedSizeListArray.from_arrays(values, 2), "id": list(range(10))})
    rows = data.from_arrow(table)
    sums = rows.map_batches(lambda batch: {"sum": batch["x"].sum(axis=1)}, batch_size=size)
    assert [row["sum"] for row in sums.take_all()] == [4 * number + 1 for number in range(10)]
    assert rows.map(lambda row: {"kind": type(row["x"]).__name__}).take(1) == [{"kind": "list"}]
    assert rows.filter(lambda row: row["id"] > 8).to_arrow() == table.slice(9)

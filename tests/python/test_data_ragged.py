"""Arrays and lists whose lengths differ: what becomes of them never depends on how rows are cut
into pieces, as a piece may have arrays of one length by chance.
"""

import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from headway import data

pytestmark = pytest.mark.usefixtures("the_engine_ends")

EQUAL = [{"x": [1, 2]}, {"x": [3, 4]}]
RAGGED = [{"x": [5, 6]}, {"x": [7]}]
ARRAYS = {
    "batches as they are": lambda ds: ds.map_batches(lambda batch: batch),
    "batches of pandas as they are": lambda ds: ds.map_batches(lambda batch: batch, batch_format="pandas"),
    "rows as arrays": lambda ds: ds.map(lambda row: {"x": np.array(row["x"])}),
    "rows as torch's tensors": lambda ds: ds.map(_torch_row),
    "lists of arrays": lambda ds: ds.map_batches(lambda batch: {"x": [np.array(each) for each in batch["x"]]}),
    "several rows of a row": lambda ds: ds.flat_map(lambda row: [{"x": np.array(row["x"])}]),
    "a data frame": lambda ds: ds.map_batches(lambda batch: pd.DataFrame({"x": list(batch["x"])})),
    "batches twice": lambda ds: ds.map_batches(lambda batch: batch).map_batches(lambda batch: {"x": batch["x"] * 1}),
    "groups": lambda ds: (
        ds.add_column("k", lambda frame: frame["x"].map(max)).groupby("k").map_groups(lambda group: {"x": group["x"]})
    ),
}


def _torch_row(row):
    import torch

    return {"x": torch.tensor(row["x"])}


def values(ds):
    return [np.asarray(row["x"]).tolist() for row in ds.take_all()]


def in_pieces(first, second):
    return data.from_items(first + second, override_num_blocks=2)


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("order", ["equal first", "ragged first", "one row a piece"])
def test_arrays_of_one_length_in_one_piece_and_of_several_in_another(name, order):
    pieces = in_pieces(RAGGED, EQUAL) if order == "ragged first" else in_pieces(EQUAL, RAGGED)
    if order == "one row a piece":
        pieces = data.from_items(EQUAL + RAGGED, override_num_blocks=4)
    made = ARRAYS[name](pieces)
    rows = made.take_all()
    assert sorted(each["x"].tolist() for each in rows) == [[1, 2], [3, 4], [5, 6], [7]]
    assert all(isinstance(each["x"], np.ndarray) for each in rows)


def test_the_type_is_the_same_whatever_the_pieces_are():
    def kind(pieces):
        return pieces.map(lambda row: {"x": np.array(row["x"])}).schema().base_schema

    assert kind(in_pieces(EQUAL, EQUAL)) == kind(in_pieces(RAGGED, EQUAL)) == kind(in_pieces(EQUAL, RAGGED))


def test_lists_stay_lists():
    made = in_pieces(EQUAL, RAGGED).map(lambda row: {"x": [*row["x"], 0]})
    assert made.take_all() == [{"x": [1, 2, 0]}, {"x": [3, 4, 0]}, {"x": [5, 6, 0]}, {"x": [7, 0]}]
    assert made.schema().types == [pa.list_(pa.int64())]


def test_arrays_of_several_dimensions():
    made = in_pieces(EQUAL, RAGGED).map(lambda row: {"x": np.full((len(row["x"]), 2), row["x"][0])})
    assert values(made) == [[[1, 1], [1, 1]], [[3, 3], [3, 3]], [[5, 5], [5, 5]], [[7, 7]]]
    shapes = [batch["x"].shape for batch in made.iter_batches(batch_size=2)]
    assert shapes == [(2, 2, 2), (2,)]


def test_batches_whose_arrays_are_alike_are_one_array_for_functions_too():
    arrays = in_pieces(EQUAL, EQUAL).map(lambda row: {"x": np.array(row["x"], np.float32)})
    made = arrays.map_batches(lambda batch: {"sum": batch["x"] @ np.ones(2, np.float32)})
    assert [row["sum"] for row in made.take_all()] == [3, 7, 3, 7]
    (batch,) = arrays.iter_torch_batches(batch_size=4)
    assert batch["x"].tolist() == [[1, 2], [3, 4], [1, 2], [3, 4]]


def test_a_batch_that_is_one_array_has_one_shape():
    ones = data.range(4, override_num_blocks=2).map_batches(lambda batch: {"x": np.ones((len(batch["id"]), 3))})
    assert ones.schema().base_schema.field("x").type == pa.fixed_shape_tensor(pa.float64(), [3])


def padded(rows=40, pieces=10, **options):
    """Batches as wide as their widest row, as a tokenizer pads them: row 1 as [1, 1, 0]."""

    def tokens(batch):
        ids = np.array(batch["id"])
        made = np.zeros((len(ids), int((ids % 7).max()) + 1), np.int64)
        for row, number in zip(made, ids, strict=True):
            row[: number % 7 + 1] = number
        return {"id": ids, "x": made}

    return data.range(rows, override_num_blocks=pieces).map_batches(tokens, **options)


def tokens_of(row):
    return np.trim_zeros(row["x"], "b").tolist() if row["id"] else [0]


EXPECTED = [[number] * (number % 7 + 1) for number in range(40)]


@pytest.mark.parametrize("pieces", [1, 4, 10, 40])
@pytest.mark.parametrize("options", [{}, {"batch_size": 3}, {"batch_size": 2, "batch_format": "pyarrow"}])
def test_batches_that_are_padded_to_their_own_width(pieces, options):
    rows = padded(pieces=pieces, **options).take_all()
    assert [row["id"] for row in rows] == list(range(40))
    assert [tokens_of(row) for row in rows] == EXPECTED
    assert {row["x"].dtype for row in rows} == {np.dtype(np.int64)}


@pytest.mark.parametrize("batch_size", [1, 3, 4, 7, 40, None])
def test_rows_of_several_widths_come_once_each_whatever_the_batches(batch_size):
    made = padded()
    for _ in range(2):  # The second epoch knows of the widths from its start.
        ids, tokens = [], []
        for batch in made.iter_batches(batch_size=batch_size):
            ids += batch["id"].tolist()
            tokens += [tokens_of({"id": number, "x": row}) for number, row in zip(batch["id"], batch["x"], strict=True)]
        assert ids == list(range(40))
        assert tokens == EXPECTED


def test_the_width_changes_late_in_an_epoch_of_several_ranks():
    def wide(batch):
        return {"id": batch["id"], "x": np.ones((len(batch["id"]), 2 + int(batch["id"].max() >= 3000)))}

    made = data.range(4000, override_num_blocks=40).map_batches(wide)

    def numbers_of(shard):
        seen = []
        for batch in shard.iter_batches(batch_size=10):
            seen += batch["id"].tolist()
            assert [len(row) for row in batch["x"]] == [2 + int(number >= 3000) for number in batch["id"]]
        return seen

    with ThreadPoolExecutor(2) as ranks:
        first, second = ranks.map(numbers_of, made.streaming_split(2, equal=True))
    assert len(first) == len(second) == 2000
    assert sorted(first + second) == list(range(4000))


def test_widths_in_the_middle_of_shuffled_rows():
    made = padded(400, 20).random_shuffle(seed=3)
    once = [(row["id"], tokens_of(row)) for row in made.iter_rows()]
    assert sorted(number for number, _ in once) == list(range(400))
    assert all(tokens == [number] * (number % 7 + 1) for number, tokens in once)
    assert [number for number, _ in once] == [
        row["id"] for row in data.range(400, override_num_blocks=20).random_shuffle(seed=3).iter_rows()
    ]
    local = padded(400, 20).iter_batches(batch_size=10, local_shuffle_buffer_size=100, local_shuffle_seed=1)
    assert sorted(number for batch in local for number in batch["id"].tolist()) == list(range(400))


def test_a_stream_that_resumes_where_widths_have_changed():
    iterator = padded(400, 20).iterator()
    whole = [batch["id"].tolist() for batch in iterator.iter_batches(batch_size=10)]
    begun = padded(400, 20).iterator()
    batches = iter(begun.iter_batches(batch_size=10))
    first = [next(batches)["id"].tolist() for _ in range(15)]
    rest = padded(400, 20).iterator()
    rest.load_state_dict(begun.state_dict())
    assert first + [batch["id"].tolist() for batch in rest.iter_batches(batch_size=10)] == whole


WHOLE = {
    "sort": lambda ds: ds.sort("id", descending=True),
    "exact shuffle": lambda ds: ds.sort("id").random_shuffle(seed=5),
    "repartition": lambda ds: ds.repartition(3),
    "union": lambda ds: ds.union(ds.limit(0)),
    "zip": lambda ds: ds.zip(data.range(40).rename_columns({"id": "other"})),
    "materialize": lambda ds: ds.materialize(),
    "another function": lambda ds: ds.map_batches(lambda batch: batch, batch_size=5),
    "a function of rows": lambda ds: ds.map(lambda row: {"id": row["id"], "x": row["x"]}),
    "rows that are kept": lambda ds: ds.filter(lambda row: len(row["x"]) > 0),
    "expressions": lambda ds: ds.with_column("n", data.expressions.col("x").list.len()),
    "groups": lambda ds: ds.groupby("id").map_groups(lambda group: group),
}


@pytest.mark.parametrize("name", WHOLE)
def test_what_comes_behind_batches_of_several_widths(name):
    rows = WHOLE[name](padded()).take_all()
    assert [tokens_of(row) for row in sorted(rows, key=lambda row: row["id"])] == EXPECTED


def test_files_of_batches_of_several_widths(tmp_path):
    padded().write_parquet(str(tmp_path / "parquet"))
    table = pq.read_table(tmp_path / "parquet").sort_by("id")
    assert table.schema.field("x").type.equals(pa.list_(pa.int64()))
    assert [tokens_of({"id": row["id"], "x": np.array(row["x"])}) for row in table.to_pylist()] == EXPECTED
    padded().write_json(str(tmp_path / "json"))
    lines = [line for file in sorted((tmp_path / "json").iterdir()) for line in file.read_text().splitlines()]
    assert sorted(json.loads(line)["id"] for line in lines) == list(range(40))
    assert padded().count() == 40


def test_images_of_several_sizes_and_such_with_other_dimensions():
    def images(batch):
        size = int(batch["id"][0]) + 1
        return {"id": batch["id"], "x": np.full((len(batch["id"]), size, 2, 3), size, np.uint8)}

    made = data.range(6, override_num_blocks=3).map_batches(images)
    assert [row["x"].shape for row in made.take_all()] == [(1, 2, 3)] * 2 + [(3, 2, 3)] * 2 + [(5, 2, 3)] * 2
    turned = data.range(4, override_num_blocks=2).map_batches(
        lambda batch: {"x": np.ones((len(batch["id"]), 2, 3) if batch["id"][0] == 0 else (len(batch["id"]), 3, 2))}
    )
    assert [row["x"].shape for row in turned.take_all()] == [(2, 3)] * 2 + [(3, 2)] * 2
    other = data.range(4, override_num_blocks=2).map_batches(
        lambda batch: {"x": np.ones((len(batch["id"]), 2) if batch["id"][0] == 0 else (len(batch["id"]), 2, 2))}
    )
    with pytest.raises(ValueError, match=r"\"x\" is .*\[2,2\].*; expected .*\[2\].*as in the first output"):
        other.take_all()


def test_tensors_of_pytorch_of_rows_of_one_width_and_of_several():
    made = padded(14, 2, batch_size=7)
    (first, _) = made.iter_torch_batches(batch_size=7)
    assert first["x"].shape == (7, 7)
    with pytest.raises(TypeError, match=r"column 'x' is lists of different lengths.*collate_fn"):
        list(padded(14, 7).iter_torch_batches(batch_size=7))
    import torch

    def padded_alike(batch):
        rows = [torch.as_tensor(row) for row in batch["x"]]
        return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)

    shapes = [tuple(each.shape) for each in padded(14, 7).iter_torch_batches(batch_size=7, collate_fn=padded_alike)]
    assert shapes == [(7, 7), (7, 7)]


def test_a_first_piece_of_none_alone_has_no_type():
    made = data.range(6, override_num_blocks=3).map(
        lambda row: {"x": None if row["id"] < 2 else [row["id"] + 0.5], "y": None if row["id"] < 4 else "text"}
    )
    assert made.take_all() == [{"x": None, "y": None}] * 2 + [{"x": [2.5], "y": None}, {"x": [3.5], "y": None}] + [
        {"x": [4.5], "y": "text"},
        {"x": [5.5], "y": "text"},
    ]
    empty = data.range(4, override_num_blocks=2).map(lambda row: {"x": [] if row["id"] < 2 else [row["id"]]})
    assert empty.take_all() == [{"x": []}, {"x": []}, {"x": [2]}, {"x": [3]}]
    fields = data.range(4, override_num_blocks=2).map(
        lambda row: {"x": {"a": 1} if row["id"] < 2 else {"a": 2, "b": "text"}}
    )
    assert fields.take_all()[0]["x"] == {"a": 1, "b": None}
    assert fields.take_all()[3]["x"] == {"a": 2, "b": "text"}


def test_groups_of_none_alone_come_first():
    made = (
        data.from_items([{"k": number // 2, "v": number} for number in range(6)])
        .groupby("k")
        .map_groups(
            lambda group: {"k": group["k"], "x": [None if number < 4 else float(number) for number in group["v"]]}
        )
    )
    assert sorted((row["k"], row["x"]) for row in made.take_all() if row["x"] is not None) == [(2, 4.0), (2, 5.0)]
    assert made.count() == 6


def test_none_among_arrays_and_other_numbers_in_later_pieces():
    rows = [{"v": [1]}, {"v": [2, 3]}, {"v": None}, {"v": [0.5]}]
    made = data.from_items(rows, override_num_blocks=4).map(
        lambda row: {"x": None if row["v"] is None else np.array(row["v"], np.float32)}
    )
    assert [None if row["x"] is None else row["x"].tolist() for row in made.take_all()] == [[1], [2, 3], None, [0.5]]


def test_lists_where_the_first_piece_had_arrays_and_the_other_way_round():
    def mixed(array_first):
        return data.range(2, override_num_blocks=2).map(
            lambda row: {"x": np.array([1, 2]) if (row["id"] == 0) == array_first else [3]}
        )

    assert values(mixed(True)) == [[1, 2], [3]]
    assert values(mixed(False)) == [[3], [1, 2]]


def test_what_is_in_memory_may_have_several_shapes():
    assert values(data.from_numpy([np.ones((1, 2)), np.ones((1, 3))]).rename_columns({"data": "x"})) == [
        [1, 1],
        [1, 1, 1],
    ]
    equal, ragged = ([np.array(row["x"]) for row in rows] for rows in (EQUAL, RAGGED))
    for frames in ((equal, ragged), (ragged, equal)):
        made = data.from_pandas([pd.DataFrame({"x": each}) for each in frames])
        assert values(made) == [each.tolist() for frame in frames for each in frame]
    alike = data.from_items([{"x": np.ones(2)}, {"x": np.zeros(2)}])
    assert alike.schema().base_schema.field("x").type == pa.fixed_shape_tensor(pa.float64(), [2])


def test_rows_of_a_generator_and_of_pytorch():
    rows = 65536 + 2
    made = data.from_items({"x": np.ones(1 + index // 65536)} for index in range(rows))
    assert [batch["x"].shape for batch in made.iter_batches(batch_size=None)] == [(65536, 1), (2, 2)]
    torchs = data.from_torch([{"x": np.ones(1 + index // 300)} for index in range(600)])
    assert [len(row["x"]) for row in torchs.take_all()] == [1] * 300 + [2] * 300


def arrays_of_one_dimension():
    return in_pieces(EQUAL, RAGGED).map(lambda row: {"x": np.array(row["x"])})


def test_files_have_lists(tmp_path):
    arrays_of_one_dimension().write_parquet(str(tmp_path / "parquet"))
    table = pq.read_table(tmp_path / "parquet")
    assert table.schema.field("x").type.equals(pa.list_(pa.int64()))
    assert table["x"].to_pylist() == [[1, 2], [3, 4], [5, 6], [7]]
    arrays_of_one_dimension().write_json(str(tmp_path / "json"))
    images = data.range(2).map(lambda row: {"x": np.full((1, row["id"] + 1), 7)})
    images.write_json(str(tmp_path / "images"))
    for folder, expected in (("json", [[1, 2], [3, 4], [5, 6], [7]]), ("images", [[[7]], [[7, 7]]])):
        lines = [line for file in sorted((tmp_path / folder).iterdir()) for line in file.read_text().splitlines()]
        assert [json.loads(line)["x"] for line in lines] == expected
    alike = in_pieces(EQUAL, EQUAL).map(lambda row: {"x": np.array(row["x"])})
    alike.write_numpy(str(tmp_path / "numpy"), column="x")
    files = sorted((tmp_path / "numpy").iterdir())
    assert np.concatenate([np.load(file) for file in files]).tolist() == [[1, 2], [3, 4], [1, 2], [3, 4]]
    with pytest.raises(ValueError, match=r"column x: an array has the shape \[1\]"):
        arrays_of_one_dimension().write_numpy(str(tmp_path / "ragged"), column="x")


def test_expressions_shuffles_and_sorts_of_arrays_of_several_lengths():
    made = arrays_of_one_dimension()
    lengths = made.with_column("n", data.expressions.col("x").list.len())
    assert [row["n"] for row in lengths.take_all()] == [2, 2, 2, 1]
    assert sorted(values(made.random_shuffle(seed=1))) == [[1, 2], [3, 4], [5, 6], [7]]
    sort = lengths.sort("n")
    assert [row["x"].tolist() for row in sort.take_all()] == [[7], [1, 2], [3, 4], [5, 6]]
    assert values(made.materialize()) == [[1, 2], [3, 4], [5, 6], [7]]


def test_trees_are_trained_on_arrays_of_rows():
    pytest.importorskip("xgboost")
    from headway.train.xgboost import to_dmatrix

    rows = data.from_items([{"x": [0, 1], "y": 1}, {"x": [2, 3], "y": 0}], override_num_blocks=2)
    made = rows.map(lambda row: {"x": np.array(row["x"]), "y": row["y"]})
    matrix = to_dmatrix(made, label="y")
    assert matrix.get_data().toarray().tolist() == [[0, 1], [2, 3]]

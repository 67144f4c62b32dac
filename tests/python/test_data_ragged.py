"""Arrays and lists whose lengths differ: what becomes of them never depends on how rows are cut
into pieces, as a piece may have arrays of one length by chance.
"""

import json

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
    widths = data.range(4, override_num_blocks=2).map_batches(
        lambda batch: {"x": np.ones((len(batch["id"]), int(batch["id"][0]) + 1))}
    )
    with pytest.raises(ValueError, match=r"\"x\".*the shape \[3\], and those before it \[1\].*a list of arrays"):
        widths.take_all()


def test_arrays_of_equal_size_and_another_shape_are_not_taken_for_each_other():
    turned = data.range(4, override_num_blocks=2).map_batches(
        lambda batch: {"x": np.ones((len(batch["id"]), 2, 3) if batch["id"][0] == 0 else (len(batch["id"]), 3, 2))}
    )
    with pytest.raises(ValueError, match=r"the shape \[3, 2\], and those before it \[2, 3\]"):
        turned.take_all()


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

"""Data sets of those of Hugging Face, of TensorFlow, and of PyTorch's tensors."""

import datetime

import numpy as np
import pyarrow as pa
import pytest
from headway import data

pytestmark = pytest.mark.usefixtures("the_engine_ends")


@pytest.fixture
def datasets(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return pytest.importorskip("datasets")


def rows_of(datasets):
    return datasets.Dataset.from_dict(
        {"text": ["a", "b", "c"] * 10, "label": [0, 1, 2] * 10, "v": [[1.0], [], [2.0, 3.0]] * 10}
    )


def test_rows_of_hugging_face_are_those_that_were_chosen(datasets):
    rows = rows_of(datasets)
    chosen = rows.shuffle(seed=1).filter(lambda row: row["label"] != 1).select(range(5))
    assert data.from_huggingface(chosen).take_all() == chosen.to_list()
    assert data.from_huggingface(rows, override_num_blocks=3).num_blocks() == 3
    assert data.from_huggingface(rows.with_format("torch")).take_all() == rows.to_list()
    assert data.from_huggingface(datasets.concatenate_datasets([rows, rows])).count() == 60


def test_streams_of_hugging_face(datasets):
    rows = rows_of(datasets)
    assert data.from_huggingface(rows.to_iterable_dataset()).take_all() == rows.to_list()
    shuffled = rows.to_iterable_dataset().shuffle(seed=2, buffer_size=10).map(lambda row: {"label": row["label"] + 1})
    assert sorted(row["label"] for row in data.from_huggingface(shuffled).take_all()) == [1] * 10 + [2] * 10 + [3] * 10


def test_what_a_function_makes_of_rows_when_they_are_looked_at(datasets):
    rows = rows_of(datasets).with_transform(lambda batch: {"length": [len(each) for each in batch["v"]]})
    assert data.from_huggingface(rows).take(3) == [{"length": 1}, {"length": 0}, {"length": 2}]


def test_images_of_hugging_face_are_their_files(datasets):
    image = pytest.importorskip("PIL.Image")
    images = datasets.Dataset.from_dict(
        {"image": [image.fromarray(np.full((4, 4, 3), each, np.uint8)) for each in range(3)]},
        features=datasets.Features({"image": datasets.Image()}),
    )
    listed, streamed = (data.from_huggingface(each).take_all() for each in (images, images.to_iterable_dataset()))
    assert listed == streamed
    assert listed[0]["image"]["bytes"].startswith(b"\x89PNG")


def test_no_rows_of_hugging_face_have_their_columns(datasets):
    none = rows_of(datasets).select([])
    for each in (none, rows_of(datasets).to_iterable_dataset().take(0)):
        made = data.from_huggingface(each)
        assert (made.count(), made.columns()) == (0, ["text", "label", "v"])
    assert made.schema().base_schema.field("v").type.value_type == pa.float64()


def test_elements_of_tensorflow():
    tf = pytest.importorskip("tensorflow")
    made = tf.data.Dataset
    pairs = data.from_tf(made.from_tensor_slices(([[1.0, 2.0], [3.0, 4.0]], [0, 1])))
    assert [(row["item_0"].tolist(), row["item_1"]) for row in pairs.take_all()] == [([1, 2], 0), ([3, 4], 1)]
    named = data.from_tf(made.from_tensor_slices({"a": [1, 2], "b": {"c": ["x", "y"]}}))
    assert named.take_all() == [{"a": 1, "b": {"c": b"x"}}, {"a": 2, "b": {"c": b"y"}}]
    ragged = data.from_tf(made.from_tensor_slices(tf.ragged.constant([[1], [2, 3]])))
    assert [row["item"].tolist() for row in ragged.take_all()] == [[1], [2, 3]]
    halves = data.from_tf(made.from_tensor_slices(tf.constant([[1.5], [2.5]], tf.bfloat16)))
    assert [row["item"].tolist() for row in halves.take_all()] == [[1.5], [2.5]]


def test_batches_of_lists_have_a_shape_for_tensorflow():
    pytest.importorskip("tensorflow")
    rows = data.from_items([{"x": [1.0, 2.0], "y": 1}, {"x": [3.0, 4.0], "y": 0}])
    arrays = rows.map(lambda row: {**row, "x": np.array(row["x"])})
    for each in (rows, arrays):
        ((x, y),) = each.to_tf("x", "y", batch_size=2)
        assert (x.numpy().tolist(), y.numpy().tolist()) == ([[1, 2], [3, 4]], [1, 0])


def test_functions_return_tensors_of_bfloat16():
    torch = pytest.importorskip("torch")
    rows = data.range(2).map(lambda row: {"x": torch.tensor([row["id"]], dtype=torch.bfloat16)})
    assert [row["x"].tolist() for row in rows.take_all()] == [[0], [1]]
    whole = data.range(2).map_batches(lambda batch: {"x": torch.ones((len(batch["id"]), 2), dtype=torch.bfloat16)})
    assert whole.schema().base_schema.field("x").type == pa.fixed_shape_tensor(pa.float32(), [2])


def test_what_has_a_stream_of_arrow_needs_no_reader():
    """Polars, DuckDB and newer frames of Spark."""

    class Stream:
        def __arrow_c_stream__(self, requested_schema=None):
            return pa.table({"t": [datetime.date(2026, 1, 1)]}).__arrow_c_stream__(requested_schema)

    assert data.from_arrow(Stream()).take_all() == [{"t": datetime.date(2026, 1, 1)}]

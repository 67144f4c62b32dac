"""Data sets of the data frames of other engines. Where an engine is too big for these tests, a
class of its package's name stands in for it.
"""

from __future__ import annotations

import importlib.util
import json
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from headway import data
from headway.train._training_function.trainer_datasets import check_datasets, with_datasets

pytestmark = pytest.mark.usefixtures("the_engine_ends")

ROWS = [{"x": 1, "word": "a"}, {"x": 2, "word": None}, {"x": 3, "word": "ç"}]
TABLE = pa.Table.from_pylist(ROWS)


def of_package(name: str, **methods: Any) -> Any:
    """An object of a class of another package."""
    functions = {key: (lambda self, value=value: value) for key, value in methods.items()}
    return type("Frame", (), {"__module__": f"{name}.frames", **functions})()


def test_partitions_of_dask_are_computed_one_after_another():
    dataframe = pytest.importorskip("dask.dataframe")
    frame = dataframe.from_pandas(pd.DataFrame({"x": range(10), 7: [f"w{i}" for i in range(10)]}), npartitions=3)
    made = data.from_dask(frame[frame.x != 4])
    assert made.columns() == ["x", "7"]
    assert [row["x"] for row in made.take_all()] == [0, 1, 2, 3, 5, 6, 7, 8, 9]


def test_a_frame_of_dask_without_rows_has_its_columns():
    dataframe = pytest.importorskip("dask.dataframe")
    frame = dataframe.from_pandas(pd.DataFrame({"x": [1.5, 2.5]}), npartitions=2)
    made = data.from_dask(frame[frame.x > 9])
    assert (made.count(), made.columns()) == (0, ["x"])


def test_a_frame_of_daft_comes_batch_by_batch():
    daft = pytest.importorskip("daft")
    assert data.from_daft(daft.from_pylist(ROWS)).take_all() == ROWS


def test_data_sets_as_frames_of_other_engines():
    pytest.importorskip("dask.dataframe")
    made = data.range(10).to_dask(npartitions=3)
    assert (made.npartitions, made["id"].sum().compute()) == (3, 45)
    assert data.range(3).to_dask().npartitions == 1


def test_a_data_set_as_a_frame_of_daft():
    pytest.importorskip("daft")
    assert data.from_items(ROWS).to_daft().to_pylist() == ROWS


def test_a_data_set_as_a_frame_of_a_package_that_is_not_there():
    for name in ("to_daft", "to_modin", "to_dask"):
        package = name.removeprefix("to_")
        if importlib.util.find_spec(package) is None:
            with pytest.raises(ModuleNotFoundError, match=f"{name} needs the package {package}, .*pip install"):
                getattr(data.range(1), name)()


@pytest.mark.heavy
def test_a_real_session_of_spark(script):
    pytest.importorskip("pyspark")
    status, output = script.run("""
        import headway.data
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
        spark = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
        rows = [(1, "a", [1.0, 2.0]), (2, None, [])]
        frame = spark.createDataFrame(rows, "id long, text string, v array<double>")
        made = headway.data.from_spark(frame, override_num_blocks=2)
        print([tuple(row.values()) for row in made.take_all()] == rows, made.num_blocks())
        print(headway.data.from_spark(frame.filter("id > 9")).columns())
        print([tuple(row) for row in made.to_spark(spark).collect()] == rows)
        spark.stop()
        """)
    assert status == 0, output
    shown = [line for line in output.splitlines() if line.startswith(("True", "False", "["))]
    assert shown == ["True 2", "['id', 'text', 'v']", "True"]


def test_a_frame_of_modin():
    made = of_package("modin", _to_pandas=TABLE.to_pandas())
    assert [row["x"] for row in data.from_modin(made).take_all()] == [1, 2, 3]


def test_a_frame_of_spark_comes_as_arrow_and_of_an_old_one_as_pandas():
    new = of_package("pyspark", toArrow=TABLE, toPandas=None)
    assert data.from_spark(new, parallelism=2).take_all() == ROWS
    old = of_package("pyspark", toPandas=TABLE.to_pandas())
    assert [row["x"] for row in data.from_spark(old).take_all()] == [1, 2, 3]


class OfRay:
    """What `ray.data.Dataset` has of use."""

    __module__ = "ray.data.dataset"

    def iter_batches(self, *, batch_size, batch_format):
        assert (batch_size, batch_format) == (None, "pyarrow")
        yield TABLE.slice(0, 2)
        yield TABLE.slice(2)


def test_a_data_set_of_ray_is_taken_by_itself_and_by_trainers():
    assert data.from_ray(OfRay()).take_all() == ROWS
    datasets, config = check_datasets({"train": OfRay()}, None)
    function = with_datasets(print, datasets, config)
    assert function is not print


class OwnTensor(pa.ExtensionType):
    """Tensors of one shape, as Ray has them."""

    def __init__(self, shape):
        self.shape = shape
        super().__init__(pa.large_list(pa.int64()), "ray.data.arrow_tensor_v2")

    def __arrow_ext_serialize__(self):
        return json.dumps(self.shape).encode()


class OwnTensors(pa.ExtensionType):
    """Tensors of several shapes, as Ray has them."""

    def __init__(self):
        values = [("data", pa.large_list(pa.int64())), ("shape", pa.large_list(pa.int64()))]
        super().__init__(pa.struct(values), "ray.data.arrow_variable_shaped_tensor")

    def __arrow_ext_serialize__(self):
        return b"{}"


def test_tensors_of_ray_keep_their_shapes():
    class WithTensors(OfRay):
        def iter_batches(self, **settings):
            values = [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]
            same = pa.ExtensionArray.from_storage(OwnTensor((2, 2)), pa.array(values, pa.large_list(pa.int64())))
            shapes = [[1, 4], [4, 1], [2, 2]]
            rows = [{"data": each, "shape": shape} for each, shape in zip(values, shapes, strict=True)]
            others = pa.ExtensionArray.from_storage(OwnTensors(), pa.array(rows, OwnTensors().storage_type))
            table = pa.table({"same": same, "others": others})
            yield table.slice(0, 2)
            yield table.slice(2)

    made = data.from_ray(WithTensors())
    rows = made.take_all()
    assert [row["same"].tolist() for row in rows] == [[[0, 1], [2, 3]], [[4, 5], [6, 7]], [[8, 9], [10, 11]]]
    assert [row["others"].shape for row in rows] == [(1, 4), (4, 1), (2, 2)]
    assert made.take_batch()["same"].shape == (3, 2, 2)


def test_what_is_none_in_the_first_piece_does_not_decide_a_column_s_type():
    tensor = np.arange(4).reshape(2, 2)
    first = {"number": None, "word": None, "list": [], "place": {"x": None, "y": 1}, "tensor": None}
    last = {"number": 1.5, "word": "a", "list": [7], "place": {"x": "here", "y": 2}, "tensor": tensor}
    pieces = [pa.Table.from_pylist([first]), data.from_items([last]).to_arrow(), pa.Table.from_pylist([first])]
    made = data.from_blocks(pieces)
    rows = made.take_all()
    assert [rows[0], rows[2]] == [first, first]
    assert rows[1].pop("tensor").tolist() == tensor.tolist()
    assert rows[1] == {key: value for key, value in last.items() if key != "tensor"}
    assert [str(kind) for kind in made.schema().types[:2]] == ["double", "string"]
    assert made.num_blocks() == 3


def test_a_column_of_nothing_but_none_stays_one():
    made = data.from_blocks([pa.table({"x": [1], "none": pa.nulls(1)}), pa.table({"x": [2], "none": pa.nulls(1)})])
    assert made.take_all() == [{"x": 1, "none": None}, {"x": 2, "none": None}]


def test_frames_of_dask_and_daft_are_taken_piece_by_piece():
    """With stand-ins, for where the packages are missing."""
    parts = [of_package("dask", compute=TABLE.slice(0, 1).to_pandas()), of_package("dask", compute=TABLE.to_pandas())]
    frame = of_package("dask")
    type(frame).npartitions, type(frame).columns, type(frame).partitions = 2, ["x", "word"], parts
    assert [row["x"] for row in data.from_dask(frame).take_all()] == [1, 1, 2, 3]
    batches = of_package("daft", to_arrow=None, to_arrow_iter=TABLE.to_batches(max_chunksize=2))
    assert data.from_daft(batches).take_all() == ROWS


def test_a_block_without_rows_has_its_columns():
    made = data.from_blocks([TABLE.slice(0, 0)])
    assert (made.count(), made.columns()) == (0, ["x", "word"])


def test_a_block_with_other_columns_is_named():
    with pytest.raises(
        ValueError, match=r"blocks\[1\] has the columns x, y; allowed: those of the first block, x, word"
    ):
        data.from_blocks([TABLE, pa.table({"x": [1], "y": [2]})])


def test_blocks_are_tables_and_data_frames():
    made = data.from_blocks([TABLE.slice(0, 1), TABLE.slice(1).to_pandas()])
    assert [row["x"] for row in made.take_all()] == [1, 2, 3]


def test_blocks_that_are_none_are_named():
    with pytest.raises(ValueError, match="blocks is empty; allowed: at least one table or data frame"):
        data.from_blocks([])
    with pytest.raises(TypeError, match=r"blocks\[1\] is 'x' \(str\); allowed: a pyarrow.Table or a pandas.DataFrame"):
        data.from_blocks([TABLE, "x"])

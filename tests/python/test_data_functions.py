"""Python functions of a data pipeline, as a function worker calls them: what they get, and what
becomes of what they return.
"""

from __future__ import annotations

import functools
import pickletools
import random
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from headway._worker.functions import groups, slots
from headway._worker.functions.blocks import ArrowBlock, ColumnsBlock, block_of, to_list
from headway._worker.functions.calls import FunctionCalls
from headway._worker.functions.host import _modules_in
from headway._worker.functions.outputs import BadOutput, columns_of
from headway._worker.functions.worker import seed_generators

NAN = float("nan")


class Turn:
    """Other coroutines run meanwhile."""

    def __await__(self):
        yield


def packed(function: Any, *args: Any, **kwargs: Any) -> dict[str, Any]:
    return {
        "function": function,
        "is_class": isinstance(function, type),
        "args": () if isinstance(function, type) else args,
        "kwargs": {} if isinstance(function, type) else kwargs,
        "constructor_args": args if isinstance(function, type) else (),
        "constructor_kwargs": kwargs if isinstance(function, type) else {},
    }


NUMBERS = {"x": np.arange(10), "y": np.arange(10, dtype=np.float32) / 2}


def numbers() -> ColumnsBlock:
    return ColumnsBlock(dict(NUMBERS), 10)


def people() -> ArrowBlock:
    return ArrowBlock(
        pa.RecordBatch.from_pydict(
            {"name": ["ann", None, "cy"], "age": [30, 40, None], "tags": [["a"], [], ["b", "c"]], "id": [1, 2, 3]}
        )
    )


def table_of(outputs: Any) -> pa.Table:
    """Outputs as one table, over shared memory where they go by it."""
    tables = []
    for output in outputs:
        if isinstance(output, dict):
            memory = np.zeros(slots.columns_size(output), np.uint8)
            slots.write_columns(memory, output, 0)
            output = block_of(slots.read_columns(memory, slots.layout_of(output)))
            output = output.batch(0, output.rows, "pyarrow")
        tables.append(output)
    return pa.concat_tables(tables)


def run(function: Any, block: Any, kind: str = "map_batches", **options: Any) -> pa.Table:
    return table_of(FunctionCalls(packed(function), kind, **options).outputs(block))


def test_batches_are_dicts_of_arrays_of_the_size_that_was_asked_for():
    sizes = []

    def double(batch):
        sizes.append(len(batch["x"]))
        assert {type(each) for each in batch.values()} == {np.ndarray}
        return {"x": batch["x"] * 2, "y": batch["y"]}

    made = run(double, numbers(), batch_size=4)
    assert sizes == [4, 4, 2]
    assert made["x"].to_pylist() == [2 * i for i in range(10)]
    assert made.schema == pa.schema({"x": pa.int64(), "y": pa.float32()})


def test_data_frames_and_tables_are_given_and_taken():
    def older(frame):
        assert isinstance(frame, pd.DataFrame)
        return frame.assign(age=frame["age"] + 1)

    assert run(older, people(), batch_format="pandas")["age"].to_pylist() == [31, 41, None]

    def renamed(table):
        assert isinstance(table, pa.Table)
        return table.rename_columns(["n", "a", "t", "i"])

    assert run(renamed, people(), batch_format="pyarrow").to_pylist()[1] == {"n": None, "a": 40, "t": [], "i": 2}


def test_nulls_text_and_lists_in_arrays():
    def look(batch):
        assert batch["name"].tolist() == ["ann", None, "cy"]
        assert batch["age"].tolist()[:2] == [30, 40]
        assert np.isnan(batch["age"][2])
        assert [list(each) for each in batch["tags"]] == [["a"], [], ["b", "c"]]
        return {name: batch[name] for name in ("name", "tags", "id")}

    made = run(look, people())
    assert made["name"].to_pylist() == ["ann", None, "cy"]
    assert made["tags"].to_pylist() == [["a"], [], ["b", "c"]]


def test_tensors_stay_tensors():
    images = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    made = run(lambda batch: {"image": batch["image"] + 1}, ColumnsBlock({"image": images}, 2))
    assert made.schema.field("image").type == pa.fixed_shape_tensor(pa.uint8(), [3, 4])
    again = run(lambda row: {"sum": int(row["image"].sum()), "image": row["image"]}, block_of(made), "map")
    assert again["sum"].to_pylist() == [78, 222]
    assert np.array_equal(np.stack(to_list(again["image"].combine_chunks())), images + 1)


def test_tensors_of_booleans_stay_tensors():
    masks = np.arange(18).reshape(3, 6) % 2 == 0
    assert np.array_equal(
        run(lambda batch: {"mask": ~batch["mask"]}, ColumnsBlock({"mask": masks}, 3))["mask"]
        .combine_chunks()
        .storage.flatten()
        .to_numpy(zero_copy_only=False)
        .reshape(3, 6),
        ~masks,
    )


def test_arrays_of_several_shapes_become_tensors_with_shapes():
    made = run(lambda row: {"v": np.arange(row["x"])}, numbers(), "map")
    assert to_list(made["v"].combine_chunks())[3].tolist() == [0, 1, 2]
    made = run(lambda row: {"v": np.full((row["x"], 2), row["x"])}, numbers(), "map")
    assert made.schema.field("v").type.extension_name == "arrow.variable_shape_tensor"
    back = []
    run(lambda row: back.append(row["v"]) or {"n": 0}, block_of(made), "map")
    assert [each.shape for each in back] == [(i, 2) for i in range(10)]
    assert back[3].tolist() == [[3, 3]] * 3


def test_rows_are_dicts_of_pythons_values():
    rows = []
    run(lambda row: rows.append(row) or row, people(), "map")
    assert rows[1] == {"name": None, "age": 40, "tags": [], "id": 2}
    assert run(lambda row: [{"n": row["x"]}] * row["x"], numbers(), "flat_map")["n"].to_pylist()[:4] == [1, 2, 2, 3]
    assert run(lambda row: row["x"] % 3 == 0, numbers(), "filter")["x"].to_pylist() == [0, 3, 6, 9]
    assert run(lambda row: row["name"] is not None, people(), "filter")["id"].to_pylist() == [1, 3]


def test_rows_may_lack_a_column_and_nest():
    made = run(lambda row: {"a": {"b": row["x"]}} if row["x"] else {"c": "none"}, numbers(), "map")
    assert made.to_pylist()[:2] == [{"c": "none", "a": None}, {"c": None, "a": {"b": 1}}]


def test_generators_give_any_number_of_batches():
    def halves(batch):
        yield {"x": batch["x"][:5]}
        yield {"x": batch["x"][5:].tolist()}

    assert run(halves, numbers())["x"].to_pylist() == list(range(10))


def test_coroutines_run_beside_each_other_and_keep_the_order():
    running, most = 0, 0

    async def slow(row):
        nonlocal running, most
        running += 1
        most = max(most, running)
        for _ in range(20 - row["x"]):
            await Turn()
        running -= 1
        return {"x": row["x"]}

    assert run(slow, numbers(), "map")["x"].to_pylist() == list(range(10))
    assert most == 10

    async def twice(batch):
        yield {"x": batch["x"]}
        await Turn()
        yield {"x": batch["x"] + 100}

    assert run(twice, numbers(), batch_size=5)["x"].to_pylist() == [
        *range(5),
        *range(100, 105),
        *range(5, 10),
        *range(105, 110),
    ]


def test_classes_get_constructor_arguments_and_functions_theirs():
    class Add:
        def __init__(self, first, *, second):
            self.amount = first + second

        def __call__(self, batch):
            return {"x": batch["x"] + self.amount}

    made = table_of(FunctionCalls(packed(Add, 1, second=10), "map_batches").outputs(numbers()))
    assert made["x"].to_pylist()[0] == 11
    add = functools.partial(lambda batch, a, b: {"x": batch["x"] + a + b}, b=5)
    assert table_of(FunctionCalls(packed(add, 2), "map_batches").outputs(numbers()))["x"].to_pylist()[0] == 7


def test_groups_are_runs_of_equal_keys():
    sizes = []

    def count(frame):
        sizes.append(len(frame))
        return {"n": [len(frame)]}

    keys = ArrowBlock(
        pa.RecordBatch.from_pydict({"a": ["p", "p", "q", None, None], "b": [1.0, 1.0, float("nan"), 1.0, 1.0]})
    )
    run(count, keys, "map_groups", batch_format="pandas", keys=["a", "b"])
    assert sizes == [2, 1, 2]
    runs = ColumnsBlock({"a": np.array([1, 1, 2, 2]), "b": np.array([0.5, np.nan, np.nan, np.nan])}, 4)
    sizes.clear()
    run(lambda batch: count(batch["a"]), runs, "map_groups", keys=["a", "b"])
    assert sizes == [1, 1, 2]


@pytest.mark.parametrize(
    "column",
    [
        pa.array([[1.0, NAN], [1.0, NAN], [1.0], None, None]),
        pa.array([[1, 2], [1, 2], [3, None], None, None], pa.list_(pa.int64(), 2)),
        pa.array([{"a": 1, "b": [NAN]}, {"a": 1, "b": [NAN]}, {"a": None, "b": [NAN]}, None, None]),
        pa.array([[("a", 1)], [("a", 1)], [("b", 1)], None, None], pa.map_(pa.string(), pa.int64())),
        pa.array([1.0, 1.0, NAN, None, None], pa.float16()),
        pa.array(["p", "p", "q", None, None]).dictionary_encode(),
    ],
    ids=lambda column: str(column.type),
)
def test_groups_are_runs_of_keys_of_any_type(column):
    block = ArrowBlock(pa.RecordBatch.from_arrays([column], ["k"]))
    assert groups.runs(block, ["k"]) == [(0, 2), (2, 3), (3, 5)]
    # Rows of a slice are compared, not those of what it was cut from.
    assert groups.runs(ArrowBlock(block.record_batch.slice(1, 3)), ["k"]) == [(0, 1), (1, 2), (2, 3)]


def test_groups_of_tensors_and_of_nothing_but_nulls():
    tensors = pa.FixedShapeTensorArray.from_numpy_ndarray(np.array([[1, 2], [1, 2], [2, 1]]))
    block = ArrowBlock(pa.RecordBatch.from_arrays([tensors, pa.nulls(3)], ["tensor", "none"]))
    assert groups.runs(block, ["tensor"]) == [(0, 2), (2, 3)]
    assert groups.runs(block, ["none"]) == [(0, 3)]


def test_sources_make_rows_batches_or_tables():
    def of(made):
        return table_of(FunctionCalls(packed(lambda unit: made), "source").of_source(0))

    assert of({"a": [1, 2]})["a"].to_pylist() == [1, 2]
    assert of(pd.DataFrame({"a": [1, 2]}))["a"].to_pylist() == [1, 2]
    assert of(iter([{"a": 1}, {"a": 2}]))["a"].to_pylist() == [1, 2]
    assert of([1, "two"][:1])["item"].to_pylist() == [1]
    assert of(pa.table({"a": [1]}).to_reader())["a"].to_pylist() == [1]
    assert of([pa.table({"a": [1]}), pa.table({"a": [2]})])["a"].to_pylist() == [1, 2]


@pytest.mark.parametrize(
    ("output", "words"),
    [
        (None, "a batch must be a dictionary of arrays, a pandas.DataFrame or a pyarrow.Table, and this is None"),
        ([1, 2], "a batch must be .* and this is a list"),
        ({"a": [1, 2], "b": [1]}, "columns of a batch have one length, and here a has 2, b has 1"),
        ({"a": 3}, "column 'a' is an int; a column is an array or a list"),
        ({"a": np.array(3)}, "column 'a' is one value"),
        ({}, "at least one column"),
        ({1: [2]}, "names of columns are text, and this is an int: 1"),
    ],
)
def test_what_is_no_batch_is_named(output, words):
    with pytest.raises(BadOutput, match=words):
        columns_of(output)


def test_objects_that_cannot_be_stored_are_named_with_column_and_row():
    with pytest.raises(TypeError, match=r"column 'a': row 1 is of type .*Thing; a column holds numbers, text"):
        columns_of({"a": [None, type("Thing", (), {})()]})
    with pytest.raises(
        TypeError, match="column 'a': row 2 is of type str, and a row before it of type int; the values of a column"
    ):
        columns_of({"a": [1, 2, "c"]})
    with pytest.raises(TypeError, match="column 'a' mixes arrays of 1 dimension and arrays of 2 dimensions"):
        columns_of({"a": [np.zeros(2), np.zeros((2, 2))]})


def test_row_functions_that_return_something_else_are_named():
    with pytest.raises(BadOutput, match="a row is a dictionary, and row 0 is an int: 0"):
        run(lambda row: row["x"], numbers(), "map")
    with pytest.raises(BadOutput, match="a function of flat_map returns a list of rows, and this is dict"):
        run(lambda row: row, numbers(), "flat_map")
    with pytest.raises(BadOutput, match=r"a function of filter\(\) returns True or False, and this is"):
        run(lambda row: np.arange(2), numbers(), "filter")


def test_where_a_function_is_when_it_fails():
    def bad(batch):
        if 5 in batch["x"]:
            raise ValueError
        return batch

    calls = FunctionCalls(packed(bad), "map_batches", 4)
    with pytest.raises(ValueError, match=r"^$"):
        list(calls.outputs(numbers()))
    assert (calls.progress.begin, calls.progress.end) == (4, 8)


def test_the_types_of_columns():
    torch = pytest.importorskip("torch")
    made = table_of(
        [
            columns_of(
                {
                    "int": [1, None],
                    "wide": [1, 2**63],
                    "mixed": [1, 2.5],
                    "bool": [True, False],
                    "text": np.array(["a", "b"]),
                    "bytes": [b"a", b"b"],
                    "time": np.array(["2026-01-01", "2026-01-02"], "datetime64[us]"),
                    "scalars": [np.float32(1), np.float32(2)],
                    "torch": torch.ones(2, 3, requires_grad=True),
                    "nested": [{"a": [1]}, {"a": []}],
                    "none": [None, None],
                }
            )
        ]
    )
    assert {field.name: str(field.type) for field in made.schema} == {
        "int": "int64",
        "wide": "uint64",
        "mixed": "double",
        "bool": "bool",
        "text": "string",
        "bytes": "binary",
        "time": "timestamp[us]",
        "scalars": "float",
        "torch": "extension<arrow.fixed_shape_tensor[value_type=float, shape=[3]]>",
        "nested": "struct<a: list<item: int64>>",
        "none": "null",
    }


def test_views_of_shared_memory_and_every_type_of_numbers():
    columns = {
        name: np.arange(6).astype(dtype).reshape((2, 3) if name == "int32" else -1)[: 2 if name == "int32" else 6]
        for name, dtype in slots.NUMPY_TYPES.items()
        if name != "int32"
    }
    columns["tensor"] = np.arange(36, dtype=np.int32).reshape(6, 2, 3)[:, :, ::-1]
    memory = np.zeros(slots.columns_size(columns), np.uint8)
    slots.write_columns(memory, columns, 7)
    back = slots.read_columns(memory, slots.layout_of(columns))
    assert all(np.array_equal(back[name], values) for name, values in columns.items())
    assert np.shares_memory(back["tensor"], memory)
    assert all(values.ctypes.data % 8 == memory.ctypes.data % 8 for name, values in back.items() if name != "bool")


def test_generators_of_random_numbers_are_set():
    torch = pytest.importorskip("torch")

    def drawn(seed):
        seed_generators(seed)
        return random.random(), np.random.rand(), torch.rand(1).item()

    assert drawn(2**64 - 1) == drawn(2**64 - 1)
    assert len({*drawn(1), *drawn(2)}) == 6


def test_modules_that_a_pickled_function_brings_along():
    import cloudpickle

    def uses_modules(batch):
        return np.abs(pd.Series(batch["x"]))

    uses_modules.__module__ = "__main__"
    pickled = cloudpickle.dumps(packed(uses_modules))
    assert pickletools.genops(pickled)
    assert {"numpy", "pandas"} <= set(_modules_in(pickled))
    assert _modules_in(b"no pickle") == []

"""What a function worker holds of inputs and outputs, and for how long."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from headway._worker.functions.blocks import ColumnsBlock, block_of
from headway._worker.functions.calls import FunctionCalls
from headway._worker.functions.outputs_link import _pieces


def calls_of(function: Any, kind: str, **options: Any) -> FunctionCalls:
    return FunctionCalls({"function": function, "is_class": False, "args": (), "kwargs": {}}, kind, **options)


def numbers() -> ColumnsBlock:
    return ColumnsBlock({"x": np.arange(10)}, 10)


def table_of(output: Any) -> pa.Table:
    block = block_of(output)
    return block.batch(0, block.rows, "pyarrow")


def test_large_rows_are_stored_one_at_a_time():
    def large(row):
        return {"id": row["x"], "data": bytes(20 << 20)}

    outputs = calls_of(large, "map").outputs(numbers())
    assert [len(next(outputs)) for _ in range(3)] == [1, 1, 1]


def test_what_a_function_got_and_returned_is_let_go_as_its_output_is_taken():
    class Row(dict):
        """Weak references may be had of it."""

    alive = []

    def renewed(row):
        row = Row(row)
        alive.append(weakref.ref(row))
        return row

    outputs = calls_of(renewed, "map").outputs(numbers())
    assert len(next(outputs)["x"]) == 10
    assert [each() for each in alive] == [None] * 10


def test_the_last_rows_of_a_unit_are_the_function_s_alone():
    block = numbers()
    alive = weakref.ref(block)
    calls = calls_of(lambda batch: batch, "map_batches", batch_size=4)
    told = []
    calls.on_all_given = lambda: told.append(alive() is None)
    outputs = calls.outputs(block)
    del block
    assert [len(next(outputs)["x"]) for _ in range(2)] == [4, 4]
    assert told == []
    assert (len(next(outputs)["x"]), told) == (2, [True])


@pytest.mark.parametrize(
    "output",
    [
        {"a": np.arange(10 << 20), "b": np.ones((10 << 20, 2), np.int8)},
        pa.table({"a": np.arange(10 << 20), "b": np.ones(10 << 20)}),
    ],
    ids=["columns", "table"],
)
def test_large_outputs_are_cut(output):
    pieces = _pieces(output)
    assert max(each.nbytes for each in map(block_of, pieces)) <= 32 << 20
    whole, joined = table_of(output), pa.concat_tables(map(table_of, pieces))
    assert joined.combine_chunks().equals(whole.combine_chunks())

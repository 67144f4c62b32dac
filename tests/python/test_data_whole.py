"""Operations that need all rows: DuckDB's process, with this one as its data process."""

from __future__ import annotations

import json
import mmap
import os
import socket
import threading
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from headway._worker.functions import whole_aside, whole_queries
from headway._worker.functions.frames import Frame, Link
from watched_memory import most_bytes, watched

pytest.importorskip("duckdb")
NAN = float("nan")


class Inputs:
    """The data process's end of the link: it gives rows as they are asked for, and takes the
    result's.
    """

    def __init__(self, link: Link, tables: tuple[pa.Table, ...], batch_rows: int) -> None:
        self.link = link
        self.rows = [iter(table.to_batches(max_chunksize=batch_rows)) for table in tables]
        self.pieces = 0
        self.slots: dict[int, mmap.mmap] = {}
        self.schema: pa.Schema | None = None
        self.made: list[pa.Table] = []

    def serve(self) -> Frame:
        """Until the operation is done or has failed."""
        while True:
            frame = self.link.receive()
            assert frame is not None
            if frame.kind in ("UnitDone", "FunctionFailed"):
                return frame
            if frame.kind == "WholeSchema":
                self.schema = pa.ipc.read_schema(pa.py_buffer(frame.blob))
            elif frame.kind == "Pull":
                self.give(frame.fields["input"])
            elif frame.kind == "Output":
                self.take(frame)

    def give(self, number: int) -> None:
        batch = next(self.rows[number], None)
        if batch is None:
            self.link.send("PieceEnd", {})
            return
        stream = pa.BufferOutputStream()
        with pa.ipc.new_stream(stream, batch.schema) as writer:
            writer.write_batch(batch)
        data = stream.getvalue().to_pybytes()
        fd = os.memfd_create("piece")
        os.write(fd, data)
        self.pieces += 1
        self.link.send("Piece", {"slot": self.pieces, "memory": len(data), "bytes": len(data)}, fds=(fd,))
        os.close(fd)

    def take(self, frame: Frame) -> None:
        slot = frame.fields["slot"]
        for fd in frame.fds:
            self.slots[slot] = mmap.mmap(fd, frame.fields["memory"])
            os.close(fd)
        for piece in frame.fields["pieces"]:
            begin = piece["offset"]
            data = self.slots[slot][begin : begin + piece["size"]]
            self.made.append(pa.ipc.open_stream(pa.py_buffer(data)).read_all())
        self.link.send("Continue", {"free": [slot], "stop": False})


@pytest.fixture
def run(tmp_path):
    def do(
        operation: str, options: dict[str, Any], *tables: pa.Table, memory_bytes: int = 0, pieces: bool = False
    ) -> Any:
        from headway._worker.functions.whole import Whole

        ours, theirs = socket.socketpair()
        with ours, theirs:
            schemas = [table.schema.serialize().to_pybytes() for table in tables]
            setup = {
                "arguments": json.dumps({"operation": operation, "options": options}),
                "schema_bytes": [len(each) for each in schemas],
                "memory_bytes": memory_bytes or 256 << 20,
                "folder": str(tmp_path / "whole-1-1"),
                "threads": 2,
                "batch_rows": 4,
                "rows_are_large": False,
            }
            frame = Frame("WholeSetup", setup, b"".join(schemas), [])
            (thread := threading.Thread(target=Whole(Link(theirs), frame).run)).start()
            inputs = Inputs(Link(ours), tables, 3)
            end = inputs.serve()
            thread.join()
        assert not list(tmp_path.iterdir())
        if end.kind == "FunctionFailed":
            raise RuntimeError(f"{end.fields['type']}: {end.fields['message']}")
        assert inputs.schema is not None
        assert all(table.schema == inputs.schema for table in inputs.made)
        if pieces:
            return inputs.made
        return pa.concat_tables(inputs.made) if inputs.made else inputs.schema.empty_table()

    return do


PEOPLE = pa.table(
    {
        "city": ["b", "a", None, "a", "b"],
        "x": [1.5, NAN, 2.0, None, -7.0],
        "i": pa.array([5, 4, 3, 2, 1], pa.int32()),
        "word": pa.array(["p", "q", "p", None, "q"]).dictionary_encode(),
    }
)


def test_nulls_come_last_and_nan_before_them_in_both_directions(run):
    up = run("sort", {"keys": ["x"], "descending": [False]}, PEOPLE)["x"].to_pylist()
    assert str(up) == "[-7.0, 1.5, 2.0, nan, None]"
    down = run("sort", {"keys": ["x"], "descending": [True]}, PEOPLE)["x"].to_pylist()
    assert str(down) == "[2.0, 1.5, -7.0, nan, None]"
    both = run("sort", {"keys": ["city", "i"], "descending": [True, False]}, PEOPLE)
    assert both.select(["city", "i"]).to_pydict() == {"city": ["b", "b", "a", "a", None], "i": [1, 5, 2, 4, 3]}


def test_rows_with_equal_keys_keep_their_order(run):
    table = pa.table({"k": [i % 7 for i in range(1000)], "row": range(1000)})
    made = run("sort", {"keys": ["k"], "descending": [False]}, table)
    assert made["row"].to_pylist() == sorted(range(1000), key=lambda i: (i % 7, i))


def test_columns_that_only_come_along_keep_their_types(run):
    images = np.arange(30, dtype=np.uint8).reshape(5, 2, 3)
    half = np.arange(5, dtype=np.float16)
    table = PEOPLE.append_column("image", pa.FixedShapeTensorArray.from_numpy_ndarray(images))
    table = table.append_column("half", pa.array(half))
    pairs = pa.array([[1, 2], None, [3, None], [4, 5], [6, 7]], pa.list_(pa.int16(), 2))
    table = table.append_column("pair", pairs).append_column("large", pa.array(list("abcde"), pa.large_string()))
    made = run("sort", {"keys": ["i"], "descending": [False]}, table)
    assert np.array_equal(np.concatenate([chunk.to_numpy_ndarray() for chunk in made["image"].chunks]), images[::-1])
    assert made["half"].to_pylist() == half[::-1].tolist()
    assert made["pair"].to_pylist() == pairs.to_pylist()[::-1]
    types = {name: made.schema.field(name).type for name in ("image", "half", "pair", "large", "word")}
    assert types == {
        **{name: table.schema.field(name).type for name in ("image", "half", "pair", "large")},
        "word": pa.string(),
    }


def wide_rows(numbers: list[int]) -> pa.Table:
    images = np.arange(12 * len(numbers), dtype=np.uint8).reshape(-1, 2, 6)
    text = [str(number) * 200 if number % 5 else None for number in numbers]
    return pa.table(
        {
            "id": pa.array(numbers, pa.int32()),
            "k": [number % 7 if number % 3 else None for number in numbers],
            "bytes": pa.array([each and each.encode() * 2 for each in text], pa.large_binary()),
            "image": pa.FixedShapeTensorArray.from_numpy_ndarray(images),
            "word": pa.array([each and each[:1] for each in text]).dictionary_encode(),
            "view": pa.array(text, pa.string_view()),
            "parts": [{"a": each, "b": [number, None]} for number, each in zip(numbers, text, strict=True)],
            "time": pa.array(numbers, pa.timestamp("ns", "Europe/Oslo")),
        }
    )


JOIN = {"on": ["id"], "right_on": ["id"], "left_suffix": "_l", "right_suffix": "_r"}


@pytest.mark.parametrize("memory", [64 << 20, 160 << 20])  # The columns wait in a file; in memory.
@pytest.mark.parametrize(
    ("operation", "options"),
    [
        ("sort", {"keys": ["k", "id"], "descending": [True, False]}),
        ("random_shuffle", {"start": 5}),
        ("group_map", {"keys": ["k"]}),
        ("repartition", {"keys": ["bytes"]}),
        *(
            ("join", {**JOIN, "type": kind})
            for kind in ("inner", "left_outer", "full_outer", "left_semi", "right_anti")
        ),
    ],
)
def test_columns_that_come_along_wait_where_rows_are_too_large_to_be_sorted(
    run, monkeypatch, operation, options, memory
):
    waited = []
    put = whole_aside.Aside.put
    monkeypatch.setattr(whole_aside.Aside, "put", lambda aside, batch: waited.append(aside) or put(aside, batch))
    tables = [wide_rows(list(range(300)))]
    if operation == "join":
        tables.append(wide_rows([3 * number for number in range(150)]))
    with monkeypatch.context() as patched:
        patched.setattr(whole_aside, "threads_for", lambda *_: 2)
        wanted = run(operation, options, *tables)
    made = run(operation, options, *tables, memory_bytes=memory)
    assert {aside.place for aside in waited} == {whole_aside.place_column(side) for side in range(len(tables))}
    assert made.equals(wanted)
    if options.get("type") in ("left_semi", "right_anti"):  # Nothing is kept of the other side.
        assert len({aside.place for aside in waited if aside.row_bytes > 1}) == 1


def aggregate(function: str, on: str | None = "i", ignore_nulls: bool = True, **options: Any) -> dict[str, Any]:
    return {"function": function, "on": on, "name": function, "ignore_nulls": ignore_nulls, **options}


def test_aggregates_by_key_are_ordered_by_key(run):
    wanted = [
        *(aggregate(name) for name in ("sum", "min", "max", "mean", "abs_max", "as_list")),
        aggregate("count", None),
        aggregate("std", ddof=1),
        aggregate("quantile", q=0.25),
        aggregate("unique", "word"),
        aggregate("count_distinct", "word"),
    ]
    rows = run("aggregate", {"keys": ["city"], "aggregates": wanted}, PEOPLE).to_pylist()
    assert [row["city"] for row in rows] == ["a", "b", None]
    assert rows[1] == {
        "city": "b", "sum": 6, "min": 1, "max": 5, "mean": 3.0, "abs_max": 5, "as_list": [5, 1], "count": 2,
        "std": pytest.approx(8**0.5), "quantile": 2.0, "unique": ["p", "q"], "count_distinct": 2,
    }  # fmt: skip
    assert rows[2]["std"] is None
    [one] = run("aggregate", {"keys": [], "aggregates": wanted}, PEOPLE).to_pylist()
    assert (one["sum"], one["count"], one["as_list"]) == (15, 5, [5, 4, 3, 2, 1])


def test_nulls_that_are_not_ignored(run):
    wanted = [
        aggregate("sum", "x", False),
        aggregate("count", "x", False),
        aggregate("unique", "word", False),
        aggregate("count_distinct", "word", False),
        aggregate("as_list", "word", False),
    ]
    rows = run("aggregate", {"keys": ["city"], "aggregates": wanted}, PEOPLE).to_pylist()
    assert rows[0] == {
        "city": "a", "sum": None, "count": 2, "unique": ["q", None], "count_distinct": 2, "as_list": ["q", None],
    }  # fmt: skip
    assert rows[1]["sum"] == -5.5


def test_aggregates_of_no_rows(run):
    none = PEOPLE.slice(0, 0)
    wanted = [aggregate("sum"), aggregate("count", None), aggregate("unique", "word")]
    assert run("aggregate", {"keys": ["city"], "aggregates": wanted}, none).num_rows == 0
    assert run("aggregate", {"keys": [], "aggregates": wanted}, none).to_pylist() == [
        {"sum": None, "count": 0, "unique": []}
    ]


def test_frequent_values_within_lists_of_one_length_and_tensors(run):
    pairs = pa.array([["a", "b"], ["c", "a"], None], pa.list_(pa.string(), 2))
    tensors = pa.FixedShapeTensorArray.from_numpy_ndarray(np.array([[[7, 7], [8, 7]]] * 3))
    table = pa.table({"pair": pairs, "image": tensors})
    within = [aggregate("approx_topk", name, k=1, encode_lists=True) for name in ("pair", "image")]
    wanted = [{**each, "name": each["on"]} for each in within]
    assert run("aggregate", {"keys": [], "aggregates": wanted}, table).to_pylist() == [
        {"pair": [{"pair": "a", "count": 2}], "image": [{"image": 7, "count": 9}]}
    ]
    whole = [aggregate("approx_topk", "pair", k=1, encode_lists=False)]
    [one] = run("aggregate", {"keys": [], "aggregates": whole}, table).to_pylist()
    assert one == {"approx_topk": [{"pair": ["a", "b"], "count": 1}]}


def test_unique_rows(run):
    assert run("unique", {"columns": ["city"]}, PEOPLE)["city"].to_pylist() == ["a", "b", None]


LEFT = pa.table({"id": [1, 2, 3, 4], "v": ["a", "b", "c", "d"]})
RIGHT = pa.table({"key": [3, 1, 9, 1], "v": ["x", "y", "z", "w"]})
BOTH = [(1, "a", "y"), (1, "a", "w"), (3, "c", "x")]


@pytest.mark.parametrize(
    ("kind", "rows"),
    [
        ("inner", BOTH),
        ("left_outer", [*BOTH[:2], (2, "b", None), BOTH[2], (4, "d", None)]),
        ("right_outer", [*BOTH, (9, None, "z")]),
        ("full_outer", [*BOTH[:2], (2, "b", None), BOTH[2], (4, "d", None), (9, None, "z")]),
        ("left_semi", [(1, "a"), (3, "c")]),
        ("left_anti", [(2, "b"), (4, "d")]),
        ("right_semi", [(3, "x"), (1, "y"), (1, "w")]),
        ("right_anti", [(9, "z")]),
    ],
)
def test_joins_are_in_the_order_of_the_left_rows(run, kind, rows):
    options = {"type": kind, "on": ["id"], "right_on": ["key"], "left_suffix": "", "right_suffix": "_r"}
    made = run("join", options, LEFT, RIGHT)
    assert [tuple(row.values()) for row in made.to_pylist()] == rows
    assert made.column_names == {3: ["id", "v", "v_r"], 2: ["key" if "right" in kind else "id", "v"]}[len(rows[0])]


def test_what_cannot_be_done_is_said_in_words(run):
    options = {"type": "inner", "on": ["id"], "right_on": ["key"], "left_suffix": "", "right_suffix": ""}
    with pytest.raises(RuntimeError, match="join: both sides have v; left_suffix and right_suffix"):
        run("join", options, LEFT, RIGHT)
    with pytest.raises(RuntimeError, match="sort: there is no column 'z'; there are id, v"):
        run("sort", {"keys": ["z"], "descending": [False]}, LEFT)
    with pytest.raises(RuntimeError, match="sum: column 'v' is string; allowed: a column of numbers"):
        run("aggregate", {"keys": ["id"], "aggregates": [aggregate("sum", "v")]}, LEFT)


def test_groups_come_whole(run):
    table = pa.table({"k": [i % 5 for i in range(60)], "row": range(60)})
    seen: list[int] = []
    for piece in run("group_map", {"keys": ["k"]}, table, pieces=True):
        keys = set(piece["k"].to_pylist())
        assert not keys & set(seen)
        seen += keys
        assert all(piece["k"].to_pylist().count(key) == 12 for key in keys)
    assert seen == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("keys", [["k"], []])
def test_large_groups_come_whole(run, keys):
    rows = [number // 20 for number in range(100)] + [5] * 50
    table = pa.table({"k": rows, "row": [bytes(1 << 20)] * len(rows)})
    pieces = [set(piece["k"].to_pylist()) for piece in run("group_map", {"keys": keys}, table, pieces=True)]
    assert pieces == ([{0}, {1}, {2}, {3}, {4}, {5}] if keys else [set(range(6))])


def test_a_group_that_is_larger_than_memory_is_named(run):
    table = pa.table({"k": [7] * 100, "row": [bytes(1 << 20)] * 100})
    with pytest.raises(RuntimeError, match=r"MemoryError: the group k=7 has more than .* rows and"):
        run("group_map", {"keys": ["k"]}, table, memory_bytes=64 << 20)


SORT = """
from headway import data
from headway.data.expressions import col

options = data.DataContext.get_current().execution_options
options.resource_limits = data.ExecutionResources.for_limits(object_store_memory=128 << 20)
rows = data.range(4_200_000)
for number in range(15):
    rows = rows.with_column(f"c{number}", (col("id") * (7919 + 2 * number)) % 4_200_013)
last, seen = -1, 0
for batch in rows.sort("c0").iter_batches(batch_size=100_000):
    assert batch["c0"][0] > last
    last, seen = batch["c0"][-1], seen + len(batch["id"])
print("rows:", seen)
"""


def test_four_times_as_many_bytes_as_a_small_budget_are_sorted(script):
    code, text = script.run(SORT)
    assert code == 0, text
    assert "rows: 4200000" in text


LARGE_SORT = """
from headway import data

options = data.DataContext.get_current().execution_options
options.resource_limits = data.ExecutionResources.for_limits(object_store_memory=256 << 20)
last, seen = -1, 0
for batch in data.read_parquet("rows").sort(["c0", "c1"]).iter_batches(batch_size=65_536):
    assert batch["c0"][0] >= last
    last, seen = batch["c0"][-1], seen + len(batch["c0"])
print("rows:", seen)
"""


def test_the_processes_of_a_sort_of_rows_that_grew_on_their_way_stay_within_the_budget(script):
    """Fifteen columns of sixteen are computed."""
    code, text = script.run(watched(SORT.replace("128 << 20", "256 << 20")))
    assert (code, "rows: 4200000" in text) == (0, True), text
    assert most_bytes(text) <= (256 + 64) << 20


@pytest.mark.heavy
def test_the_processes_of_a_large_sort_by_two_keys_stay_within_the_budget(script, tmp_path):
    folder = tmp_path / "rows"
    folder.mkdir()
    for file in range(16):
        random = np.random.default_rng(file)
        table = pa.table({f"c{column}": random.integers(0, 1 << 62, 524_288) for column in range(16)})
        pq.write_table(
            table, folder / f"{file}.parquet", compression="none", use_dictionary=False, row_group_size=32_768
        )
    code, text = script.run(watched(LARGE_SORT.replace('"rows"', repr(str(folder)))))
    assert (code, "rows: 8388608" in text) == (0, True), text
    assert most_bytes(text) <= (256 + 64) << 20


def test_row_numbers_are_in_order_beyond_32_bits_and_end_at_40() -> None:
    columns = whole_queries.row_columns("sort", {}, 2**32 - 2, 4)
    numbers = list(zip(*(column.tolist() for column in columns.values()), strict=True))
    assert numbers == [(0, 2**32 - 2), (0, 2**32 - 1), (1, 0), (1, 1)]
    assert whole_queries.row_columns("sort", {}, 2**40 - 1, 1)[whole_queries.ROW_HIGH].tolist() == [255]
    with pytest.raises(OverflowError, match=r"more than 1099511627776 rows"):
        whole_queries.row_columns("sort", {}, 2**40 - 1, 2)

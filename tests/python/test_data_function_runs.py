"""Python functions and operations on all rows in the data process, as a client sees them."""

from __future__ import annotations

import gc
import json
import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import cloudpickle
import headway
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from headway import _core
from headway._worker.functions.host import command

PROGRAM = str(Path(headway.__file__).parent / "bin" / "headway-data")
#: A hang ends the test.
LONGEST_S = 60


class Client:
    """A client and its data process, until `close`: pytest keeps what a fixture gives."""

    def __init__(self, scratch: Path, budget: int = 0, threads: int = 0) -> None:
        self.process: Any = _core.DataProcess(PROGRAM, "")
        hello = {"function_host": command(), "environment": {}, "scratch": str(scratch), "budget": budget}
        hello["threads"] = threads
        self.core: Any = _core.DataClient(self.process.address, json.dumps(hello))

    def close(self) -> None:
        self.core = self.process = None
        gc.collect()  # Frames of exceptions that were expected hold streams.


@pytest.fixture
def client(tmp_path):
    made = Client(tmp_path)
    yield made
    made.close()


def packed(function: Any) -> bytes:
    call = {"function": function, "is_class": isinstance(function, type), "args": (), "kwargs": {}}
    return cloudpickle.dumps({**call, "constructor_args": (), "constructor_kwargs": {}})


def node(op: str, *inputs: int, **args: Any) -> dict[str, Any]:
    return {"op": op, "inputs": list(inputs), "args": args}


def function_node(kind: str, *inputs: int, **args: Any) -> dict[str, Any]:
    return node("function", *inputs, kind=kind, blob=0, name="f", **args)


def table_of(batch: Any) -> pa.RecordBatch:
    """Columns of numbers, of a batch that a client has."""
    columns = {}
    layout = json.loads(batch.layout)["columns"]
    for index, column in enumerate(layout):
        offset, size = batch.buffers[2 * index + 1]
        dtype = {"int64": np.int64, "double": np.float64, "int32": np.int32}[column["type"]]
        columns[column["name"]] = np.frombuffer(batch, dtype, size // np.dtype(dtype).itemsize, offset).copy()
    return pa.RecordBatch.from_pydict(columns)


def read(client: Any, plan: list[Any], *functions: Any, **consumption: Any) -> pa.Table:
    stream = client.core.open(
        json.dumps({"plan": plan, "consumption": consumption}), [packed(function) for function in functions]
    )
    found = []
    while (batch := stream.next()) is not None:
        found.append(table_of(batch))
    return pa.Table.from_batches(found)


def test_a_function_of_batches_changes_rows_in_their_order(client):
    def double(batch):
        return {"id": batch["id"] * 2}

    plan = [node("range", rows=100_000), function_node("map_batches", 0, batch_size=1000)]
    assert read(client, plan, double, batch_size=3000)["id"].to_pylist() == list(range(0, 200_000, 2))


def test_rows_and_filters(client):
    def row(row):
        return {"id": row["id"], "half": row["id"] / 2}

    def even(row):
        return row["id"] % 2 == 0

    plan = [node("range", rows=10), function_node("map", 0), {**function_node("filter", 1)}]
    plan[2]["args"]["blob"] = 1
    assert read(client, plan, row, even).to_pydict() == {"id": [0, 2, 4, 6, 8], "half": [0.0, 1.0, 2.0, 3.0, 4.0]}


def test_an_exception_is_the_users_with_his_frames_and_the_rows(client):
    def fails(batch):
        raise LookupError("no such thing")

    with pytest.raises(Exception, match=r"map_batches\(f\).*LookupError: no such thing") as caught:
        read(client, [node("range", rows=10), function_node("map_batches", 0)], fails)
    assert "in fails" in caught.value.traceback
    assert caught.value.where.endswith("rows 0 to 9 of it")
    assert isinstance(pickle.loads(caught.value.exception), LookupError)


def test_workers_stay_from_epoch_to_epoch(client):
    def who(batch):
        return {"pid": [os.getpid()]}

    plan = [node("range", rows=10), function_node("map_batches", 0, workers=[1, 1])]
    pids = {read(client, plan, who, epoch=epoch)["pid"][0].as_py() for epoch in range(3)}
    assert len(pids) == 1


def held(client: Any) -> int:
    """Bytes of the budget, at the end of a small stream."""
    stream = client.core.open(json.dumps({"plan": [node("range", rows=1)], "consumption": {}}), [])
    while stream.next() is not None:
        pass
    return int(json.loads(stream.end)["stats"]["held_bytes"])


def held_by_others(client: Any, path: Path) -> int:
    """Bytes of the budget, while no stream is opened."""
    plan = [node("range", rows=1), node("write", 0, format="csv", path=str(path), mode="overwrite")]
    return int(json.loads(client.core.run(json.dumps({"plan": plan}), [])[0])["stats"]["held_bytes"])


def test_workers_that_nobody_uses_give_their_memory_back(tmp_path):
    def large(batch):
        return {"y": np.zeros(3 << 20)}

    client = Client(tmp_path, budget=64 << 20)
    plan = [node("range", rows=1), function_node("map_batches", 0)]
    assert read(client, plan, large).num_rows == 3 << 20
    longest = time.monotonic() + LONGEST_S
    while held(client) > 16 << 20:
        assert time.monotonic() < longest
    client.close()


def test_a_worker_that_is_killed_is_replaced(client, tmp_path):
    marker = str(tmp_path / "killed")

    def dies_once(batch):
        if not os.path.exists(marker):
            open(marker, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
        return batch

    plan = [node("range", rows=50_000), function_node("map_batches", 0)]
    assert read(client, plan, dies_once)["id"].to_pylist() == list(range(50_000))


@pytest.mark.parametrize("deaths", [1, 2])
def test_a_large_unit_whose_worker_is_killed_is_read_once_more(client, tmp_path, deaths):
    """It is not kept in the data process while a worker has it. What was handed on is not
    repeated.
    """
    values = [bytes([number]) * (6 << 20) for number in range(4)]
    pq.write_table(pa.table({"bytes": values, "id": range(4)}), tmp_path / "rows.parquet")

    def dies(batch):
        marks = list(tmp_path.glob("killed*"))
        if batch["id"][0] == 3 and len(marks) < deaths:
            (tmp_path / f"killed{len(marks)}").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return {"id": np.full(600_000, batch["id"][0]), "size": np.full(600_000, len(batch["bytes"][0]))}

    file = node("read", format="parquet", paths=[str(tmp_path / "rows.parquet")], options={})
    plan = [file, function_node("map_batches", 0, batch_size=1)]
    if deaths == 2:
        with pytest.raises(Exception, match=r"map_batches\(f\), .*rows.parquet.*this was its second attempt"):
            read(client, plan, dies)
        return
    made = read(client, plan, dies)
    assert made["id"].to_numpy().tolist() == np.repeat(np.arange(4), 600_000).tolist()
    assert set(made["size"].to_pylist()) == {6 << 20}


def test_an_idle_worker_that_was_killed_too_takes_no_attempt_from_a_large_unit(client, tmp_path):
    values = [bytes([number]) * (6 << 20) for number in range(6)]
    pq.write_table(pa.table({"bytes": values, "id": range(6)}), tmp_path / "rows.parquet")

    def has_ended(worker):
        try:
            return Path(f"/proc/{worker}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
        except (FileNotFoundError, ProcessLookupError):
            return True

    class Dies:
        def __init__(self):
            (tmp_path / f"worker{os.getpid()}").touch()

        def __call__(self, batch):
            if not (tmp_path / "killed").exists():
                longest = time.monotonic() + LONGEST_S
                while len(workers := list(tmp_path.glob("worker*"))) < 2:
                    assert time.monotonic() < longest
                (tmp_path / "killed").touch()
                others = {int(path.name.removeprefix("worker")) for path in workers} - {os.getpid()}
                for other in others:
                    os.kill(other, signal.SIGKILL)
                while not all(map(has_ended, others)):
                    assert time.monotonic() < longest
                os.kill(os.getpid(), signal.SIGKILL)
            return {"id": batch["id"]}

    file = node("read", format="parquet", paths=[str(tmp_path / "rows.parquet")], options={})
    plan = [file, function_node("map_batches", 0, workers=[2, 2])]
    assert read(client, plan, Dies)["id"].to_pylist() == list(range(6))
    assert len(list(tmp_path.glob("worker*"))) > 2


def test_a_constructor_that_ends_the_process_is_an_error(client, tmp_path):
    """Also where its workers have ended before they get a unit."""

    class Dies:
        def __init__(self):
            os._exit(3)

    plan = [node("range", rows=20), function_node("map_batches", 0, workers=[2, 2])]
    with pytest.raises(Exception, match="this was its second attempt"):
        read(client, plan, Dies)


@pytest.mark.parametrize("shuffled", [False, True])
def test_small_files_give_the_same_rows_and_cursors_with_any_number_of_threads(tmp_path, shuffled):
    folder = tmp_path / "files"
    folder.mkdir()
    for number in range(40):
        ids = range(100 * number, 100 * number + 100)
        pq.write_table(pa.table({"id": ids}), folder / f"{number:02}.parquet")

    def same(batch):
        return batch

    plan = [node("read", format="parquet", paths=[str(folder)], options={}), function_node("map_batches", 0)]
    if shuffled:
        plan.append(node("shuffle", 1, kind="windows", window_bytes=8192))
    asked = {"batch_size": 70, "seed": 7}
    found, cursors = [], []
    clients = [Client(tmp_path, threads=threads) for threads in (1, 6)]
    for client in clients:
        stream = client.core.open(json.dumps({"plan": plan, "consumption": asked}), [packed(same)])
        found.append([])
        while (batch := stream.next()) is not None:
            found[-1] += table_of(batch)["id"].to_pylist()
            if len(found[-1]) == 2100:
                cursors.append(json.loads(batch.place.cursor))
    assert found[0] == found[1]
    assert cursors[0] == cursors[1]
    assert (found[0] == list(range(4000))) is not shuffled
    assert sorted(found[0]) == list(range(4000))
    for client, cursor in zip(clients, reversed(cursors), strict=True):
        assert read(client, plan, same, **asked, cursor=cursor)["id"].to_pylist() == found[0][2100:]
        client.close()


def test_units_of_a_python_source(client):
    def of(unit):
        return {"id": np.arange(unit * 10, unit * 10 + 10)}

    plan = [node("python_source", function=0, units=4, rows=[10] * 4)]
    assert read(client, plan, of)["id"].to_pylist() == list(range(40))
    answer, _ = client.core.ask(json.dumps({"what": "count", "plan": plan}), [packed(of)])
    assert json.loads(answer)["rows"] == 40


def test_a_generator_is_read_as_it_yields(client):
    def of(unit):
        return ({"id": index} for index in range(40_000))

    assert read(client, [node("python_source", function=0, units=1)], of).num_rows == 40_000


@pytest.fixture
def duckdb():
    return pytest.importorskip("duckdb")


def whole(operation: str, *inputs: int, blob: int | None = None, **options: Any) -> dict[str, Any]:
    made = node("whole", *inputs, operation=operation, options=options)
    if blob is not None:
        made["args"]["blob"] = blob
    return made


def test_sorts_and_aggregates(client, duckdb):
    def key(batch):
        return {"id": batch["id"], "key": batch["id"] % 3}

    ways = [node("range", rows=1000), function_node("map_batches", 0)]
    made = read(client, [*ways, whole("sort", 1, keys=["key"], descending=[True])], key)
    assert made["id"].to_pylist() == sorted(range(1000), key=lambda i: (-(i % 3), i))
    total = {"function": "sum", "on": "id", "name": "total", "ignore_nulls": True}
    made = read(client, [*ways, whole("aggregate", 1, keys=["key"], aggregates=[total])], key)
    assert made.to_pydict() == {"key": [0, 1, 2], "total": [sum(range(k, 1000, 3)) for k in range(3)]}


def test_functions_of_groups(client, duckdb):
    def key(batch):
        return {"id": batch["id"], "key": batch["id"] % 7}

    def middle(frame):
        return {"key": [int(frame["key"].iloc[0])], "rows": [len(frame)]}

    plan = [
        node("range", rows=700),
        function_node("map_batches", 0),
        whole("group_map", 1, blob=1, keys=["key"], batch_format="pandas"),
    ]
    assert read(client, plan, key, middle).to_pydict() == {"key": list(range(7)), "rows": [100] * 7}


def test_a_join(client, duckdb):
    def squares(batch):
        return {"id": batch["id"] * 2, "square": batch["id"] ** 2}

    plan = [
        node("range", rows=5),
        node("range", rows=5),
        function_node("map_batches", 1),
        whole("join", 0, 2, type="inner", on=["id"], right_on=["id"], left_suffix="", right_suffix=""),
    ]
    assert read(client, plan, squares).to_pydict() == {"id": [0, 2, 4], "square": [0, 1, 4]}


def test_an_epoch_begun_ahead_gives_way_to_what_is_asked_for(tmp_path):
    pq.write_table(pa.table({"id": np.arange(5_000_000)}), tmp_path / "ids.parquet", row_group_size=5_000_000)
    client = Client(tmp_path, budget=64 << 20)
    plan = [node("read", format="parquet", paths=[str(tmp_path / "ids.parquet")])]
    asked = {"batch_size": 100_000, "iterator": "one", "more": True}
    stream = client.core.open(json.dumps({"plan": plan, "consumption": asked}), [])
    while stream.next() is not None:
        pass
    longest = time.monotonic() + LONGEST_S
    half = 24 << 20
    while held_by_others(client, tmp_path / "rows") < half:
        assert time.monotonic() < longest
    while held(client) > half:
        assert time.monotonic() < longest
    stream.close()
    client.close()


UNREAD = """
import headway.data
import numpy as np

def large(batch):
    for _ in range(40):
        yield {"x": np.zeros((1, 1 << 18))}

rows = headway.data.range(4).map_batches(large, batch_size=None, concurrency=1)
first = iter(rows.iter_batches(batch_size=1))
next(first)
# The worker is in the middle of a unit, as long as nobody takes more of it.
second = sum(len(batch["x"]) for batch in rows.iter_batches(batch_size=1))
print(second == 1 + sum(len(batch["x"]) for batch in first))
"""


def test_a_stream_that_nobody_reads_does_not_keep_the_only_worker_from_another_one():
    program = [sys.executable, "-c", UNREAD]
    assert subprocess.run(program, capture_output=True, text=True, check=True, timeout=LONGEST_S).stdout == "True\n"

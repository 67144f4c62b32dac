"""The client of the data process: streams of batches in shared memory, questions, and ends."""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import headway
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from headway import _core

PROGRAM = str(Path(headway.__file__).parent / "bin" / "headway-data")


@pytest.fixture
def process():
    started = _core.DataProcess(PROGRAM, "")
    yield started
    started.close()


@pytest.fixture
def client(process):
    return _core.DataClient(process.address)


def data_processes():
    """The data processes that this process has started."""
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return [int(pid) for pid in children if Path(f"/proc/{pid}/comm").read_text() == "headway-data\n"]


def node(op, inputs=(), **args):
    return {"op": op, "inputs": list(inputs), "args": args}


def open_stream(client, plan, **consumption):
    return client.open(json.dumps({"plan": plan, "consumption": consumption}), [])


def ask(client, what, plan):
    answer, raw = client.ask(json.dumps({"what": what, "plan": plan}), [])
    return json.loads(answer), raw


def numbers(batch):
    """The values of the first column, a view of the batch's memory."""
    (offset, size) = batch.buffers[1]
    return np.frombuffer(batch, dtype=np.int64, count=size // 8, offset=offset)


def batches(stream):
    while (batch := stream.next()) is not None:
        yield batch


def all_numbers(stream):
    return [value for batch in batches(stream) for value in numbers(batch).tolist()]


def test_batches_are_views_of_shared_memory_and_have_exact_sizes(client):
    stream = open_stream(client, [node("range", rows=300_000)], batch_size=70_000)
    found = list(batches(stream))
    assert [batch.rows for batch in found] == [70_000] * 4 + [20_000]
    assert np.concatenate([numbers(batch) for batch in found]).tolist() == list(range(300_000))
    layout = json.loads(found[0].layout)
    assert layout["columns"] == [{"name": "id", "type": "int64", "shape": []}]
    assert pa.ipc.read_schema(pa.py_buffer(found[0].schema)).names == ["id"]
    assert found[0].nodes == [(70_000, 0)]


def test_a_batch_is_writable_and_its_slot_returns_with_its_last_view(client):
    stream = open_stream(client, [node("range", rows=100)], batch_size=10, prefetch=0)
    first = stream.next()
    view = numbers(first)
    view[:] = -1
    kept = view[2:4]
    del first, view
    gc.collect()
    # The memory of `kept` is not used again while it lives.
    second = numbers(stream.next()).copy()
    assert kept.tolist() == [-1, -1]
    del kept
    gc.collect()
    assert second.tolist() == list(range(10, 20))
    assert all_numbers(stream) == list(range(20, 100))


def test_a_client_that_keeps_all_batches_does_not_stall(client):
    stream = open_stream(client, [node("range", rows=1000)], batch_size=10, prefetch=1)
    kept = list(batches(stream))
    assert np.concatenate([numbers(batch) for batch in kept]).tolist() == list(range(1000))


def test_tensors_have_their_shape(client):
    stream = open_stream(client, [node("range", rows=6, tensor_shape=[2, 3])], batch_size=4)
    batch = stream.next()
    (column,) = json.loads(batch.layout)["columns"]
    assert column == {"name": "data", "type": "int64", "shape": [2, 3]}
    (offset, size) = batch.buffers[-1]
    values = np.frombuffer(batch, np.int64, size // 8, offset).reshape(batch.rows, 2, 3)
    assert values[3].tolist() == [[3, 3, 3], [3, 3, 3]]


def test_questions(client):
    plan = [node("range", rows=12)]
    assert ask(client, "count", plan)[0] == 12
    schema, raw = ask(client, "schema", plan)
    assert [column["name"] for column in schema["columns"]] == ["id"]
    assert pa.ipc.read_schema(pa.py_buffer(raw)).field("id").type == pa.int64()
    assert ask(client, "files", plan)[0] == []
    assert ask(client, "explain", plan)[0].startswith("range")


def test_bad_requests_are_errors_in_words(client):
    with pytest.raises(ValueError, match=r"colour.*no question"):
        ask(client, "colour", [node("range", rows=12)])
    with pytest.raises(ValueError, match="batch_size is 0; it must be 1 or more"):
        open_stream(client, [node("range", rows=12)], batch_size=0).next()
    with pytest.raises(ValueError, match="nonsense"):
        open_stream(client, [node("nonsense")]).next()
    # The data process lives on.
    assert ask(client, "count", [node("range", rows=3)])[0] == 3


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        ([node("range", rows=100), node("limit", [0], rows=7)], list(range(7))),
        ([node("range", rows=3), node("range", rows=2), node("union", [0, 1])], [0, 1, 2, 0, 1]),
        ([node("range", rows=5), node("limit", [0], rows=3), node("union", [0, 1])], [0, 1, 2, 3, 4, 0, 1, 2]),
        (
            [node("range", rows=4), node("range", rows=8), node("mix", [0, 1], weights=[1, 2], stop="shortest")],
            [0, 0, 1, 1, 2, 3, 2, 4, 5, 3, 6, 7],
        ),
    ],
)
def test_plans(client, plan, expected):
    found = all_numbers(open_stream(client, plan, batch_size=2))
    if plan[-1]["op"] == "mix":
        assert sorted(found) == sorted(expected)
    else:
        assert found == expected


def test_zip_gives_columns_side_by_side(client):
    plan = [node("range", rows=5), node("range", rows=5), node("zip", [0, 1])]
    stream = open_stream(client, plan, batch_size=5)
    assert [column["name"] for column in json.loads(stream.next().layout)["columns"]] == ["id", "id_1"]
    short = [node("range", rows=5), node("range", rows=4), node("zip", [0, 1])]
    with pytest.raises(ValueError, match="different numbers of rows"):
        all_numbers(open_stream(client, short, batch_size=5))


def test_a_shuffle_is_a_function_of_seed_and_epoch(client):
    rows = 400_000
    plan = [node("range", rows=rows), node("shuffle", [0], kind="windows", window_bytes=2 << 20)]
    first = all_numbers(open_stream(client, plan, batch_size=1000, seed=1))
    assert sorted(first) == list(range(rows))
    assert first != sorted(first)
    assert all_numbers(open_stream(client, plan, batch_size=999, seed=1)) == first
    assert all_numbers(open_stream(client, plan, batch_size=1000, seed=1, epoch=1)) != first
    assert all_numbers(open_stream(client, plan, batch_size=1000, seed=2)) != first


def test_ranks_get_equal_shares_in_order_of_rounds(client):
    streams = [
        open_stream(client, [node("range", rows=1003)], batch_size=100, group="train", world_size=2, rank=rank)
        for rank in range(2)
    ]
    found: list[list[list[int]]] = [[], []]

    def read(rank):
        found[rank] = [numbers(batch).tolist() for batch in batches(streams[rank])]

    threads = [threading.Thread(target=read, args=[rank]) for rank in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [len(batch) for batch in found[0]] == [100] * 5 + [1]
    assert [len(batch) for batch in found[1]] == [100] * 5 + [1]
    dealt = [value for pair in zip(*found, strict=True) for batch in pair for value in batch]
    assert dealt == list(range(1002))
    assert json.loads(streams[0].end)["dropped"] == 1


@pytest.mark.parametrize("shuffled", [False, True])
def test_a_stream_resumes_at_the_next_row_with_another_world_size(client, shuffled):
    plan = [node("range", rows=500_000)]
    if shuffled:
        plan.append(node("shuffle", [0], kind="windows", window_bytes=2 << 20))
    whole = all_numbers(open_stream(client, plan, batch_size=1000, seed=5))
    stream = open_stream(client, plan, batch_size=1000, seed=5)
    taken = [stream.next() for _ in range(217)]
    begun = [value for batch in taken for value in numbers(batch).tolist()]
    cursor = json.loads(taken[-1].cursor)
    assert cursor["rows_before"] == 217_000
    stream.close()
    rest = all_numbers(open_stream(client, plan, batch_size=333, cursor=cursor))
    assert begun + rest == whole


def test_a_cursor_of_another_plan_is_refused(client):
    stream = open_stream(client, [node("range", rows=50)], batch_size=10)
    cursor = json.loads(stream.next().cursor)
    with pytest.raises(ValueError, match="rows was 50, is 60"):
        open_stream(client, [node("range", rows=60)], batch_size=10, cursor=cursor).next()


def test_the_end_of_the_data_process_is_an_error_in_words(process, client):
    stream = open_stream(client, [node("range", rows=10_000_000)], batch_size=10, prefetch=1)
    assert stream.next() is not None
    (pid,) = data_processes()
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(RuntimeError, match="data process has ended unexpectedly"):
        list(batches(stream))
    with pytest.raises((OSError, RuntimeError), match="data process"):
        ask(client, "count", [node("range", rows=3)])


def test_clients_of_one_folder_share_a_process_which_ends_with_the_last(tmp_path):
    script = (
        "import sys; from headway import _core; p = _core.DataProcess(sys.argv[1], sys.argv[2]);"
        "print(p.address, flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", script, PROGRAM, str(tmp_path)]
    clients = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    addresses = {each.stdout.readline().strip() for each in clients}
    assert len(addresses) == 1
    for each in clients:
        each.communicate()
    # A later client finds nobody at the old address.
    later = _core.DataProcess(PROGRAM, str(tmp_path))
    assert later.address != addresses.pop()


def test_ctrl_c_ends_a_wait():
    script = f"""
import json, os, signal, threading
from headway import _core
process = _core.DataProcess({PROGRAM!r}, "")
client = _core.DataClient(process.address)
# The other rank never comes.
stream = client.open(json.dumps({{"plan": [{{"op": "range", "inputs": [], "args": {{"rows": 5}}}}],
    "consumption": {{"group": "train", "world_size": 2, "rank": 0}}}}), [])
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    stream.next()
except KeyboardInterrupt:
    print("interrupted")
"""
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert ended.stdout == "interrupted\n"


@pytest.fixture
def corpus(tmp_path):
    """Three Parquet files of four row groups: `id` counts from 0, `x` is half of it, `word` its text."""
    for file in range(3):
        ids = np.arange(file * 4000, (file + 1) * 4000)
        table = pa.table({"id": ids, "x": (ids / 2).astype(np.float32), "word": [f"w{i}" for i in ids]})
        pq.write_table(table, tmp_path / f"part-{file}.parquet", row_group_size=1000)
    return tmp_path


def read_parquet(folder, **options):
    return node("read", format="parquet", paths=[str(folder)], options=options)


def table_of(batch):
    """The batch as a table of Arrow, of columns without children."""
    schema = pa.ipc.read_schema(pa.py_buffer(batch.schema))
    memory, buffers = pa.py_buffer(batch), iter(batch.buffers)
    columns = []
    for field, (length, nulls) in zip(schema, batch.nodes, strict=True):
        parts = [next(buffers) for _ in range(field.type.num_buffers)]
        columns.append(
            pa.Array.from_buffers(
                field.type, length, [memory.slice(offset, size) if offset else None for offset, size in parts], nulls
            )
        )
    return pa.Table.from_arrays(columns, schema=schema)


def test_parquet_comes_in_file_order_with_exact_batches_across_row_groups(client, corpus):
    found = list(batches(open_stream(client, [read_parquet(corpus)], batch_size=700)))
    assert [batch.rows for batch in found] == [700] * 17 + [100]
    table = pa.concat_tables([table_of(batch) for batch in found])
    assert table.equals(pq.read_table(corpus))
    assert ask(client, "count", [read_parquet(corpus)])[0] == 12_000
    assert [Path(file).name for file in ask(client, "files", [read_parquet(corpus)])[0]] == [
        "part-0.parquet",
        "part-1.parquet",
        "part-2.parquet",
    ]


def test_only_the_columns_that_a_plan_needs_are_read(client, corpus):
    plan = [
        read_parquet(corpus),
        node("project", [0], columns=[["x", {"column": "x"}]], keep=False),
    ]
    (first, *_) = batches(open_stream(client, plan, batch_size=12_000))
    assert table_of(first).column_names == ["x"]


def test_expressions_make_and_filter_rows(client, corpus):
    plan = [
        read_parquet(corpus),
        node("filter", [0], where={"call": "less", "args": [{"column": "id"}, {"literal": 10}]}),
        node(
            "project",
            [1],
            columns=[["twice", {"call": "multiply", "args": [{"column": "id"}, {"literal": 2}]}]],
            keep=True,
        ),
        node("drop", [2], columns=["x"]),
    ]
    (batch,) = batches(open_stream(client, plan, batch_size=100))
    assert table_of(batch).to_pydict() == {
        "id": list(range(10)),
        "word": [f"w{i}" for i in range(10)],
        "twice": list(range(0, 20, 2)),
    }
    assert ask(client, "count", plan)[0] == 10


def test_shuffled_rows_keep_their_columns_together(client, corpus):
    plan = [read_parquet(corpus), node("shuffle", [0], kind="exact", seed=3)]
    table = pa.concat_tables([table_of(batch) for batch in batches(open_stream(client, plan, batch_size=512))])
    assert table["id"].to_pylist() != list(range(12_000))
    ordered = table.sort_by("id")
    assert ordered.equals(pq.read_table(corpus))


def test_a_damaged_file_is_named(client, corpus):
    (corpus / "part-1.parquet").write_bytes(b"PAR1 this is no Parquet file PAR1")
    with pytest.raises((ValueError, OSError), match=r"part-1\.parquet"):
        list(batches(open_stream(client, [read_parquet(corpus)], batch_size=700)))


def test_a_missing_file_is_named(client, tmp_path):
    with pytest.raises((ValueError, OSError), match="nowhere"):
        open_stream(client, [read_parquet(tmp_path / "nowhere")], batch_size=700).next()


def deal(client, plan, ranks, **consumption):
    """The batches of each rank, read at the same time."""
    streams = [
        open_stream(client, plan, group="train", world_size=ranks, rank=rank, **consumption) for rank in range(ranks)
    ]
    found = [[] for _ in range(ranks)]

    def read(rank):
        found[rank] = [numbers(batch).tolist() for batch in batches(streams[rank])]

    threads = [threading.Thread(target=read, args=[rank]) for rank in range(ranks)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def test_drop_last_leaves_the_short_batches_out(client):
    found = deal(client, [node("range", rows=1003)], 2, batch_size=100, drop_last=True)
    assert [[len(batch) for batch in rank] for rank in found] == [[100] * 5, [100] * 5]


def test_unequal_shares_lose_no_row(client):
    found = deal(client, [node("range", rows=1003)], 2, batch_size=100, equal=False)
    assert sorted(value for rank in found for batch in rank for value in batch) == list(range(1003))
    assert [[len(batch) for batch in rank] for rank in found] == [[100] * 5 + [3], [100] * 5]


def test_without_a_batch_size_pieces_come_as_they_are(client, corpus):
    # Small row groups are read together.
    assert sum(batch.rows for batch in batches(open_stream(client, [read_parquet(corpus)]))) == 12_000
    plan = [node("range", rows=10), node("repartition", [0], rows=4)]
    assert [batch.rows for batch in batches(open_stream(client, plan))] == [4, 4, 2]


def test_a_rank_that_leaves_does_not_stop_the_others(client):
    streams = [
        open_stream(client, [node("range", rows=1000)], batch_size=10, group="train", world_size=2, rank=rank)
        for rank in range(2)
    ]
    assert streams[0].next().rows == 10
    streams[0].close()
    assert [value for value in all_numbers(streams[1]) if value < 40] == [*range(10, 20), *range(30, 40)]


def test_ranks_with_different_data_sets_are_refused(client):
    first = open_stream(client, [node("range", rows=10)], batch_size=1, group="train", world_size=2, rank=0)
    second = open_stream(client, [node("range", rows=11)], batch_size=1, group="train", world_size=2, rank=1)
    with pytest.raises(ValueError, match=r'ranks do not read "train" in the same way'):
        second.next()
    first.close()


def test_a_local_shuffle_keeps_rows_within_its_window(client):
    rows = 1_000_000
    stream = open_stream(client, [node("range", rows=rows)], batch_size=1000, shuffle_window_rows=262_144, seed=1)
    found = np.array(all_numbers(stream))
    assert sorted(found.tolist()) == list(range(rows))
    assert found.tolist() != list(range(rows))
    assert np.abs(found - np.arange(rows)).max() < 2 * 262_144


def test_a_sample_is_the_same_each_time(client):
    plan = [node("range", rows=10_000), node("sample", [0], fraction=0.1, seed=4)]
    first = all_numbers(open_stream(client, plan, batch_size=100))
    assert 800 < len(first) < 1200
    assert all_numbers(open_stream(client, plan, batch_size=7)) == first


def test_epochs_of_a_group_wait_for_all_ranks(client):
    found = [deal(client, [node("range", rows=8)], 2, batch_size=2, epoch=epoch) for epoch in range(2)]
    assert found == [[[[0, 1], [4, 5]], [[2, 3], [6, 7]]]] * 2


def resident(pid):
    """Bytes of memory of a process, without what it maps of files."""
    fields = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return (int(fields["RssAnon"].split()[0]) + int(fields["RssShmem"].split()[0])) * 1024


def test_memory_stays_within_the_budget(process, tmp_path):
    budget = 96 << 20
    values = np.random.default_rng(0).random(500_000)
    for file in range(4):
        table = pa.table({f"c{i}": values for i in range(16)})
        pq.write_table(table, tmp_path / f"{file}.parquet", row_group_size=100_000, compression="none")
    client = _core.DataClient(process.address, json.dumps({"budget": budget}))
    stream = open_stream(client, [read_parquet(tmp_path)], batch_size=4096)
    (pid,) = data_processes()
    most, rows = 0, 0
    for batch in batches(stream):
        rows += batch.rows
        most = max(most, resident(pid))
    assert rows == 2_000_000
    assert most <= budget + (64 << 20)

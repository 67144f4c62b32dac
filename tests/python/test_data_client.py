"""The client of the data process: streams of batches in shared memory, questions, and ends."""

from __future__ import annotations

import contextlib
import gc
import json
import os
import signal
import subprocess
import sys
import threading
import weakref

import numpy as np
import pyarrow as pa
import pytest
from data_streams import PROGRAM, all_numbers, ask, batches, data_processes, deal, node, numbers, open_stream
from headway import _core


@pytest.fixture
def process():
    started = _core.DataProcess(PROGRAM, "")
    yield started
    started.close()


@pytest.fixture
def client(process):
    return _core.DataClient(process.address)


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
    assert ask(client, "count", plan)[0]["rows"] == 12
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
    assert ask(client, "count", [node("range", rows=3)])[0]["rows"] == 3


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
    end = json.loads(streams[0].end)
    assert end["dropped"] == 1
    assert [stage["name"] for stage in end["stats"]["stages"]] == ["range", "deal"]


@pytest.mark.parametrize("shuffled", [False, True])
def test_a_stream_resumes_at_the_next_row_with_another_world_size(client, shuffled):
    plan = [node("range", rows=500_000)]
    if shuffled:
        plan.append(node("shuffle", [0], kind="windows", window_bytes=2 << 20))
    whole = all_numbers(open_stream(client, plan, batch_size=1000, seed=5))
    stream = open_stream(client, plan, batch_size=1000, seed=5)
    taken = [stream.next() for _ in range(217)]
    begun = [value for batch in taken for value in numbers(batch).tolist()]
    cursor = json.loads(taken[-1].place.cursor)
    assert cursor["rows_before"] == 217_000
    stream.close()
    rest = all_numbers(open_stream(client, plan, batch_size=333, cursor=cursor))
    assert begun + rest == whole


def test_a_cursor_of_another_plan_is_refused(client):
    stream = open_stream(client, [node("range", rows=50)], batch_size=10)
    cursor = json.loads(stream.next().place.cursor)
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


@pytest.mark.usefixtures("the_engine_ends")
def test_a_failure_of_a_conversion_keeps_no_stream():
    """Not even until the collector comes by."""
    from headway.data import DataContext, _client, range

    stream = _client.Stream(range(4)._plan, {"rank": 0, "world_size": 1, "batch_size": 2}, DataContext.get_current())
    lives = weakref.ref(stream)
    gc.disable()
    try:
        with contextlib.suppress(ZeroDivisionError):
            list(stream.made(lambda batch: 1 // 0))
        del stream
        assert lives() is None
    finally:
        gc.enable()


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
signal.signal(signal.SIGINT, signal.default_int_handler)  # What starts the tests may ignore it.
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


def test_drop_last_leaves_the_short_batches_out(client):
    found = deal(client, [node("range", rows=1003)], 2, batch_size=100, drop_last=True)
    assert [[len(batch) for batch in rank] for rank in found] == [[100] * 5, [100] * 5]


def test_unequal_shares_lose_no_row(client):
    found = deal(client, [node("range", rows=1003)], 2, batch_size=100, equal=False)
    assert sorted(value for rank in found for batch in rank for value in batch) == list(range(1003))
    assert [[len(batch) for batch in rank] for rank in found] == [[100] * 5 + [3], [100] * 5]


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


def test_a_script_may_end_with_a_batch_of_arrow_in_its_hands():
    script = "import headway.data; batch = next(iter(headway.data.range(9).iter_batches(batch_format='pyarrow')))"
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert ended.stderr == ""

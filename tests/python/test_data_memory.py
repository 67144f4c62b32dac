"""All processes of a data set stay within the budget and 64 MiB for each client."""

import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from watched_memory import most_bytes, watched

BUDGET = 256 << 20
ROW = 100_000_000

START = f"""
import os, threading
# Processes that compile the modules that they import take some MiB more.
os.environ.update(PYTHONDONTWRITEBYTECODE="1", PYTHONPYCACHEPREFIX="/none")
import numpy as np
from headway import data

options = data.DataContext.get_current().execution_options
options.resource_limits = data.ExecutionResources.for_limits(object_store_memory={BUDGET})

def wide(batch):
    return {{"data": np.repeat(batch["id"][:, None], 17, axis=1)}}
"""

LARGE_ROWS = """
rows = 0
for batch in data.read_READER("FOLDER")FUNCTION.iter_batches(batch_size=1):
    assert len(batch["bytes"][0]) == ROW
    rows += 1
print("rows:", rows)
"""


def runs_within_the_budget(script, body, rows, clients=1, in_training=False):
    code, text = script.run(START + watched(body, in_training))
    assert (code, f"rows: {rows}" in text) == (0, True), text
    assert 16 << 20 < most_bytes(text) <= BUDGET + clients * (64 << 20), text


def large_rows_body(reader, folder, function):
    body = LARGE_ROWS.replace("READER", reader).replace("FOLDER", str(folder)).replace("ROW", str(ROW))
    return body.replace("FUNCTION", function)


@pytest.fixture(params=["parquet", "binary_files"])
def large_rows(request, tmp_path):
    """Files of rows of 100 MB, and the reader's name."""
    folder = tmp_path / "large"
    folder.mkdir()
    for number in range(5):
        value = bytes([number]) * ROW
        if request.param == "parquet":
            table = pa.table({"bytes": pa.array([value], pa.large_binary())})
            pq.write_table(table, folder / f"{number}.parquet", compression="none", use_dictionary=False)
        else:
            (folder / f"{number}.bin").write_bytes(value)
    return request.param, folder


def test_rows_of_100_mb_stay_within_it(script, large_rows):
    reader, folder = large_rows
    runs_within_the_budget(script, large_rows_body(reader, folder, ""), rows=5)


def test_compressed_rows_of_100_mb_stay_within_it(script, tmp_path):
    """The compressed bytes are there beside the row: these do not become fewer by compression."""
    for number in range(3):
        table = pa.table({"bytes": pa.array([random.Random(number).randbytes(ROW)], pa.large_binary())})
        pq.write_table(table, tmp_path / f"{number}.parquet", compression="snappy", use_dictionary=False)
    runs_within_the_budget(script, large_rows_body("parquet", tmp_path, ".map(lambda row: row)"), rows=3)


@pytest.mark.parametrize(
    "function",
    [
        ".map(lambda row: row)",
        ".map(lambda row: {'bytes': row['bytes'].upper()})",
        ".filter(lambda row: True)",
        ".map_batches(lambda batch: batch, batch_format='pyarrow')",
    ],
    ids=["same", "other", "filter", "arrow"],
)
def test_rows_of_100_mb_stay_within_it_on_their_way_through_functions(script, large_rows, function):
    reader, folder = large_rows
    runs_within_the_budget(script, large_rows_body(reader, folder, function), rows=5)


@pytest.mark.parametrize(
    "made", ["{'data': np.zeros((400_000, 1000))}", "pyarrow.table({'data': np.zeros(400_000_000)})"]
)
def test_an_output_of_3_gb_goes_on_in_pieces(script, made):
    """Zeros that nobody has written take no memory: all that is counted are copies."""
    body = f"""
import pyarrow
rows = sum(len(batch["data"]) for batch in data.range(1).map_batches(lambda batch: {made}).iter_batches())
print("rows:", rows)
"""
    runs_within_the_budget(script, body, rows=400_000)


def test_a_client_that_keeps_its_batches_gets_all_of_them_however_full_memory_is(script, large_rows):
    """Nothing is read before a client needs it; a client that waits needs it, whatever it holds."""
    reader, folder = large_rows
    body = f"""
kept = list(data.read_{reader}({str(folder)!r}).iter_batches(batch_size=1, prefetch_batches=3))
print("first bytes:", [batch["bytes"][0][0] for batch in kept])
"""
    code, text = script.run(START + body)
    assert (code, "first bytes: [0, 1, 2, 3, 4]" in text) == (0, True), text


def test_functions_that_return_more_than_they_got_stay_within_it(script):
    body = """
rows = sum(len(batch["data"]) for batch in data.range(4_000_000).map_batches(wide).iter_batches(batch_size=4096))
print("rows:", rows)
"""
    runs_within_the_budget(script, body, rows=4_000_000)


def test_a_sort_of_rows_that_functions_made_stays_within_it(script):
    body = """
made = data.range(3_000_000).map_batches(lambda batch: {"key": -batch["id"], **wide(batch)})
rows, last = 0, -3_000_000
for batch in made.sort("key").iter_batches(batch_size=4096):
    assert (np.diff(batch["key"], prepend=last) == 1).all()
    rows, last = rows + len(batch["key"]), batch["key"][-1]
print("rows:", rows)
"""
    runs_within_the_budget(script, body, rows=3_000_000)


@pytest.mark.parametrize("order", ['sort("key")', "random_shuffle(seed=1)"])
@pytest.mark.parametrize(("size", "count"), [(2_000, 200_000), (1_000_000, 600)])
def test_an_order_of_large_rows_stays_within_it(script, tmp_path, order, size, count):
    """DuckDB alone would need 120 000 rows in memory at once."""
    schema = pa.schema({"key": pa.int64(), "bytes": pa.binary()})
    with pq.ParquetWriter(tmp_path / "rows.parquet", schema) as writer:
        for begin in range(0, count, count // 20):
            keys = [-number for number in range(begin, begin + count // 20)]
            writer.write_table(pa.table([keys, [b"%08d" % -key * (size // 8) for key in keys]], schema))
    body = f"""
keys = []
for batch in data.read_parquet({str(tmp_path)!r}).{order}.iter_batches(batch_size=8):
    keys += batch["key"].tolist()
    assert [b"%08d" % -key for key in batch["key"]] == [value[-8:] for value in batch["bytes"]]
assert (keys == sorted(keys)) == ("sort" in {order!r})
assert sorted(keys) == list(range(1 - {count}, 1))
print("rows:", len(keys))
"""
    runs_within_the_budget(script, body, rows=count)


def test_keys_that_are_too_large_for_memory_are_an_error_in_words(script):
    body = """
from headway import data

options = data.DataContext.get_current().execution_options
options.resource_limits = data.ExecutionResources.for_limits(object_store_memory=128 << 20)
keys = data.range(60_000).map_batches(lambda batch: {"k": [b"%d" % number * 500 for number in batch["id"]]})
try:
    keys.sort("k").count()
    list(keys.sort("k").iter_batches())
except MemoryError as error:
    print(error)
"""
    code, text = script.run(body)
    assert code == 0
    assert "sort: 64 MiB of memory are too little for rows with keys or groups of this size" in text


def test_one_slow_client_of_two_does_not_let_memory_grow(script):
    body = """
made = data.range(1_000_000).map_batches(wide)
counts = [0, 0]
def use(client, shard, slow):
    for batch in shard.iter_batches(batch_size=4096):
        for _ in range(slow):
            np.sort(batch["data"].reshape(-1)[::-1])
        counts[client] += len(batch["data"])
clients = [
    threading.Thread(target=use, args=(client, shard, 5 * client))
    for client, shard in enumerate(made.streaming_split(2, equal=True))
]
for client in clients:
    client.start()
for client in clients:
    client.join()
assert counts[0] == counts[1]
print("rows:", counts[0])
"""
    runs_within_the_budget(script, body, rows=500_000, clients=2)


def test_ranks_that_train_on_rows_that_a_function_made_stay_within_it(script):
    body = """
from headway import train

def loop():
    shard = train.get_dataset_shard("train")
    for _ in range(2):
        rows = 0
        for batch in shard.iter_batches(batch_size=4096):
            np.sort(batch["data"].reshape(-1)[::-1])  # The function is quicker than the training.
            rows += len(batch["data"])
    train.report({"rows": rows})

result = train.DataParallelTrainer(
    loop,
    datasets={"train": data.range(3_000_000).map_batches(wide)},
    scaling_config=train.ScalingConfig(num_workers=2),
    run_config=train.RunConfig(verbose=0),
).fit()
print("rows:", result.metrics["rows"])
"""
    runs_within_the_budget(script, body, rows=1_500_000, clients=2, in_training=True)

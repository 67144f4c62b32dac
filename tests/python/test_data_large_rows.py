"""Large rows stay within the budget and 64 MiB for each client."""

import random
import shutil
import sqlite3

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from headway._worker.functions.whole_sizes import bytes_of_rows
from watched_memory import COMPILING, START, runs_within_the_budget

ROW = 100_000_000

LARGE_ROWS = """
rows = 0
for batch in data.read_READER("FOLDER")FUNCTION.iter_batches(batch_size=1):
    assert len(batch["bytes"][0]) == ROW
    rows += 1
print("rows:", rows)
"""


def large_rows_body(reader, folder, function):
    body = LARGE_ROWS.replace("READER", reader).replace("FOLDER", str(folder)).replace("ROW", str(ROW))
    return body.replace("FUNCTION", function)


@pytest.fixture(params=["parquet", "binary_files"], scope="module")
def large_rows(request, tmp_path_factory):
    """Files of rows of 100 MB, and the reader's name."""
    folder = tmp_path_factory.mktemp("large")
    for number in range(5):
        value = bytes([number]) * ROW
        if request.param == "parquet":
            table = pa.table({"bytes": pa.array([value], pa.large_binary())})
            pq.write_table(table, folder / f"{number}.parquet", compression="none", use_dictionary=False)
        else:
            (folder / f"{number}.bin").write_bytes(value)
    yield request.param, folder
    shutil.rmtree(folder)


def test_rows_of_100_mb_stay_within_it(script, large_rows):
    reader, folder = large_rows
    runs_within_the_budget(script, large_rows_body(reader, folder, ""), rows=5)


def test_processes_that_compile_their_modules_stay_within_it(script, large_rows):
    reader, folder = large_rows
    body = large_rows_body(reader, folder, ".map(lambda row: row, concurrency=1)")
    runs_within_the_budget(script, body, rows=5, before=COMPILING)


@pytest.mark.parametrize("use_dictionary", [False, True])
def test_compressed_rows_of_100_mb_stay_within_it(script, tmp_path, use_dictionary):
    """The compressed bytes are there beside the row: these do not become fewer by compression. A
    dictionary, which is the default of writers, is one more copy.
    """
    for number in range(3):
        table = pa.table({"bytes": pa.array([random.Random(number).randbytes(ROW)], pa.large_binary())})
        pq.write_table(table, tmp_path / f"{number}.parquet", compression="snappy", use_dictionary=use_dictionary)
    runs_within_the_budget(script, large_rows_body("parquet", tmp_path, ".map(lambda row: row)"), rows=3)


def test_a_row_group_that_is_larger_than_memory_stays_within_it(script, tmp_path):
    """Such as one of images: few rows, of which all make a large part."""
    rows = [random.Random(number).randbytes(100_000) for number in range(4000)]
    pq.write_table(pa.table({"bytes": rows}), tmp_path / "rows.parquet", write_batch_size=64)
    assert pq.ParquetFile(tmp_path / "rows.parquet").num_row_groups == 1
    body = f"""
rows = 0
for batch in data.read_parquet({str(tmp_path)!r}).iter_batches(batch_size=32):
    rows += len(batch["bytes"])
print("rows:", rows)
"""
    runs_within_the_budget(script, body, rows=4000)


FUNCTIONS = {
    "same": ".map(lambda row: row)",
    "other": ".map(lambda row: {'bytes': row['bytes'].upper()})",
    "filter": ".filter(lambda row: True)",
    "arrow": ".map_batches(lambda batch: batch, batch_format='pyarrow')",
    "two": ".map(lambda row: row).map(lambda row: row)",
    "two_processes": ".map(lambda row: row).map(lambda row: row, concurrency=1)",
}


@pytest.mark.parametrize(
    ("large_rows", "function"),
    [*(("parquet", each) for each in FUNCTIONS), ("binary_files", "same"), ("binary_files", "two_processes")],
    indirect=["large_rows"],
)
def test_rows_of_100_mb_stay_within_it_on_their_way_through_functions(script, large_rows, function):
    reader, folder = large_rows
    runs_within_the_budget(script, large_rows_body(reader, folder, FUNCTIONS[function]), rows=5)


def test_a_client_that_keeps_its_batches_gets_all_of_them_however_full_memory_is(script, large_rows):
    """Nothing is read before a client needs it; a client that waits needs it, whatever it holds."""
    reader, folder = large_rows
    body = f"""
kept = list(data.read_{reader}({str(folder)!r}).iter_batches(batch_size=1, prefetch_batches=3))
print("first bytes:", [batch["bytes"][0][0] for batch in kept])
"""
    code, text = script.run(START + body)
    assert (code, "first bytes: [0, 1, 2, 3, 4]" in text) == (0, True), text


@pytest.mark.parametrize("order", ['sort("key")', "random_shuffle(seed=1)"])
@pytest.mark.parametrize(("size", "count"), [(2_000, 100_000), (1_000_000, 300), (ROW, 6)])
def test_an_order_of_large_rows_stays_within_it(script, tmp_path, order, size, count):
    """DuckDB alone would need 120 000 rows in memory at once."""
    schema = pa.schema({"key": pa.int64(), "bytes": pa.binary()})
    with pq.ParquetWriter(tmp_path / "rows.parquet", schema) as writer:
        step = max(1, count // 20)
        for begin in range(0, count, step):
            keys = [-number for number in range(begin, begin + step)]
            writer.write_table(pa.table([keys, [b"%08d" % -key * (size // 8) for key in keys]], schema))
    body = f"""
keys = []
for batch in data.read_parquet({str(tmp_path)!r}).{order}.iter_batches(batch_size={1 if size == ROW else 8}):
    keys += batch["key"].tolist()
    assert [b"%08d" % -key for key in batch["key"]] == [value[-8:] for value in batch["bytes"]]
assert (keys == sorted(keys)) == ("sort" in {order!r})
assert sorted(keys) == list(range(1 - {count}, 1))
print("rows:", len(keys))
"""
    runs_within_the_budget(script, body, rows=count)


@pytest.mark.parametrize(
    "groups",
    [[[1] * 2_000 + [1_000_000] * 10] * 30, [[1] * 2_000] * 30 + [[20_000] * 500] * 30],
    ids=["among", "behind"],
)
def test_large_rows_and_small_ones_stay_within_it(script, tmp_path, groups):
    """Neither the first rows nor the average row show how large some are."""
    schema = pa.schema({"size": pa.int64(), "bytes": pa.binary()})
    with pq.ParquetWriter(tmp_path / "rows.parquet", schema) as writer:
        for sizes in groups:
            writer.write_table(pa.table([sizes, [b"a" * size for size in sizes]], schema))
    body = f"""
sizes = []
for batch in data.read_parquet({str(tmp_path)!r}).sort("size").iter_batches(batch_size=50):
    sizes += batch["size"].tolist()
    assert [len(value) for value in batch["bytes"]] == batch["size"].tolist()
assert sizes == sorted(sizes)
print("rows:", len(sizes))
"""
    runs_within_the_budget(script, body, rows=sum(map(len, groups)))


def test_an_epoch_after_one_with_large_rows_behind_small_ones_reads_its_rows_once(script, tmp_path):
    body = (
        START
        + f"""
def grows(batch):
    with open({str(tmp_path / "calls")!r}, "ab") as file:
        file.write(b".")
    return {{"id": batch["id"], "bytes": [b"a" * (1 if number < 3_000 else 20_000) for number in batch["id"]]}}

rows = data.range(6_000).map_batches(grows, batch_size=300).sort("id", descending=True)
calls = []
for epoch in range(2):
    assert [batch["id"][0] for batch in rows.iter_batches(batch_size=1_500)] == [5_999, 4_499, 2_999, 1_499]
    calls.append(os.path.getsize({str(tmp_path / "calls")!r}) - sum(calls))
print("calls:", calls)
"""
    )
    code, text = script.run(body)
    first, second = map(int, text.split("calls: [")[1].split("]")[0].split(","))
    assert (code, second) == (0, 20), text
    assert first > second  # Which was not known before.


@pytest.mark.parametrize(
    ("kind", "values", "wanted"),
    [
        (pa.string(), ["a", "bbb", None, ""], [1, 3, 0, 0]),
        (pa.large_binary(), [b"a", None, b"bb", b""], [1, 0, 2, 0]),
        (pa.list_(pa.string()), [["aa"], ["b", "cccc"], None, []], [2, 5, 0, 0]),
        (pa.list_(pa.list_(pa.int32())), [[[1], [2, 3]], [], None, [[4]]], [12, 0, 0, 4]),
        (pa.list_(pa.int16(), 2), [[1, 2]] * 4, [4] * 4),
        (pa.map_(pa.string(), pa.int64()), [[("k", 1)], [], None, [("a", 1), ("bb", 2)]], [9, 0, 0, 19]),
        (pa.struct({"x": pa.int64(), "y": pa.string()}), [{"x": 1, "y": "abc"}] * 4, [11] * 4),
        (pa.float64(), [1.0, None, 2.0, 3.0], [8] * 4),
        (pa.null(), [None] * 4, [0] * 4),
    ],
    ids=lambda value: str(value) if isinstance(value, pa.DataType) else "",
)
def test_bytes_of_rows_are_those_of_their_values(kind, values, wanted):
    column = pa.array(values, kind)
    assert bytes_of_rows([column, column], np.array([3, 0, 1, 2])).tolist() == [2 * wanted[i] for i in (3, 0, 1, 2)]
    assert bytes_of_rows([column.slice(1)], np.arange(3)).tolist() == wanted[1:]


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


def avro_file(folder):
    import fastavro

    schema = {"type": "record", "name": "row", "fields": [{"name": "bytes", "type": "bytes"}]}
    with open(folder / "rows.avro", "wb") as file:
        fastavro.writer(file, schema, ({"bytes": bytes(75_000)} for _ in range(1400)))
    return f"data.read_avro({str(folder / 'rows.avro')!r})"


def sql_table(folder):
    with sqlite3.connect(folder / "rows.db") as base:
        base.execute("create table rows(bytes blob)")
        base.executemany("insert into rows values (?)", [(bytes(75_000),)] * 4000)
    return f"data.read_sql('select * from rows', lambda: __import__('sqlite3').connect({str(folder / 'rows.db')!r}))"


@pytest.mark.parametrize(("make", "rows"), [(avro_file, 1400), (sql_table, 4000)])
def test_large_rows_that_python_reads_stay_within_it(script, tmp_path, make, rows):
    """A file of Avro is in memory whole, and is no larger than memory here."""
    body = f"""
rows = 0
for batch in {make(tmp_path)}.iter_batches(batch_size=32):
    rows += len(batch["bytes"])
print("rows:", rows)
"""
    runs_within_the_budget(script, body, rows=rows)

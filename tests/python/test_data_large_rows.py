"""Large rows stay within the budget and 64 MiB for each client."""

import random
import shutil
import sqlite3

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
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
    [
        *(("parquet", each) for each in FUNCTIONS),
        *(
            pytest.param("binary_files", each, marks=() if each in ("same", "two_processes") else pytest.mark.heavy)
            for each in FUNCTIONS
        ),
    ],
    indirect=["large_rows"],
)
def test_rows_of_100_mb_stay_within_it_on_their_way_through_functions(script, large_rows, function):
    reader, folder = large_rows
    runs_within_the_budget(script, large_rows_body(reader, folder, FUNCTIONS[function]), rows=5)


MAKERS = {
    "two_workers": (6, ".map(lambda row: {'bytes': bytes([row['id']]) * ROW}, concurrency=2)"),
    "any_workers": (6, ".map(lambda row: {'bytes': bytes([row['id']]) * ROW})"),
    "one_block": (1, ".map(lambda row: {'bytes': bytes([row['id']]) * ROW})"),
    "arrays": (6, ".map_batches(lambda batch: {'bytes': np.full((1, ROW), batch['id'], np.uint8)}, concurrency=2)"),
}


@pytest.mark.parametrize("maker", MAKERS)
def test_workers_that_make_rows_of_100_mb_from_small_ones_stay_within_it_together(script, maker):
    blocks, function = MAKERS[maker]
    body = f"""
data.range(1).map(lambda row: row).take_all()  # What workers import is there.
ROW = {ROW}
rows = 0
for batch in data.range(6, override_num_blocks={blocks}){function}.iter_batches(batch_size=1):
    assert len(batch["bytes"][0]) == ROW and batch["bytes"][0][-1] == rows
    rows += 1
    del batch
print("rows:", rows)
"""
    runs_within_the_budget(script, body, rows=6)


@pytest.mark.parametrize(
    ("stage", "row_bytes"),
    [(".repartition(6)", 80_000_000), (".random_shuffle()", 72_000_000), (".zip(data.range(6))", 66_000_000)],
)
def test_large_rows_stay_within_it_on_their_way_through_functions_behind_a_stage(script, tmp_path, stage, row_bytes):
    """A row is kept for a worker that dies, one is with it, one goes on; no other one waits."""
    folder = tmp_path / "rows"
    folder.mkdir()
    for number in range(6):
        (folder / f"{number}.bin").write_bytes(bytes([number]) * row_bytes)
    body = f"""
data.range(1).map(lambda row: row).take_all()  # What workers import is there.
seen = []
rows = data.read_binary_files({str(folder)!r}){stage}.map(lambda row: row)
for batch in rows.iter_batches(batch_size=1):
    assert len(batch["bytes"][0]) == {row_bytes}
    seen.append(batch["bytes"][0][-1])
    del batch
print("rows:", len(set(seen)))
"""
    runs_within_the_budget(script, body, rows=6)


def test_a_client_that_keeps_its_batches_gets_all_of_them_however_full_memory_is(script, large_rows):
    """Nothing is read before a client needs it; a client that waits needs it, whatever it holds."""
    reader, folder = large_rows
    body = f"""
kept = list(data.read_{reader}({str(folder)!r}).iter_batches(batch_size=1, prefetch_batches=3))
print("first bytes:", [batch["bytes"][0][0] for batch in kept])
"""
    code, text = script.run(START + body)
    assert (code, "first bytes: [0, 1, 2, 3, 4]" in text) == (0, True), text


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

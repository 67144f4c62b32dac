"""The data process reads files: order, columns, expressions, errors that name files, memory."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from data_streams import PROGRAM, ask, batches, data_processes, node, open_stream, read_parquet, resident, table_of
from headway import _core, data


@pytest.fixture
def process():
    started = _core.DataProcess(PROGRAM, "")
    yield started
    started.close()


@pytest.fixture
def client(process):
    return _core.DataClient(process.address)


@pytest.fixture
def corpus(tmp_path):
    """Three Parquet files of four row groups: `id` counts, `x` is half of it, `word` its text."""
    for file in range(3):
        ids = np.arange(file * 4000, (file + 1) * 4000)
        table = pa.table({"id": ids, "x": (ids / 2).astype(np.float32), "word": [f"w{i}" for i in ids]})
        pq.write_table(table, tmp_path / f"part-{file}.parquet", row_group_size=1000)
    return tmp_path


def test_parquet_comes_in_file_order_with_exact_batches_across_row_groups(client, corpus):
    found = list(batches(open_stream(client, [read_parquet(corpus)], batch_size=700)))
    assert [batch.rows for batch in found] == [700] * 17 + [100]
    table = pa.concat_tables([table_of(batch) for batch in found])
    assert table.equals(pq.read_table(corpus))
    assert ask(client, "count", [read_parquet(corpus)])[0]["rows"] == 12_000
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
    assert ask(client, "count", plan)[0]["rows"] == 10


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


def test_without_a_batch_size_pieces_come_as_they_are(client, corpus):
    # Small row groups are read together.
    assert sum(batch.rows for batch in batches(open_stream(client, [read_parquet(corpus)]))) == 12_000
    plan = [node("range", rows=10), node("repartition", [0], rows=4)]
    assert [batch.rows for batch in batches(open_stream(client, plan))] == [4, 4, 2]


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


@pytest.mark.usefixtures("the_engine_ends")
@pytest.mark.parametrize("read", [data.read_csv, data.read_text, data.read_json])
def test_a_file_that_becomes_shorter_while_it_is_read_is_an_error(tmp_path, read):
    line = '{"a": 1234567}\n' if read is data.read_json else "1234567\n"
    for name in ("first.jsonl", "second.jsonl"):
        (tmp_path / name).write_text("a\n" * (read is data.read_csv) + line * (40_000_000 // len(line)))
    batches = iter(read([str(tmp_path / "first.jsonl"), str(tmp_path / "second.jsonl")]).iter_batches(batch_size=1000))
    next(batches)
    os.truncate(tmp_path / "second.jsonl", 1_000_000)
    with pytest.raises(ValueError, match=r"second\.jsonl.*: it has become shorter while it was read"):
        for _ in batches:
            pass

"""Rows that are kept in scratch files: how they get there, and come back."""

import gc
import hashlib
import os
import threading

import headway.data
import numpy as np
import pyarrow as pa
import pytest
from headway.data import _materialize, _scratch

pytestmark = pytest.mark.usefixtures("the_engine_ends")


@pytest.fixture
def scratch(tmp_path, monkeypatch):
    monkeypatch.setenv("HEADWAY_MACHINE_TMPDIR", str(tmp_path))


def test_a_file_is_named_by_what_is_in_it_however_it_was_read(scratch, monkeypatch):
    tables = [pa.table({"a": np.arange(begin, begin + 100_000)}) for begin in range(0, 1_000_000, 100_000)]
    whole = _materialize.written(tables)
    monkeypatch.setattr(_scratch, "_READ_FROM", 1)
    assert _materialize.written(tables) == whole
    with open(whole.path, "rb") as file:
        content = file.read()
    assert os.path.basename(whole.path) == hashlib.blake2b(content, digest_size=16).hexdigest() + ".arrow"
    # Its rows are written anew when their type is known, and nothing runs on when rows fail.
    nones = pa.table({"a": pa.nulls(10)})
    assert _materialize.written([nones, *tables]) == _materialize.written([nones.cast(tables[0].schema), *tables])

    def failing():
        yield from tables
        raise LookupError

    with pytest.raises(LookupError):
        _materialize.written(failing())
    assert [each.name for each in threading.enumerate() if each.name == "headway-digest"] == []


def test_kept_rows_become_tables_where_they_lie(scratch):
    kept = headway.data.range(1000).map_batches(lambda batch: {"id": batch["id"], "t": list("ab" * 500)}).materialize()
    before, table = pa.total_allocated_bytes(), kept.to_arrow()
    assert pa.total_allocated_bytes() == before
    through_the_engine = kept.limit(1000).to_arrow()
    assert (table.schema, table.equals(through_the_engine)) == (through_the_engine.schema, True)
    assert kept.union(kept).to_arrow().num_rows == 2000
    assert kept.to_pandas()["id"].sum() == kept.limit(2000).to_pandas()["id"].sum() == 499_500
    file = kept._plan.held[0].path
    del kept
    gc.collect()
    assert (os.path.exists(file), table["t"][999].as_py()) == (False, "b")

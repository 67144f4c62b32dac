"""Batches that a loop keeps beyond their epoch hold their own part of the engine's memory."""

import ctypes
import mmap
import time
from pathlib import Path

import numpy as np
import pytest
from headway import data

pytestmark = pytest.mark.usefixtures("the_engine_ends")

ROW_BYTES = 4096
ROWS = 20_000


def wide_rows():
    return data.from_numpy(np.repeat(np.arange(ROWS)[:, None], ROW_BYTES // 8, axis=1))


def held_bytes():
    """Bytes of the engine's memory that exist because this process maps them."""
    pages = {}
    for line in Path("/proc/self/maps").read_text().splitlines():
        where, _, offset, _, file, *name = line.split()
        if not name or not name[0].startswith("/memfd:headway-"):
            continue
        begin, end = (int(each, 16) for each in where.split("-"))
        found = (ctypes.c_ubyte * ((end - begin) // mmap.PAGESIZE))()
        if ctypes.CDLL(None).mincore(ctypes.c_void_p(begin), ctypes.c_size_t(end - begin), found) != 0:
            continue  # It went in between.
        pages[file, offset] = sum(each & 1 for each in found)  # A ring is mapped twice.
    return sum(pages.values()) * mmap.PAGESIZE


@pytest.mark.parametrize("stops_early", [False, True])
def test_a_batch_that_a_loop_keeps_does_not_hold_all_that_its_stream_had(stops_early):
    kept = []
    for epoch in range(6):
        options = {"prefetch_batches": 12, "local_shuffle_buffer_size": 6_000, "local_shuffle_seed": epoch}
        for number, batch in enumerate(wide_rows().iter_batches(batch_size=512, **options)):
            if number == 20:
                kept.append((batch, batch["data"].copy()))
                if stops_early:
                    break
        del batch
    # Each has 2 MiB. Batches that were not taken, or are let go after their stream's end, may stay.
    most = 6 * 14 * 2**20
    deadline = time.monotonic() + 20
    while held_bytes() > most and time.monotonic() < deadline:
        data.range(1).take_all()  # The engine may be about to end the last stream.
    assert 6 * 512 * ROW_BYTES <= held_bytes() <= most
    for batch, copy in kept:
        assert np.array_equal(batch["data"], copy)

"""A worker keeps the memory that it frees."""

import ctypes
import os
import resource

import headway
import pytest
from headway import train

pytestmark = pytest.mark.both_starts

ROUNDS, BLOCKS, BLOCK_BYTES = 20, 40, 1 << 20
PAGES = ROUNDS * BLOCKS * BLOCK_BYTES // 4096


def faults_of_steps():
    """Page faults of steps that allocate, fill and free the same blocks, as training does with
    activations.
    """
    libc = ctypes.CDLL(None)
    libc.malloc.restype = ctypes.c_void_p
    libc.free.argtypes = [ctypes.c_void_p]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(ROUNDS):
        blocks = [libc.malloc(BLOCK_BYTES) for _ in range(BLOCKS)]
        for block in blocks:
            ctypes.memset(block, 1, BLOCK_BYTES)
        for block in blocks:
            libc.free(block)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


# What glibc does by itself would hide what we do: it learns from the sizes that are freed.
AS_THE_SYSTEM_DOES = {"MALLOC_MMAP_THRESHOLD_": "131072", "MALLOC_TRIM_THRESHOLD_": "131072", "MALLOC_TOP_PAD_": "0"}


def faults(tmp_path):
    config = train.RunConfig(storage_path=tmp_path)
    return train.DataParallelTrainer(faults_of_steps, run_config=config).fit().return_value


def test_freed_memory_is_used_again(tmp_path):
    assert faults(tmp_path) < PAGES / 10


@pytest.mark.skipif(os.environ.get("HEADWAY_WORKER_START") != "exec", reason="glibc reads them when a process starts")
def test_the_environment_wins(tmp_path, monkeypatch):
    for variable, value in AS_THE_SYSTEM_DOES.items():
        monkeypatch.setenv(variable, value)
    # The next factory, and the workers that it starts, have these variables from their start.
    headway.shutdown()
    assert faults(tmp_path) > PAGES / 2
    headway.shutdown()

"""Barriers and broadcasts of all ranks, and what comes of ranks that do not play along."""

import contextlib
import os
import re
from pathlib import Path

import pytest
import texts
from headway import train
from headway.train import DataParallelTrainer, RunConfig, ScalingConfig, WorkerGroupError, collective


def run(loop, tmp_path, config=None, workers=2):
    return DataParallelTrainer(
        loop,
        train_loop_config=config,
        scaling_config=ScalingConfig(num_workers=workers),
        run_config=RunConfig(name="run", storage_path=str(tmp_path)),
    ).fit()


def rank():
    return train.get_context().get_world_rank()


def test_a_barrier_holds_every_rank_until_the_last_has_come(tmp_path):
    def loop():
        marker = Path(train.get_context().get_trial_dir(), "rank_0_was_there")
        if rank() == 0:
            marker.touch()
        collective.barrier()
        assert marker.exists()

    assert run(loop, tmp_path, workers=3).error is None


def test_every_rank_gets_what_rank_zero_gave(tmp_path):
    def loop():
        for turn in range(50):
            mine = {"turn": turn, "from": rank(), "bytes": bytes(10_000)}
            got = collective.broadcast_from_rank_zero(mine)
            assert got == {"turn": turn, "from": 0, "bytes": bytes(10_000)}
            assert (got is mine) == (rank() == 0)
        assert collective.broadcast_from_rank_zero(None) is None
        return os.getpid()

    assert run(loop, tmp_path, workers=3).return_value != os.getpid()


def test_what_is_large_goes_from_rank_to_rank_and_not_through_the_driver(tmp_path):
    size = 64 << 20
    driver = f"/proc/{os.getpid()}"

    def peak_mib():
        return int(re.search(r"VmHWM:\s+(\d+) kB", Path(driver, "status").read_text())[1]) // 1024

    def loop():
        before = peak_mib()
        mine = bytearray(size) if rank() == 0 else None
        if mine:
            mine[-1] = 7
        got = collective.broadcast_from_rank_zero(mine)
        assert (len(got), got[-1], got is mine) == (size, 7, rank() == 0)
        collective.barrier()
        assert not any("headway-broadcast" in line for line in Path("/proc/self/maps").read_text().splitlines())
        names = [f"/proc/self/fd/{name}" for name in os.listdir("/proc/self/fd")]
        assert not any("headway-broadcast" in os.readlink(name) for name in names if os.path.lexists(name))
        train.report({"grown_mib": peak_mib() - before})

    with contextlib.suppress(OSError):
        # The peak counts from here, where the kernel has that.
        Path(driver, "clear_refs").write_text("5")
    assert run(loop, tmp_path, workers=3).metrics["grown_mib"] < 32


def test_a_rank_that_has_returned_is_named_by_those_that_wait(tmp_path):
    def loop():
        if rank() == 0:
            collective.barrier()

    with pytest.raises(WorkerGroupError) as failure:
        run(loop, tmp_path)
    assert str(failure.value).startswith(texts.finished_early(1, 0, "barrier()"))
    assert failure.value.worker_failures[1].call == "collective"


def test_ranks_that_call_different_things_are_named(tmp_path):
    def loop():
        if rank() == 0:
            collective.barrier()
        else:
            collective.broadcast_from_rank_zero(1)

    with pytest.raises(WorkerGroupError) as failure:
        run(loop, tmp_path)
    assert [each.call for each in failure.value.worker_failures.values()] == ["collective"]
    message = str(failure.value)
    assert "called barrier()" in message
    assert "called broadcast() from rank 0" in message


def test_outside_of_a_training_function_it_says_so():
    with pytest.raises(RuntimeError, match="barrier\\(\\) was called outside of a training function"):
        collective.barrier()
    with pytest.raises(RuntimeError, match="outside of a training function"):
        collective.broadcast_from_rank_zero(1)

"""Barriers and broadcasts of all ranks, and what comes of ranks that do not play along."""

import os
from pathlib import Path

import pytest
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


def test_a_rank_that_has_returned_is_named_by_those_that_wait(tmp_path):
    def loop():
        if rank() == 0:
            collective.barrier()

    with pytest.raises(WorkerGroupError) as failure:
        run(loop, tmp_path)
    assert str(failure.value).startswith(
        "rank 1 finished the training function while rank 0 waits in barrier(), which rank 1 never called"
    )


def test_ranks_that_call_different_things_are_named(tmp_path):
    def loop():
        if rank() == 0:
            collective.barrier()
        else:
            collective.broadcast_from_rank_zero(1)

    with pytest.raises(WorkerGroupError) as failure:
        run(loop, tmp_path)
    message = str(failure.value)
    assert "called barrier()" in message
    assert "called broadcast() from rank 0" in message


def test_outside_of_a_training_function_it_says_so():
    with pytest.raises(RuntimeError, match="barrier\\(\\) was called outside of a training function"):
        collective.barrier()
    with pytest.raises(RuntimeError, match="outside of a training function"):
        collective.broadcast_from_rank_zero(1)

"""Ranks that are held up inside a collective of torch: whoever has not entered is named, with
nobody in a report.

A hang ends here when the test has heard of it: ``hears`` does something the moment a warning is
printed.
"""

import os
import re
import signal
import time

import pytest
from headway import train
from headway.train.torch import TorchTrainer
from hearing import awaited_pid

TORCH_SOON = train.FailureConfig(hang_warn_s=1)


def in_collective(hold):
    """A training function of torch in which rank 1 does ``hold`` while rank 0 is in an
    all-reduce.
    """

    def loop():
        import torch
        import torch.distributed as dist

        tensor = torch.ones(4)
        dist.all_reduce(tensor)
        if train.get_context().get_world_rank() == 1:
            hold()
        dist.all_reduce(tensor)
        train.report({"sum": tensor.sum().item()})

    return loop


def test_a_rank_that_does_not_enter_a_collective_is_named(fit, hears, release):
    path, let_go = release
    ear = hears("has not entered", let_go)

    def endless_loop():
        while not os.path.exists(path):
            pass

    result = fit(in_collective(endless_loop), trainer=TorchTrainer, failure=TORCH_SOON)
    assert result.metrics["sum"] == 16
    assert re.search(
        r"rank 1 has not entered gloo:all_reduce \[4\] Float #\d+ of process group world, in which rank 0 has been for "
        r"\d+\.\d s",
        ear.heard,
    )
    assert re.search(r"endless_loop \(.*test_hanging_collectives.py:\d+\)", ear.heard)
    assert re.search(r"rank 0: in gloo:all_reduce \[4\] Float #\d+ of process group world for \d+\.\d s", ear.heard)
    assert "the ranks have left their collective, after" in ear.heard


def test_a_stopped_rank_that_others_await_in_a_collective_of_ddp_is_named(fit, hears):
    ear = hears("has not entered", lambda text: os.kill(awaited_pid(text), signal.SIGCONT))

    def loop():
        import torch

        model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 4))
        if train.get_context().get_world_rank() == 1:
            os.kill(os.getpid(), signal.SIGSTOP)
        model(torch.ones(2, 4)).sum().backward()
        train.report({"x": 1})

    fit(loop, trainer=TorchTrainer, failure=TORCH_SOON)
    assert re.search(r"rank 1 has not entered gloo:all_reduce \[20\] Float #\d+", ear.heard), "the reducer's own call"
    assert "stopped (SIGSTOP)" in ear.heard
    assert "rank 1: does not answer" in ear.heard


@pytest.fixture
def ends_rank_0(tmp_path):
    """Where rank 0 leaves its process's number, and what kills it: nothing else gets a rank out of
    a collective.
    """
    note = tmp_path / "rank_0"

    def end(text):
        os.kill(int(note.read_text()), signal.SIGKILL)

    return note, end


def test_a_rank_that_has_finished_while_another_is_in_a_collective_is_named_and_ends_the_attempt(fail, hears):
    ear = hears("has finished", lambda text: None)

    def loop():
        import torch
        import torch.distributed as dist

        dist.all_reduce(torch.ones(4))
        if train.get_context().get_world_rank() == 0:
            dist.all_reduce(torch.ones(4))

    error = fail(loop, trainer=TorchTrainer, failure=TORCH_SOON)
    assert re.match(
        r"rank 1 finished the training function while rank 0 waits in gloo:all_reduce \[4\] Float #\d+ of process "
        r"group world, which rank 1 has not entered: that can never end",
        str(error),
    )
    assert re.search(
        r"rank 1 has finished the training function, and rank 0 has been in gloo:all_reduce \[4\] Float #\d+ of "
        r"process group world for \d+\.\d s",
        ear.heard,
    )


def test_ranks_in_different_collectives_are_named_with_both_calls(fail, hears, ends_rank_0):
    note, end = ends_rank_0
    ear = hears("different collectives", end)

    def loop():
        import torch
        import torch.distributed as dist

        dist.all_reduce(torch.ones(4))
        if train.get_context().get_world_rank() == 0:
            note.write_text(str(os.getpid()))
            dist.all_reduce(torch.ones(5))
        else:
            dist.broadcast(torch.ones(4), 0)

    fail(loop, trainer=TorchTrainer, failure=TORCH_SOON)
    assert re.search(
        r"different collectives of process group world \(rank 0 in gloo:all_reduce \[5\] Float #\d+, "
        r"rank 1 in gloo:broadcast \[4\] Float #\d+\) for \d+\.\d s",
        ear.heard,
    )
    assert "c10d::Work::wait (libtorch_cpu.so)" in ear.heard, "a native frame"


def test_ranks_that_compute_for_long_between_collectives_are_no_hang(fit, hears):
    ear = hears("warning")

    def loop():
        import torch
        import torch.distributed as dist

        dist.all_reduce(torch.ones(4))
        until = time.monotonic() + 3
        while time.monotonic() < until:
            pass
        dist.all_reduce(torch.ones(4))
        train.report({"x": 1})

    fit(loop, trainer=TorchTrainer, failure=train.FailureConfig(hang_warn_s=1.2))
    assert "in which" not in ear.heard
    assert "collective" not in ear.heard


# By exec each rank imports torch in a hook, which counts for the limit as well.
@pytest.mark.fork_only
def test_a_hang_in_a_collective_that_ends_the_run_has_an_error_of_its_own(fit, storage):
    """The rank to blame is stopped: nothing but its end gets it anywhere."""

    def stop():
        os.kill(os.getpid(), signal.SIGSTOP)

    limit = train.FailureConfig(hang_warn_s=None, hang_fail_s=20)
    with pytest.raises(train.NCCLHangError) as caught:
        fit(in_collective(stop), trainer=TorchTrainer, failure=limit, name="hung")
    assert str(caught.value).startswith("rank 1 has not entered gloo:all_reduce")
    assert set(caught.value.worker_failures) == {1}
    assert type(caught.value.worker_failures[1]) is train.WorkerHung
    stored = train.Result.from_path(os.path.join(storage, "hung")).error
    assert type(stored) is train.NCCLHangError

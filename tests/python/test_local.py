"""Local mode: the training function in this very process, and as the ranks of torchrun."""

import os
import re
import signal
import subprocess
import sys
import textwrap
import threading

import headway
import processes
import pytest
from conftest import PACKAGES
from headway import train
from headway.train.torch import TorchTrainer

LOCAL = train.ScalingConfig(num_workers=0)


def fit_here(storage, loop, config=None, trainer=train.DataParallelTrainer, resume=None, **run):
    return trainer(
        loop,
        train_loop_config=config,
        scaling_config=LOCAL,
        run_config=train.RunConfig(storage_path=storage, name="run", **run),
        resume_from_checkpoint=resume,
    ).fit()


def test_the_loop_runs_in_this_process_on_this_thread_and_may_return_anything(storage):
    seen = []

    def loop(config):
        seen.append((os.getpid(), threading.get_ident(), os.getcwd(), config["x"]))
        context = train.get_context()
        train.report({"world": context.get_world_size(), "rank": context.get_world_rank(), "x": config["x"]})
        return lambda: "never pickled"

    result = fit_here(storage, loop, {"x": 3})
    assert seen == [(os.getpid(), threading.get_ident(), os.getcwd(), 3)]
    assert (result.metrics["world"], result.metrics["rank"], result.metrics["x"]) == (1, 0, 3)
    assert result.return_value() == "never pickled"


def test_no_process_is_started(storage):
    headway.shutdown()
    found = []
    fit_here(storage, lambda: found.extend(processes.descendants()))
    assert found == []


def test_checkpoints_are_committed_and_gone_on_from(storage, tmp_path):
    def loop():
        start = train.get_checkpoint()
        first = start.to_dict()["step"] + 1 if start else 0
        for step in range(first, first + 2):
            train.report({"step": step}, checkpoint=train.Checkpoint.from_dict({"step": step}))
            assert train.get_checkpoint().to_dict() == {"step": step}

    result = fit_here(storage, loop)
    assert [metrics["step"] for _, metrics in result.best_checkpoints] == [0, 1]
    stored = train.Result.from_path(result.path)
    assert stored.checkpoint.to_dict() == {"step": 1}
    assert list(stored.metrics_dataframe["step"]) == [0, 1]
    again = fit_here(str(tmp_path / "again"), loop, resume=stored.checkpoint)
    assert again.metrics["step"] == 3


def test_an_exception_goes_through_as_it_is_and_is_stored(storage):
    error = ValueError("bad batch")

    def loop():
        train.report({"step": 0})
        raise error

    with pytest.raises(ValueError, match="bad batch") as caught:
        fit_here(storage, loop)
    assert caught.value is error
    assert "bad batch" in str(train.Result.from_path(os.path.join(storage, "run")).error)
    with pytest.raises(RuntimeError, match="outside of a training function"):
        train.get_context()
    assert fit_here(storage + "_2", lambda: "and again").return_value == "and again"


def test_a_failure_is_not_tried_again(storage):
    calls = []

    def loop():
        calls.append(1)
        raise ValueError("once")

    with pytest.raises(ValueError, match="once"):
        fit_here(storage, loop, failure_config=train.FailureConfig(max_failures=3))
    assert calls == [1]


def test_stop_leaves_the_loop_through_its_finally_blocks(storage):
    left = []

    def loop():
        try:
            for step in range(100):
                train.report({"step": step})
        finally:
            left.append(step)

    result = fit_here(storage, loop, stop={"step": 4})
    assert (result.metrics["step"], result.return_value, left) == (4, None, [4])


def test_callbacks_hear_it_too_and_their_errors_end_it(storage):
    class Broken(train.UserCallback):
        def after_report(self, run_context, metrics, checkpoint):
            if metrics[0]["step"] == 2:
                raise KeyError("no such metric")

    def loop():
        for step in range(100):
            train.report({"step": step})

    with pytest.raises(train.ControllerError, match=r"Broken\.after_report raised KeyError"):
        fit_here(storage, loop, callbacks=[Broken()])


def test_callbacks_hear_what_the_function_raised_and_a_debugger_has_its_frames(storage):
    heard = []

    class Ear(train.UserCallback):
        def after_exception(self, run_context, worker_exceptions):
            heard.append(worker_exceptions)

    def loop():
        raise ValueError("bad batch")

    with pytest.raises(ValueError, match="bad batch") as caught:
        fit_here(storage, loop, callbacks=[Ear()])
    assert [(rank, type(error), str(error)) for rank, error in heard[0].items()] == [(0, ValueError, "bad batch")]
    assert caught.traceback[-1].name == "loop"


def test_a_process_is_one_rank_at_a_time(storage):
    begun, over, refused = threading.Event(), threading.Event(), []

    def loop():
        begun.set()
        over.wait()

    def second():
        begun.wait()
        try:
            fit_here(storage + "_2", lambda: None)
        except RuntimeError as error:
            refused.append(str(error))
        over.set()

    thread = threading.Thread(target=second)
    thread.start()
    fit_here(storage, loop)
    thread.join()
    assert "while another thread of this process is in a run with ScalingConfig(num_workers=0)" in refused[0]


def test_ctrl_c_reaches_the_loop_at_once(script):
    script.start(
        """
        import signal
        from headway import train

        def loop():
            train.report({"step": 1})
            try:
                print("waiting", flush=True)
                while True:  # A signal between the line above and pause() would be missed.
                    signal.sigtimedwait([], 0.1)
            finally:
                print("left", flush=True)

        scaling = train.ScalingConfig(num_workers=0)
        train.DataParallelTrainer(loop, scaling_config=scaling).fit()
        """
    )
    script.wait_for("waiting")
    os.kill(script.process.pid, signal.SIGINT)
    status, output = script.finish()
    assert status == 130
    assert "left" in output
    assert "headway: stopped by Ctrl-C; what was reported so far is in" in output


def test_a_debugger_has_the_terminal(storage, tmp_path):
    code = """
    from headway import train

    def loop():
        answer = 42
        breakpoint()
        train.report({"answer": answer})

    result = train.DataParallelTrainer(loop, scaling_config=train.ScalingConfig(num_workers=0)).fit()
    print("reported", result.metrics["answer"])
    """
    (tmp_path / "debugged.py").write_text(textwrap.dedent(code))
    done = subprocess.run(
        [sys.executable, tmp_path / "debugged.py"],
        input="print('seen', answer)\nanswer = 43\ncontinue\n",
        env={**os.environ, "PYTHONPATH": PACKAGES, "HEADWAY_STORAGE": storage},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "seen 42" in done.stdout
    assert "reported 43" in done.stdout


def test_a_torch_loop_has_its_process_group_of_one(storage):
    import torch.distributed as dist

    before = dict(os.environ)

    def loop():
        import torch
        from headway.train.torch import get_device, prepare_data_loader, prepare_model

        model = prepare_model(torch.nn.Linear(4, 1))
        loader = prepare_data_loader(torch.utils.data.DataLoader(torch.randn(8, 4), batch_size=4))
        total = sum(model(batch).sum() for batch in loader)
        total.backward()
        ones = torch.ones(1)
        dist.all_reduce(ones)
        train.report({"device": str(get_device()), "ranks": ones.item(), "group": dist.get_world_size()})

    metrics = fit_here(storage, loop, trainer=TorchTrainer).metrics
    assert (metrics["device"], metrics["ranks"], metrics["group"]) == ("cpu", 1.0, 1)
    assert not dist.is_initialized()
    assert dict(os.environ) == before


TORCHRUN = """
import json, os, sys
import torch
import torch.distributed as dist
from headway import train
from headway.train.torch import TorchTrainer, prepare_model

def loop(config):
    context = train.get_context()
    rank = context.get_world_rank()
    assert (rank, context.get_local_rank()) == (int(os.environ["RANK"]), int(os.environ["LOCAL_RANK"]))
    model = prepare_model(torch.nn.Linear(4, 1))
    model(torch.randn(8, 4)).sum().backward()
    if rank == config.get("raises"):
        raise ValueError("bad batch")
    saved = train.Checkpoint.from_dict({"step": 0}) if rank == 1 else None
    train.report({"world": context.get_world_size(), "rank": rank}, checkpoint=saved)
    return rank

config = json.loads(sys.argv[1])
try:
    result = TorchTrainer(
        loop,
        train_loop_config=config,
        scaling_config=train.ScalingConfig(num_workers=0),
        run_config=train.RunConfig(name="run"),
    ).fit()
except ValueError as error:
    print(f"rank {os.environ['RANK']} raised {error}", flush=True)
    raise
except (OSError, RuntimeError) as error:
    sys.stdout.write(f"rank {os.environ['RANK']} could not start: {error}\\n")
    sys.stdout.flush()
    sys.exit(1)
assert not dist.is_initialized()
values = (result.metrics["world"], result.metrics["rank"], result.return_value, result.checkpoint.to_dict())
# In one piece: the other rank prints too.
sys.stdout.write(f"rank {os.environ['RANK']}: " + " ".join(map(str, values)) + "\\n")
sys.stdout.flush()
"""


def torchrun(storage, tmp_path, config="{}", ranks=2):
    (tmp_path / "script.py").write_text(TORCHRUN)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}"]
    return subprocess.run(
        [*command, tmp_path / "script.py", config],
        env={**os.environ, "PYTHONPATH": PACKAGES, "HEADWAY_STORAGE": storage, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def test_under_torchrun_its_processes_are_the_ranks_of_one_run(storage, tmp_path):
    done = torchrun(storage, tmp_path)
    assert done.returncode == 0, done.stderr
    for rank in (0, 1):
        assert f"rank {rank}: 2 0 {rank} {{'step': 0}}" in done.stdout
    stored = train.Result.from_path(os.path.join(storage, "run"))
    assert stored.checkpoint.to_dict() == {"step": 0}
    assert len(stored.metrics_dataframe) == 1


def test_under_torchrun_a_rank_that_raises_ends_the_run(storage, tmp_path):
    done = torchrun(storage, tmp_path, '{"raises": 1}')
    assert done.returncode != 0
    assert "rank 1 raised bad batch" in done.stdout
    assert "bad batch" in str(train.Result.from_path(os.path.join(storage, "run")).error)


def test_under_torchrun_other_ranks_say_why_there_is_no_run_as_well(tmp_path):
    """torchrun ends all at the first one that leaves: what only rank 0 knew might never be said."""
    (tmp_path / "file").touch()
    done = torchrun(str(tmp_path / "file"), tmp_path)
    assert done.returncode != 0
    told = re.findall(r"rank \d could not start: (.*)", done.stdout)
    assert told, done.stderr
    assert all(f"{tmp_path}/file" in text for text in told)

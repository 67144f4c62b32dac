"""Horovod in a training function: the same numbers as by itself, recovery, and what is said where
it is not installed. ``make horovod`` builds it.
"""

import functools
import importlib.util
import json
import os
import signal
import subprocess
import sys

import golden
import headway
import pytest
from conftest import PACKAGES
from headway import train
from headway.train.horovod import HorovodConfig, HorovodTrainer

import cluster

needs_horovod = pytest.mark.skipif(importlib.util.find_spec("horovod") is None, reason="`make horovod` builds it")


@pytest.fixture(scope="module")
def program():
    headway.shutdown()
    import horovod_program

    yield horovod_program
    headway.shutdown()


@pytest.fixture
def fit_horovod(fit):
    return functools.partial(fit, trainer=HorovodTrainer)


def by_step(result):
    """The last reported loss of each step."""
    return result.metrics_dataframe.groupby("step")["loss"].last().tolist()


@pytest.mark.heavy
@needs_horovod
def test_the_losses_are_those_of_horovod_alone(program, fit_horovod, tmp_path):
    path = tmp_path / "losses.json"
    environment = {**os.environ, "PYTHONPATH": PACKAGES}
    command = [sys.executable, program.__file__, path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=110, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    alone = json.loads(path.read_text())

    result = fit_horovod(program.loop, config={})
    assert by_step(result) == alone
    assert alone == golden.losses("horovod"), "as they were when this was written"
    assert result.return_value == (2, 1, program.STEPS)


@pytest.mark.heavy
@needs_horovod
@pytest.mark.parametrize("rank", [0, 1])
def test_a_rank_that_is_killed_costs_the_steps_since_the_newest_checkpoint(program, fit_horovod, rank):
    """Rank 0 serves the table in which the ranks find each other."""
    result = fit_horovod(program.loop, config={"kill": 6, "rank": rank}, max_failures=1)
    assert by_step(result) == golden.losses("horovod")
    assert result.return_value == (2, 1, program.STEPS - 4)


@pytest.mark.heavy
@needs_horovod
@pytest.mark.parametrize("rank", [0, 1])
def test_the_error_is_that_of_the_rank_that_was_killed(fit_horovod, rank):
    """Not Horovod's exception in the other rank."""

    def loop():
        import horovod.torch as hvd
        import torch

        hvd.init()
        for number in range(1_000_000):
            if number == 30 and hvd.rank() == rank:
                os.kill(os.getpid(), signal.SIGKILL)
            hvd.allreduce(torch.ones(1), name="x")

    with pytest.raises(train.WorkerGroupError) as caught:
        fit_horovod(loop)
    assert list(caught.value.worker_failures) == [rank]
    assert caught.value.worker_failures[rank].signal == signal.SIGKILL


@pytest.mark.heavy
@needs_horovod
def test_an_exception_in_one_rank_ends_all(fit_horovod):
    def loop():
        import horovod.torch as hvd
        import torch

        hvd.init()
        for number in range(1_000_000):
            if number == 30 and hvd.rank() == 1:
                raise ValueError("no rows")
            hvd.allreduce(torch.ones(1), name="x")

    with pytest.raises(train.WorkerGroupError, match="no rows") as caught:
        fit_horovod(loop)
    assert list(caught.value.worker_failures) == [1]


@pytest.mark.heavy
@needs_horovod
@pytest.mark.parametrize("workers", [1, 3])
def test_a_checkpoint_is_resumed_with_another_number_of_ranks(program, fit_horovod, workers):
    first = fit_horovod(program.loop, config={"steps": 4})
    result = fit_horovod(program.loop, workers, config={}, resume_from_checkpoint=first.checkpoint)
    assert result.return_value == (workers, 1, program.STEPS - 4)
    # The mean over all rows, whatever their order.
    assert by_step(result) == pytest.approx(golden.kept("horovod")[4:], rel=1e-3)


@pytest.mark.heavy
@needs_horovod
def test_a_training_function_in_this_process_leaves_nothing_in_its_environment(program, fit_horovod):
    result = fit_horovod(program.loop, 0, config={"steps": 4})
    assert result.return_value == (1, 1, 4)
    assert [name for name in os.environ if name.startswith("HOROVOD_")] == []


@pytest.mark.heavy
@needs_horovod
def test_an_interface_that_no_machine_has_is_an_error(fit_horovod):
    with pytest.raises(
        train.ControllerError, match=r"HorovodConfig.nics is \['eth77'\]; allowed: an interface of this machine"
    ):
        fit_horovod(lambda: None, horovod_config=HorovodConfig(nics={"eth77"}))


NODES = """
    import sys
    sys.path.insert(0, TESTS)
    import horovod_program
    from headway.train.horovod import HorovodTrainer

    wait_for_nodes(2)
    result = HorovodTrainer(
        horovod_program.loop,
        train_loop_config={"kill": 6, "rank": 1},
        scaling_config=train.ScalingConfig(num_workers=2, resources_per_worker={"CPU": 1}),
        run_config=train.RunConfig(storage_path=STORAGE, failure_config=train.FailureConfig(1)),
    ).fit()
    print("RESULT", result.return_value)
"""


@pytest.mark.heavy
@needs_horovod
@cluster.needs_tls
def test_ranks_on_two_nodes_train_together_and_resume(nodes, tmp_path):
    storage, folder = repr(str(tmp_path / "storage")), repr(os.path.dirname(__file__))
    nodes.start(NODES.replace("STORAGE", storage).replace("TESTS", folder))
    assert nodes.agent().join() == "node-1"
    status, output = nodes.script.finish(110)
    assert status == 0, output
    assert "RESULT (2, 2, 8)" in output


def test_where_horovod_is_not_installed_the_error_says_why_and_how_to_get_it(monkeypatch):
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name == "horovod" else find_spec(name))
    with pytest.raises(
        ImportError, match=r"it names C\+\+14: `make horovod` in Headway's source tree builds it"
    ) as caught:
        HorovodTrainer(lambda: None)
    assert "`horovod.tensorflow` is not built; use TensorflowTrainer there" in str(caught.value)

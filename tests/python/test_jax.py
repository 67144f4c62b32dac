"""JAX in a training function: the same numbers as by itself, collectives, recovery."""

import functools
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
from headway.train.jax import JaxConfig, JaxTrainer

pytestmark = pytest.mark.heavy


@pytest.fixture(scope="module", autouse=True)
def program():
    """jax_program.py; imported here, since only `make test-all` installs JAX."""
    headway.shutdown()
    import jax_program

    yield jax_program
    headway.shutdown()


@pytest.fixture
def fit_jax(fit):
    return functools.partial(fit, trainer=JaxTrainer)


def by_step(result):
    """The last reported loss of each step."""
    return result.metrics_dataframe.groupby("step")["loss"].last().tolist()


def test_the_losses_are_those_of_jax_alone(program, fit_jax, tmp_path):
    path = tmp_path / "losses.json"
    environment = {**os.environ, "PYTHONPATH": PACKAGES}
    command = [sys.executable, program.__file__, path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=110, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    alone = json.loads(path.read_text())

    result = fit_jax(program.loop, config={})
    assert by_step(result) == alone
    assert alone == golden.losses("jax"), "as they were when this was written"
    assert result.return_value == (2, 2, program.STEPS)


@pytest.mark.parametrize("rank", [0, 1])
def test_a_rank_that_is_killed_costs_the_steps_since_the_newest_checkpoint(program, fit_jax, rank):
    """Rank 0 is the coordinator as well: JAX aborts the other when it dies."""
    result = fit_jax(program.loop, config={"kill": 6, "rank": rank}, max_failures=1)
    assert by_step(result) == golden.losses("jax")
    assert result.return_value == (2, 2, program.STEPS - 4)


@pytest.mark.parametrize("rank", [0, 1])
def test_the_error_is_that_of_the_rank_that_was_killed(program, fit_jax, rank):
    """Not JAX's exception in the other rank, nor its abort."""

    def loop():
        weights, step, rows = program.start()
        for number in range(1_000_000):
            if number == 30 and train.get_context().get_world_rank() == rank:
                os.kill(os.getpid(), signal.SIGKILL)
            weights, loss = step(weights, *rows)
            loss.block_until_ready()

    with pytest.raises(train.WorkerGroupError) as caught:
        fit_jax(loop)
    assert list(caught.value.worker_failures) == [rank]
    assert caught.value.worker_failures[rank].signal == signal.SIGKILL


def test_an_exception_in_one_rank_ends_all(program, fit_jax):
    def loop():
        weights, step, rows = program.start()
        for number in range(1_000_000):
            if number == 30 and train.get_context().get_world_rank() == 1:
                raise ValueError("no rows")
            weights, loss = step(weights, *rows)
            loss.block_until_ready()

    with pytest.raises(train.WorkerGroupError, match="no rows") as caught:
        fit_jax(loop)
    assert list(caught.value.worker_failures) == [1]


def test_a_rank_that_leaves_early_does_not_wait_for_the_others(program, fit_jax):
    """JAX would have it wait five minutes at its exit, and then abort."""

    def loop():
        program.start()
        if train.get_context().get_world_rank() == 1:
            sys.exit(3)
        signal.pause()

    with pytest.raises(train.WorkerGroupError) as caught:
        fit_jax(loop)
    assert caught.value.worker_failures[1].exit_code == 3


@pytest.mark.parametrize("workers", [1, 3])
def test_a_checkpoint_is_resumed_with_another_number_of_ranks(program, fit_jax, workers):
    first = fit_jax(program.loop, config={"steps": 4})
    result = fit_jax(program.loop, workers, config={}, resume_from_checkpoint=first.checkpoint)
    assert result.return_value == (workers, workers, program.STEPS - 4)
    # The mean over all rows, whatever their order.
    assert by_step(result) == pytest.approx(golden.kept("jax")[4:], rel=1e-4)


def test_collectives_and_the_ranks_own_devices(program, fit_jax):
    def loop():
        import jax
        from jax.experimental import multihost_utils

        rank = train.get_context().get_world_rank()
        assert (jax.process_index(), jax.process_count(), jax.local_device_count()) == (rank, 2, 1)
        assert jax.default_backend() == "cpu"
        everyone = multihost_utils.process_allgather(program.numpy.array([rank]))
        total = jax.pmap(lambda x: jax.lax.psum(x, "ranks"), axis_name="ranks")(program.numpy.array([float(rank + 1)]))
        return everyone.ravel().tolist(), total.tolist()

    assert fit_jax(loop, jax_config=JaxConfig()).return_value == ([0, 1], [3.0])


@pytest.mark.fork_only
def test_the_factory_imports_jax_and_uses_it_nowhere(fit_jax):
    def loop():
        there = "jax" in sys.modules
        import jax

        return there, jax.device_count()

    assert fit_jax(loop).return_value == (True, 2)


def test_gpus_for_ranks_that_have_none_are_refused():
    with pytest.raises(ValueError, match=r"JaxConfig\.use_gpu is True while the workers have no GPU; allowed: False"):
        JaxTrainer(print, jax_config=JaxConfig(use_gpu=True))


def test_a_script_for_ray(script):
    code, output = script.run(
        """
        import headway
        headway.as_ray()
        from ray import train
        from ray.train import ScalingConfig
        from ray.train.v2.jax import JaxTrainer

        def loop(config):
            import jax
            train.report({"devices": jax.device_count() * config["factor"]})

        for workers in (2, 0):  # 0 is this process.
            scaling = ScalingConfig(num_workers=workers)
            trainer = JaxTrainer(loop, train_loop_config={"factor": 10}, scaling_config=scaling)
            print("GOT", trainer.fit().metrics["devices"])
        """,
        limit_s=110,
    )
    assert code == 0, output
    assert "GOT 20" in output
    assert "GOT 10" in output

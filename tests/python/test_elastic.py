"""Groups whose size follows the nodes that there are, and budgets of failures by kind. See
cluster.py.
"""

import json
import os
import re
import signal

import headway
import pytest
from headway import train
from headway.train import Backend, BackendConfig, DataParallelTrainer, FailureConfig, RunConfig, ScalingConfig

import cluster


def lines_of(tmp_path):
    return [json.loads(line) for line in (tmp_path / "storage" / "run" / "result.json").read_text().splitlines()]


# Saves each step, until a file is there.
SAVING = """
    from headway.train import collective

    def loop():
        context = train.get_context()
        ranks, rank = context.get_world_size(), context.get_world_rank()
        step = first = first_step()
        while not collective.broadcast_from_rank_zero(os.path.exists(END)):
            train.report({"step": step, "ranks": ranks}, checkpoint=save_step(step) if rank == 0 else None)
            if step == first and rank == 0:
                print("SIZE", ranks, flush=True)
            step += 1
        return step

    result = run(loop, (1, 3), max_failures=1)
    print("RESULT", result.return_value == result.metrics["step"] + 1, flush=True)
"""


@cluster.needs_tls
def test_a_group_grows_when_a_node_joins_and_shrinks_when_it_is_lost(nodes, tmp_path):
    end = tmp_path / "end"
    nodes.start_steps(tmp_path, SAVING.replace("END", repr(str(end))))
    said = nodes.script.wait_for("SIZE 1")
    agent = nodes.agent()
    agent.join()
    said += nodes.script.wait_for("SIZE 2")
    agent.signal(signal.SIGKILL)
    said += nodes.script.wait_for("SIZE 1")
    end.touch()
    status, output = nodes.script.finish()
    assert status == 0, said + output
    said += output
    assert "RESULT True" in said
    assert "The worker group has 1 worker now (num_workers is 1 to 3)" in said
    assert re.search(r"Resizing the worker group of 1 worker from checkpoint_\d+: there is capacity for more", said)
    assert "The worker group has 2 workers now, 1 before" in said
    assert "Restarting the worker group (failure 1 of 1 allowed) from checkpoint_" in said
    assert "The worker group has 1 worker now, 2 before" in said
    lines = lines_of(tmp_path)
    sizes = {line["attempt"]: set() for line in lines}
    for line in lines:
        sizes[line["attempt"]].add(line["ranks"])
    assert sizes == {1: {1}, 2: {2}, 3: {1}}
    # Every step is there, and none twice: it grew at a checkpoint, and each step had one.
    assert [line["step"] for line in lines] == list(range(len(lines)))
    assert cluster.journal_of(tmp_path)["failures"] == 1
    assert nodes.left() == {}


@cluster.needs_tls
def test_a_group_below_its_minimum_waits_for_a_node(nodes, tmp_path):
    nodes.start_steps(
        tmp_path,
        """
    result = run(lambda: train.report({"ranks": train.get_context().get_world_size()}), (2, 4))
    print("RESULT", result.metrics["ranks"], flush=True)
    """,
    )
    nodes.script.wait_for("2 to 4 workers with {CPU: 1} each wait for nodes to join")
    nodes.agent().join()
    status, output = nodes.script.finish()
    assert status == 0, output
    assert "RESULT 2" in output


def test_one_machine_gives_as_many_workers_as_it_has_capacity_for(fit):
    headway.shutdown()
    headway.init(num_cpus=3)
    try:
        for workers, expected in (((1, 8), 3), ((1, 2), 2), ((3, 3), 3)):
            result = fit(lambda: train.report({"ranks": train.get_context().get_world_size()}), workers)
            assert result.metrics["ranks"] == expected
        # A minimum that shares CPUs is allowed, as for groups of one size.
        result = fit(lambda: train.report({"ranks": train.get_context().get_world_size()}), (5, 8))
        assert result.metrics["ranks"] == 5
        named = ScalingConfig(num_workers=(1, 8), resources_per_worker={"CPU": 2})
        assert fit(lambda: train.get_context().get_world_size(), scaling_config=named).return_value == 1
        never = ScalingConfig(num_workers=(2, 8), resources_per_worker={"CPU": 2})
        with pytest.raises(ValueError, match=r"2 to 8 workers .* can never be placed"):
            fit(lambda: None, scaling_config=never)
    finally:
        headway.shutdown()


def test_a_group_keeps_its_size_over_a_failure_of_the_loop(fit, tmp_path):
    def loop():
        train.report({"ranks": train.get_context().get_world_size()})
        if not (tmp_path / "once").exists():
            (tmp_path / "once").touch()
            raise RuntimeError("once")

    headway.shutdown()
    headway.init(num_cpus=2)
    try:
        result = fit(loop, (1, 2), max_failures=3)
        assert set(result.metrics_dataframe["ranks"]) == {2}
    finally:
        headway.shutdown()


def test_the_names_of_a_range():
    scaling = ScalingConfig(num_workers=(2, 5))
    assert (scaling.elasticity_enabled, scaling.min_workers, scaling.max_workers) == (True, 2, 5)
    scaling = ScalingConfig(num_workers=2)
    assert (scaling.elasticity_enabled, scaling.min_workers, scaling.max_workers) == (False, 2, 2)


def test_a_trainer_with_a_range_is_restored_with_it(fit, tmp_path):
    path = fit(lambda: None, (1, 2)).path
    assert DataParallelTrainer.restore(path).scaling_config.num_workers == (1, 2)


class DiesAtItsSecondStart(Backend):
    """From the second group on, a rank ends while the group is set up."""

    starts = 0

    def on_start(self, worker_group, backend_config):
        DiesAtItsSecondStart.starts += 1
        if DiesAtItsSecondStart.starts > 1:
            worker_group.execute_single(0, lambda: os.kill(os.getpid(), signal.SIGKILL))


class DyingConfig(BackendConfig):
    @property
    def backend_cls(self):
        return DiesAtItsSecondStart


def test_a_group_that_can_not_start_again_has_a_budget_of_its_own(fit, storage):
    DiesAtItsSecondStart.starts = 0

    def loop():
        raise ValueError("the first attempt's")

    failure = FailureConfig(max_failures=1, controller_failure_limit=1)
    with pytest.raises(train.WorkerGroupError) as caught:
        fit(loop, name="run", failure=failure, backend_config=DyingConfig())
    assert {each.signal for each in caught.value.worker_failures.values()} == {signal.SIGKILL}
    with open(os.path.join(storage, "run", "run.json")) as file:
        journal = json.load(file)
    assert (journal["attempt"], journal["failures"], journal["start_failures"]) == (3, 1, 2)


def test_the_budgets_are_in_the_configuration():
    config = RunConfig(failure_config=FailureConfig(2, max_preemption_failures=3)).failure_config
    assert (config.controller_failure_limit, config.max_preemption_failures, config.preemption_grace_s) == (-1, 3, 0.0)

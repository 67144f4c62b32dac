"""Drivers whose nodes come from a Ray cluster, and what may go wrong with it. See ray_lab.py.

``VENV=.venv-ray scripts/bootstrap.sh ray torch`` installs Ray.
"""

import contextlib
import os
import re
import signal

import processes
import pytest
import ray_lab

import cluster

pytestmark = [
    pytest.mark.heavy,
    cluster.needs_tls,
    pytest.mark.skipif(not ray_lab.PYTHON.exists(), reason="Ray is not installed in .venv-ray"),
]


LIMIT_S = 300


@pytest.fixture
def time_limit():
    """In place of that of conftest.py: processes of Ray take seconds to start."""

    def expire(signum, frame):
        pytest.fail(f"the test was not through after {LIMIT_S} s")

    before = signal.signal(signal.SIGALRM, expire)
    signal.alarm(LIMIT_S)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="module")
def cluster_of_three():
    lab = ray_lab.Lab(nodes=3)
    yield lab
    lab.close()


@pytest.fixture
def lab(cluster_of_three, script):
    """The cluster; after the test nothing of the driver is left: no process, actor or placement
    group.
    """
    yield cluster_of_three
    script.close()
    assert cluster_of_three.left() == {}
    assert cluster_of_three.ask("wait_for_groups", states=[]) == []


# Works until a file is there, and saves each step. Ranks say on which Ray node they are.
STEPS = """
    def loop(config):
        from headway.train import collective
        context = train.get_context()
        step = first_step()
        print("BEGIN", context.get_world_size(), step, flush=True)
        while not collective.broadcast_from_rank_zero(os.path.exists(config["end"])):
            saves = context.get_world_rank() == 0
            train.report({"step": step}, checkpoint=save_step(step) if saves else None)
            if saves and step == 0:
                print("SAVED", flush=True)
            step += 1
        return step
"""


def test_digits_train_on_three_nodes(lab, script):
    example = ray_lab.ROOT / "examples" / "digits.py"
    lab.driver(
        script,
        f"""
        import sys
        sys.path.insert(0, {str(example.parent)!r})
        import digits
        from headway.train.torch import TorchTrainer

        result = TorchTrainer(
            digits.train_digits,
            train_loop_config={{"epochs": 6}},
            scaling_config=train.ScalingConfig(num_workers=3, placement_strategy="STRICT_SPREAD"),
        ).fit()
        print("NODES", sorted(node["Resources"]["CPU"] for node in headway.nodes()))
        print("ACCURACY", result.metrics["accuracy"])
        """.replace("\n        ", "\n    "),
    )
    status, output = script.finish()
    assert status == 0, output
    assert "NODES [0.0, 1.0, 1.0, 1.0]" in output
    assert float(re.search(r"ACCURACY (\S+)", output)[1]) > 0.9


def test_trials_of_a_tuner_run_on_three_nodes(lab, script):
    lab.driver(
        script,
        """

    def wait_for_others(config):
        # Each waits until as many run at once as there are nodes.
        open(os.path.join(config["folder"], str(config["x"])), "w").close()
        while len(os.listdir(config["folder"])) < 3:
            threading.Event().wait(0.02)
        tune.report({"score": config["x"]})

    grid = tune.Tuner(
        wait_for_others,
        param_space={"x": tune.grid_search([1, 2, 3, 4, 5, 6]), "folder": tempfile.mkdtemp()},
        tune_config=tune.TuneConfig(metric="score", mode="max"),
    ).fit()
    print("BEST", grid.get_best_result().metrics["score"], grid.num_errors)
""",
    )
    status, output = script.finish()
    assert status == 0, output
    assert "BEST 6 0" in output


def test_workers_on_one_node_do_not_fit_and_it_says_so_until_ctrl_c(lab, script):
    lab.driver(script, '    fit(lambda: None, 3, "STRICT_PACK")\n')
    said = script.wait_for("wait for Ray")
    assert "3 workers with {CPU: 1} (STRICT_PACK) wait for Ray: it has no node that is large enough" in said
    assert lab.ask("wait_for_groups", states=["PENDING"]) == ["PENDING"]
    os.kill(script.process.pid, signal.SIGINT)
    status, output = script.finish()
    assert status == 130, said + output
    assert "stopped by Ctrl-C" in output


def begin_steps(lab, script, workers="3", strategy="STRICT_SPREAD", **options):
    """A run that works until a file is there; its path."""
    end = script.folder / "end"
    lab.driver(
        script,
        STEPS
        + f"""
    result = fit(loop, {workers}, {strategy!r}, config={{"end": {str(end)!r}}})
    print("RESULT", result.return_value > 0)
""",
        **options,
    )
    return end


def finish_steps(script, end, said):
    end.touch()
    status, output = script.finish()
    assert status == 0, said + output
    assert "RESULT True" in output
    return said + output


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "stopped"])
def test_an_agent_is_lost_and_another_one_takes_its_place(lab, script, number):
    end = begin_steps(lab, script)
    said = script.wait_for("SAVED")
    os.kill(next(iter(lab.agents())), number)
    said += script.wait_for("BEGIN 3", 3)
    said = finish_steps(script, end, said)
    assert "Restarting the worker group (failure 1 of 3 allowed) from checkpoint_" in said


def test_a_driver_that_is_killed_leaves_nothing_behind(lab, script):
    begin_steps(lab, script)
    script.wait_for("BEGIN 3 0", 3)
    assert len(lab.agents()) == 3
    os.kill(script.process.pid, signal.SIGKILL)
    script.process.wait(10)
    assert lab.left() == {}


@pytest.mark.parametrize("what", ["raylet", "head", "bridge"])
def test_a_run_goes_on_and_ends_while_something_stands_still(lab, script, what):
    end = begin_steps(lab, script)
    said = script.wait_for("SAVED")
    stopped = {
        "raylet": lambda: [lab.nodes[0]["raylet"]],
        "head": lambda: lab.ask("head"),
        "bridge": lambda: [*lab.find("headway._engines.ray:RayEngine")],
    }[what]()
    for pid in stopped:
        os.kill(pid, signal.SIGSTOP)
    try:
        said = finish_steps(script, end, said)
    finally:
        for pid in stopped:
            with contextlib.suppress(ProcessLookupError):  # A driver's end kills its bridge.
                os.kill(pid, signal.SIGCONT)
    assert "Restarting" not in said


def test_a_run_goes_on_and_ends_after_the_head_was_killed(script):
    """Ray's nodes end themselves after a minute without it."""
    lab = ray_lab.Lab(nodes=3)
    try:
        end = begin_steps(lab, script)
        said = script.wait_for("SAVED")
        for pid in lab.ask("head"):
            os.kill(pid, signal.SIGKILL)
        said = finish_steps(script, end, said)
        assert "Restarting" not in said
        script.close()
        assert lab.left() == {}
    finally:
        lab.close()


def test_a_driver_that_stands_still_loses_its_nodes_and_resumes_on_new_ones(lab, script):
    end = begin_steps(lab, script)
    said = script.wait_for("SAVED")
    first = set(lab.agents())
    os.kill(script.process.pid, signal.SIGSTOP)
    # Nobody renews their leases: they end their ranks and themselves.
    gone = processes.wait_gone(lambda: first & set(lab.agents()), 60)
    os.kill(script.process.pid, signal.SIGCONT)
    assert not gone
    said += script.wait_for("BEGIN 3", 3)
    said = finish_steps(script, end, said)
    assert "Restarting the worker group (failure 1 of 3 allowed) from checkpoint_" in said


def test_a_raylet_is_killed_and_the_run_resumes_on_a_node_that_is_added(lab, script):
    end = begin_steps(lab, script)
    said = script.wait_for("SAVED")
    os.kill(lab.nodes[0]["raylet"], signal.SIGKILL)
    lab.nodes[0] = lab.ask("add", num_cpus=1)
    said += script.wait_for("BEGIN 3", 3)
    said = finish_steps(script, end, said)
    assert "Restarting the worker group (failure 1 of 3 allowed) from checkpoint_" in said


def test_a_bridge_that_is_killed_is_started_again_and_gets_other_agents(lab, script):
    end = begin_steps(lab, script)
    said = script.wait_for("BEGIN 3 0", 3)
    first = lab.agents()
    (bridge,) = lab.find("headway._engines.ray:RayEngine")
    os.kill(bridge, signal.SIGKILL)
    said += script.wait_for("BEGIN 3", 3)
    assert not set(first) & set(lab.agents())
    said = finish_steps(script, end, said)
    assert "The bridge to ray has ended" in said


def test_an_elastic_group_grows_onto_a_node_that_is_added(lab, script):
    end = begin_steps(lab, script, "(1, 4)", "SPREAD")
    said = script.wait_for("BEGIN 3", 3)
    added = lab.ask("add", num_cpus=1)
    said += script.wait_for("BEGIN 4", 4)
    os.kill(added["raylet"], signal.SIGKILL)
    said += script.wait_for("BEGIN 3", 3)
    finish_steps(script, end, said)


def test_ray_adds_nodes_for_what_waits_and_takes_back_what_is_idle(script):
    lab = ray_lab.Lab(nodes=0, program="ray_autoscaling.py")
    try:
        end = begin_steps(lab, script, "(2, 3)", "SPREAD", idle_s=0)
        said = script.wait_for("BEGIN 2 0", 2)  # The placement group had waited.
        said += script.wait_for("BEGIN 3", 3)  # Room was asked for.
        said = finish_steps(script, end, said)
        assert lab.ask("wait_for_nodes", count=0) == 0
        script.close()
        assert lab.left() == {}
    finally:
        lab.close()


def test_two_drivers_share_the_cluster(lab, script, another_script):
    first = begin_steps(lab, script, 2)
    said = script.wait_for("SAVED")
    second = begin_steps(lab, another_script, 2)
    waited = another_script.wait_for("2 workers")
    assert "BEGIN" not in waited, "the cluster has one more node"
    said = finish_steps(script, first, said)
    assert "Restarting" not in said
    waited += another_script.wait_for("BEGIN 2 0", 2)
    finish_steps(another_script, second, waited)
    another_script.close()


def test_a_node_that_is_drained_is_announced_to_ranks(lab, script):
    added = lab.ask("add", num_cpus=1, labels={"spot": "yes"})
    lab.driver(
        script,
        """
    def loop(config):
        print("BEGIN", flush=True)
        while (info := train.get_preemption_info()) is None:
            threading.Event().wait(0.02)
        print("ANNOUNCED", info.preempted_ranks, flush=True)
        train.report({"announced": 1})

    train.DataParallelTrainer(
        loop, scaling_config=train.ScalingConfig(num_workers=1, label_selector={"spot": "yes"})
    ).fit()
""",
        grace_s=20,
    )
    said = script.wait_for("BEGIN")
    assert lab.ask("drain", node=added["node"], seconds=20)["accepted"]
    said += script.wait_for("ANNOUNCED [0]")
    status, output = script.finish()
    assert status == 0, said + output


def test_files_beside_the_script_are_carried_to_the_nodes(lab, script, tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "beside_the_script.py").write_text("WORD = 'carried'\n")
    lab.driver(
        script,
        """
    def loop():
        import beside_the_script
        print("IMPORTED", beside_the_script.WORD, os.path.dirname(beside_the_script.__file__), flush=True)
        print("VARIABLE", os.environ["SOME_VARIABLE"], os.environ.get("OMP_NUM_THREADS"), flush=True)

    train.DataParallelTrainer(loop, scaling_config=train.ScalingConfig(num_workers=1)).fit()
""",
        runtime_env={"working_dir": str(folder), "env_vars": {"SOME_VARIABLE": "7"}},
    )
    status, output = script.finish()
    assert status == 0, output
    assert "runtime_resources" in re.search(r"IMPORTED carried (\S+)", output)[1]
    assert "VARIABLE 7 1" in output


def test_a_cluster_that_is_not_there_is_named(script):
    code = f"""
    import headway, threading
    from headway import train
    headway.init("127.0.0.1:9", bridge_python={str(ray_lab.PYTHON)!r}, listen="127.0.0.1:0")
    train.DataParallelTrainer(lambda: None, scaling_config=train.ScalingConfig(num_workers=1)).fit()
"""
    script.start(code)
    script.wait_for("Ray at 127.0.0.1:9 does not do what is asked")
    os.kill(script.process.pid, signal.SIGINT)
    status, output = script.finish()
    assert status == 130, output

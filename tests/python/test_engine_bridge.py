"""Nodes that an engine's bridge brings: the bridge is one for tests, everything else is real."""

import os
import signal
import subprocess
import sys

import headway
import processes
import pytest
from engine_driver import FIT

import cluster

pytestmark = cluster.needs_tls

DRIVER = (
    """
    import os, signal, threading, time
    import headway
    from headway import train
    from headway._engines import options

    def check(address, given):
        return dict(given)

    options.ENGINES["processes"] = options.EngineKind(
        "bridge_of_processes:ProcessEngine", ("folder", "most"), check, False
    )

    def start(most=2, **more):
        headway.init("processes", folder=FOLDER, most=most, listen="127.0.0.1:0", token_file=TOKEN, **more)

    def notes():
        path = os.path.join(FOLDER, "notes")
        return open(path).read().split("\\n") if os.path.exists(path) else []

    def wait_for_note(text, count=1):
        while sum(line.startswith(text) for line in notes()) < count:
            threading.Event().wait(0.02)

    def bridge():
        return int([line for line in notes() if line.startswith("open")][-1].split()[1])
"""
    + FIT
)


class Engine:
    def __init__(self, script, folder):
        self.script = script
        self.folder = folder

    def start(self, code, **environment):
        names = f"    FOLDER, TOKEN = {str(self.folder)!r}, {str(self.folder / 'token')!r}\n"
        path = os.pathsep.join([os.path.dirname(__file__), os.environ.get("PYTHONPATH", "")])
        self.script.start(names + DRIVER + code, PYTHONPATH=path, **environment)

    def notes(self):
        return (self.folder / "notes").read_text().split("\n")

    def left(self):
        return processes.wait_gone(self.script.processes, 20)


@pytest.fixture
def engine(script, tmp_path):
    return Engine(script, tmp_path)


def test_a_run_gets_a_node_a_worker_and_all_nodes_are_given_back(engine):
    engine.start("""
    start()

    def loop():
        print("ON", train.get_context().get_node_rank(), flush=True)

    fit(loop, 2)
    print("CPUS", headway.cluster_resources()["CPU"], flush=True)
    headway.shutdown()
    print("CLOSED", notes()[-2])
    """)
    status, output = engine.script.finish()
    assert status == 0, output
    # None is on the driver's machine, and no two share a CPU.
    assert "(rank 0) ON 0" in output
    assert "(rank 1) ON 1" in output
    assert "CPUS 2.0" in output
    assert "CLOSED closed" in output
    assert "2 workers with {CPU: 1} each wait for nodes to join" in output
    assert "a library prints this" in output
    assert engine.left() == {}


def test_a_node_that_nobody_uses_is_given_back_while_the_driver_goes_on(engine):
    engine.start("""
    start(idle_s=0)
    fit(lambda: None, 1)
    wait_for_note("give_back")
    wait_for_note("left")
    print("NODES", len(headway.nodes()))
    """)
    status, output = engine.script.finish()
    assert status == 0, output
    assert "NODES 1" in output
    assert engine.left() == {}


def test_a_bridge_that_is_killed_is_started_again_and_its_nodes_train_on(engine):
    engine.start("""
    start(idle_s=0)

    def loop():
        while not os.path.exists(FOLDER + "/go"):
            threading.Event().wait(0.02)

    def kill_bridge():
        wait_for_note("joined")
        wait_for_note("want 0")
        os.kill(bridge(), signal.SIGKILL)
        wait_for_note("open", 2)
        wait_for_note("joined", 2)
        open(FOLDER + "/go", "w").close()

    threading.Thread(target=kill_bridge).start()
    fit(loop, 1)
    wait_for_note("left")
    """)
    status, output = engine.script.finish()
    assert status == 0, output
    assert "The bridge to processes has ended by signal 9; it is started again" in output
    assert engine.left() == {}


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_driver_that_is_killed_leaves_no_node_and_no_bridge(engine, number):
    engine.start(
        """
    start()

    def loop():
        print("AT WORK", flush=True)
        threading.Event().wait()

    fit(loop, 2)
    """,
        HEADWAY_NOTICE_PERIOD_S="0",  # The ranks save nothing.
    )
    engine.script.wait_for("(rank 1) AT WORK")
    os.kill(engine.script.process.pid, number)
    engine.script.finish()
    assert engine.left() == {}


def test_ctrl_c_ends_a_run_that_waits_for_more_than_there_is(engine):
    engine.start("""
    start(most=1)
    fit(lambda: None, 3)
    """)
    engine.script.wait_for("3 nodes are wanted; there are 1")
    os.kill(engine.script.process.pid, signal.SIGINT)
    status, output = engine.script.finish()
    assert status != 0
    assert "stopped by Ctrl-C" in output
    assert engine.notes()[-2] == "closed"
    assert engine.left() == {}


def test_the_bridge_ends_when_its_input_does_and_answers_pings():
    code = "from headway._engines.protocol import Engine, serve; serve(Engine())"
    bridge = subprocess.run([sys.executable, "-c", code], input=b'{"kind":"ping"}\n', capture_output=True, timeout=60)
    assert (bridge.returncode, bridge.stdout) == (0, b'{"kind": "pong"}\n'), bridge.stderr


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        (
            {"address": "slurmm"},
            ValueError,
            'address is \'slurmm\'; allowed: None or "local" (this machine), "kubernetes", "ray", "slurm"',
        ),
        ({"address": 3}, TypeError, "address is 3 (int)"),
        ({"partition": "x"}, TypeError, "init() got an unexpected keyword argument 'partition'"),
        ({"num_cpu": 1}, TypeError, "did you mean 'num_cpus'?"),
        ({"address": "slurm", "partitions": "x"}, TypeError, "did you mean 'partition'?"),
        ({"address": "slurm", "partition": ""}, ValueError, "partition is ''"),
        ({"address": "slurm", "time": "soon"}, ValueError, "time is 'soon'; allowed: None (the partition's)"),
        ({"address": "slurm", "time": 0}, ValueError, "time is 0"),
        ({"address": "slurm", "nodes": (3, 2)}, ValueError, "nodes is (3, 2)"),
        ({"address": "slurm", "nodes": 0}, ValueError, "nodes is 0"),
        ({"address": "slurm", "nodes": "2"}, TypeError, "nodes is '2' (str)"),
        ({"address": "slurm", "cpus_per_node": 0}, ValueError, "cpus_per_node is 0"),
        ({"address": "slurm", "gpus_per_node": -1}, ValueError, "gpus_per_node is -1"),
        ({"address": "slurm", "sbatch_args": ["--nodes=2"]}, ValueError, "sbatch_args has '--nodes=2'"),
        ({"address": "slurm", "sbatch_args": "--qos=x"}, TypeError, "sbatch_args is '--qos=x' (str)"),
        ({"address": "slurm", "notice_s": 5}, ValueError, "notice_s is 5"),
        ({"address": "slurm", "accelerator_type": ""}, ValueError, "accelerator_type is ''"),
        ({"address": "slurm", "pools": []}, TypeError, "pools is [] (list)"),
        ({"address": "slurm", "pools": {"G": {}}}, ValueError, "pools has 'G'"),
        ({"address": "slurm", "pools": {"g": {"gpu_per_node": 1}}}, TypeError, "did you mean 'gpus_per_node'?"),
        ({"address": "slurm", "pools": {"g": {"time": 0}}}, ValueError, "pools['g'].time is 0"),
        ({"address": "slurm", "pools": {"g": {"nodes": 0}}}, ValueError, "pools['g'].nodes is 0"),
        ({"address": "slurm", "idle_s": -1}, ValueError, "idle_s is -1"),
    ],
)
def test_a_bad_argument_of_an_engine_is_refused_before_anything_starts(arguments, error, words):
    headway.shutdown()
    with pytest.raises(error) as refused:
        headway.init(**arguments)
    assert words in str(refused.value)
    assert not headway.is_initialized()

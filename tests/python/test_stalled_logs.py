"""Log files on a disk that does not answer: here pipes that are full, until the test reads them."""

import contextlib
import os

import pytest

import cluster

pytestmark = cluster.needs_tls

# For two leases and more.
PRINTING = """
    def loop():
        for step in range(50):
            print("step", step, flush=True)
            train.report({"step": step})
            threading.Event().wait(0.1)

    wait_for_nodes(2)
    result = fit(loop, 2, storage_path=STORAGE, failure_config=train.FailureConfig(0))
    print("RESULT", result.metrics["step"], sorted(node["NodeID"] for node in headway.nodes()))
"""


@pytest.fixture
def stalled_logs(tmp_path):
    """The log files of two ranks, as full pipes."""
    logs = tmp_path / "storage" / "run" / "logs"
    logs.mkdir(parents=True)
    pipes = []
    for rank in range(2):
        path = logs / f"rank_{rank}.log"
        os.mkfifo(path)
        pipes.append(os.open(path, os.O_RDWR | os.O_NONBLOCK))
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(pipes[-1], b"." * 4096)
    yield
    for pipe in pipes:
        os.close(pipe)


def test_a_disk_that_does_not_answer_costs_neither_a_node_nor_a_report(nodes, tmp_path, stalled_logs):
    nodes.start(PRINTING.replace("STORAGE", repr(str(tmp_path / "storage"))))
    agent = nodes.agent()
    agent.join()
    status, output = nodes.script.finish()
    assert status == 0, output
    assert "RESULT 49 ['local', 'node-1']" in output
    for rank in range(2):
        assert f"(rank {rank}) step 49" in output
        assert f"rank_{rank}.log lacks a part of the output: its disk has not answered for 5 s" in output
    assert agent.end() == 0
    assert nodes.left() == {}

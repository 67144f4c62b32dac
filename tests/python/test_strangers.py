"""Connections to a driver that never prove that they have the token: no run lacks descriptors
because of them.
"""

import contextlib
import re
import socket

import pytest

import cluster

pytestmark = cluster.needs_tls


# A driver that may have few descriptors. It counts them before the strangers come, and trains once
# they are there.
FEW_DESCRIPTORS = """
    import resource
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))

    def descriptors():
        return len(os.listdir("/proc/self/fd"))

    print("BEFORE", descriptors(), flush=True)
    while not os.path.exists(FLOODED):
        threading.Event().wait(0.02)
    # What came last was taken in before anything that is asked of the loop now.
    headway.nodes()
    print("DURING", descriptors(), flush=True)
    result = fit(lambda: train.report({"x": 1}), 2, storage_path=STORAGE)
    print("RESULT", result.metrics["x"], flush=True)
"""


@pytest.fixture
def flood(nodes, tmp_path):
    """``flood()``: connections that say nothing, and stay; ``flood(b"...")``: that begin with these
    bytes.
    """
    with contextlib.ExitStack() as stack:

        def run(count, first):
            host, port = nodes.address.rsplit(":", 1)
            for _ in range(count):
                stranger = stack.enter_context(socket.create_connection((host, int(port)), timeout=30))
                if first:
                    with contextlib.suppress(ConnectionError):
                        stranger.sendall(first)
            (tmp_path / "flooded").touch()

        yield run


# Those that begin a handshake of TLS have more time than those that say nothing.
@pytest.mark.parametrize(("count", "first"), [(300, b""), (40, b"\x16\x03\x01\x02\x00\x01")])
def test_strangers_take_no_descriptors_from_a_run_and_keep_no_node_out(nodes, flood, tmp_path, count, first):
    names = f"    FLOODED, STORAGE = {str(tmp_path / 'flooded')!r}, {str(tmp_path / 'storage')!r}\n"
    nodes.start(names + FEW_DESCRIPTORS)
    before = int(re.search(r"BEFORE (\d+)", nodes.script.wait_for("BEFORE"))[1])
    flood(count, first)
    during = int(re.search(r"DURING (\d+)", nodes.script.wait_for("DURING"))[1])
    assert during - before <= 64 + 4
    assert nodes.agent().join() == "node-1"
    status, output = nodes.script.finish()
    assert status == 0, output
    assert "RESULT 1" in output
    assert "Too many open files" not in output

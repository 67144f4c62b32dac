"""Three agents whose links are cut or slow, that are killed or stopped, and a driver that dies. See
network.py.
"""

import contextlib
import os
import re
import signal
import time

import network
import pytest
import texts

import cluster

pytestmark = cluster.needs_tls


@pytest.fixture
def nodes(nodes, tmp_path):
    (tmp_path / "notes").mkdir()
    return nodes


@contextlib.contextmanager
def lab_of_namespaces():
    with contextlib.ExitStack() as stack:
        lab = network.Lab(stack)
        yield lab
        assert lab.left() == {}


@pytest.fixture
def lab(nodes):
    """Namespaces, or loopback where they can't be made. Nothing may be left of the driver and its
    nodes.
    """
    with contextlib.ExitStack() as stack:
        try:
            lab = stack.enter_context(lab_of_namespaces())
        except network.Unavailable:
            lab = network.Loopback()
        yield lab
        nodes.script.close()
        nodes.stack.close()


def start(lab, nodes, tmp_path, code, lease_s=cluster.LEASE_S):
    storage, notes = tmp_path / "storage", tmp_path / "notes"
    lab.start(nodes, f"    STORAGE, NOTES = {str(storage)!r}, {str(notes)!r}\n" + code, lease_s)


def join(lab, nodes, *options):
    """Three agents that have joined, as node-1 and so on, and their links."""
    links = lab.links(nodes, 3)
    agents = []
    for number, link in enumerate(links, start=1):
        agents.append(link.agent(nodes, *options))
        assert agents[-1].join() == f"node-{number}"
    return agents, links


# The ranks of the first attempt note all the time that they are at it; those of the second, when
# they begin.
BEATING = """
    def note(name, text):
        with open(os.path.join(NOTES, name), "a") as file:
            file.write(text)

    def loop():
        rank = train.get_context().get_world_rank()
        if train.get_checkpoint() is not None:
            note("begun", f"{time.monotonic()}\\n")
            for step in range(1, 4):
                train.report({"step": step})
            return train.get_context().get_world_size()
        train.report({"step": 0}, checkpoint=save("before") if rank == 0 else None)
        note(f"beats_{rank}", f"{time.monotonic()}\\n")
        print("AT WORK", flush=True)
        while True:
            note(f"beats_{rank}", f"{time.monotonic()}\\n")
            threading.Event().wait(0.005)

    wait_for_nodes(4)
    result = fit(loop, WORKERS, storage_path=STORAGE)
    print("RESULT", result.return_value, result.metrics["step"], flush=True)
    print("NODES", sorted(node["NodeID"] for node in headway.nodes()), flush=True)
"""


def at_work(lab, nodes, tmp_path, workers):
    """Ranks 0, 1 and 2 are at work, at home and on the first two agents' nodes; the agents and
    their links.
    """
    start(lab, nodes, tmp_path, BEATING.replace("WORKERS", str(workers)))
    agents, links = join(lab, nodes)
    nodes.script.wait_for("AT WORK", count=3)
    return agents, links


def times(tmp_path, name):
    """What was noted, but for a line that its rank did not come to end."""
    lines = (tmp_path / "notes" / name).read_text().splitlines(keepends=True)
    return [float(line) for line in lines if line.endswith("\n")]


def check_one_group_at_a_time(tmp_path):
    last = max(max(times(tmp_path, f"beats_{rank}")) for rank in range(3))
    assert last < min(times(tmp_path, "begun"))


def test_torch_trains_on_three_agents(lab, nodes, tmp_path):
    code = """
    def loop():
        import torch
        from headway.train.torch import prepare_model
        rank = train.get_context().get_world_rank()
        model = prepare_model(torch.nn.Linear(2, 1))
        model(torch.ones(1, 2) * (rank + 1)).sum().backward()
        train.report({"gradient": model.module.weight.grad.tolist()}, checkpoint=save("last") if rank == 0 else None)

    from headway.train.torch import TorchTrainer
    wait_for_nodes(4)
    result = TorchTrainer(
        loop,
        scaling_config=train.ScalingConfig(
            num_workers=3, resources_per_worker={"CPU": 1}, label_selector={"place": "away"}
        ),
        run_config=train.RunConfig(name="run", storage_path=STORAGE),
    ).fit()
    print("RESULT", result.metrics["gradient"])
    """
    start(lab, nodes, tmp_path, code, lease_s=10)
    agents, _ = join(lab, nodes, "--labels", '{"place": "away"}')
    status, output = nodes.script.finish(100)
    assert status == 0, output
    assert "RESULT [[2.0, 2.0]]" in output
    assert [agent.end() for agent in agents] == [0, 0, 0]
    assert nodes.left() == {}


def test_a_node_behind_a_cut_link_ends_its_ranks_before_others_begin(lab, nodes, tmp_path):
    agents, links = at_work(lab, nodes, tmp_path, 3)
    cut_at = time.monotonic()
    links[0].cut()
    # Nobody reaches it: it ends by itself, and trained until then.
    assert agents[0].end() == 3
    assert "the driver has not answered for 2 s, so the workers here are ended" in agents[0].said
    assert times(tmp_path, "beats_1")[-1] > cut_at
    said = nodes.script.wait_for("is lost")
    links[0].mend()
    status, output = nodes.script.finish()
    assert status == 0, said + output
    assert re.search(texts.lost("node-1", 1) + "it gave no sign of life for 2 s", said), said
    assert "RESULT 3 3" in output
    assert "NODES ['local', 'node-2', 'node-3']" in output
    check_one_group_at_a_time(tmp_path)
    assert [agent.end() for agent in agents] == [3, 0, 0]
    assert nodes.left() == {}


def test_an_agent_is_killed_and_another_one_stopped(lab, nodes, tmp_path):
    agents, _ = at_work(lab, nodes, tmp_path, (2, 3))
    agents[0].signal(signal.SIGKILL)
    agents[1].signal(signal.SIGSTOP)
    status, output = nodes.script.finish()
    assert status == 0, output
    assert re.search(texts.lost("node-1"), output), output
    assert "RESULT 2 3" in output
    check_one_group_at_a_time(tmp_path)
    agents[1].signal(signal.SIGCONT)
    assert [agent.end() for agent in agents] == [-signal.SIGKILL, 3, 0]
    assert nodes.left() == {}


def test_the_driver_dies_and_one_agent_cannot_even_hear_of_it(lab, nodes, tmp_path):
    agents, links = at_work(lab, nodes, tmp_path, 3)
    links[0].cut()
    os.kill(nodes.script.process.pid, signal.SIGKILL)
    assert [agent.end() for agent in agents] == [3, 3, 3]
    assert "the driver has not answered for 2 s" in agents[0].said
    assert "the driver is gone" in agents[1].said
    assert "the driver is gone" in agents[2].said
    assert nodes.left() == {}


LINES_OF_MORE_THAN_A_LEASE = 4500  # At the rate of a slow link.

# Much is printed, and the last step is saved.
SLOW = """
    def loop():
        rank = train.get_context().get_world_rank()
        for step in range(2):
            if rank == 1 and step == 0:
                for line in range(LINES):
                    print(line, "x" * 80)
            train.report({"step": step}, checkpoint=save("last") if rank == 0 else None)

    while not os.path.exists(SLOWED):
        threading.Event().wait(0.02)
    wait_for_nodes(4)
    result = fit(loop, 3, storage_path=STORAGE, failure_config=train.FailureConfig(0))
    print("RESULT", result.metrics["step"], flush=True)
    print("NODES", sorted(node["NodeID"] for node in headway.nodes()), flush=True)
"""


def check_slow_link(lab, nodes, tmp_path, lines=100):
    slowed = tmp_path / "slowed"
    code = SLOW.replace("LINES", str(lines)).replace("SLOWED", repr(str(slowed)))
    start(lab, nodes, tmp_path, code, lease_s=4)
    agents, links = join(lab, nodes)
    links[0].slow_down()
    links[1].slow_down()
    slowed.touch()
    status, output = nodes.script.finish()
    assert status == 0, output[-2000:]
    assert "RESULT 1" in output
    assert "NODES ['local', 'node-1', 'node-2', 'node-3']" in output
    printed = (tmp_path / "storage" / "run" / "logs" / "rank_1.log").read_text().splitlines()
    assert [line.split()[0] for line in printed] == [str(line) for line in range(lines)]
    assert [agent.end() for agent in agents] == [0, 0, 0]
    assert nodes.left() == {}


def test_no_node_is_lost_over_a_slow_link(nodes, tmp_path):
    try:
        with lab_of_namespaces() as lab:
            check_slow_link(lab, nodes, tmp_path, lines=LINES_OF_MORE_THAN_A_LEASE)
    except network.Unavailable as error:
        pytest.skip(str(error))


def test_no_node_is_lost_over_a_slow_proxy(nodes, tmp_path):
    check_slow_link(network.Loopback(), nodes, tmp_path)

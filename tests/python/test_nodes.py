"""Nodes that join a driver: ranks on them, and what happens when they go. See cluster.py."""

import json
import os
import re
import signal
import stat

import headway
import pytest
import texts

import cluster

pytestmark = cluster.needs_tls


THREE = """
    def loop():
        context = train.get_context()
        rank = context.get_world_rank()
        for step in range(3):
            print("step", step, flush=True)
            train.report({"step": step}, checkpoint=save("last") if rank == 0 else None)
        print("bytes", flush=True)
        os.write(1, b"no \\xff UTF-8\\n")
        return [rank, context.get_node_rank(), context.get_local_rank(), context.get_local_world_size()]

    wait_for_nodes(3)
    result = fit(loop, 3, storage_path=STORAGE)
    print("RESULT", result.metrics["step"], result.return_value)
    print("CPUS", headway.cluster_resources()["CPU"], sorted(node["NodeID"] for node in headway.nodes()))
"""


def test_ranks_train_on_three_nodes_and_nothing_is_left(nodes, tmp_path):
    nodes.start(THREE.replace("STORAGE", repr(str(tmp_path / "storage"))))
    agents = [nodes.agent(), nodes.agent()]
    assert sorted(agent.join() for agent in agents) == ["node-1", "node-2"]
    status, output = nodes.script.finish()
    assert status == 0, output
    assert "RESULT 2 [0, 0, 0, 1]" in output
    assert "CPUS 3.0 ['local', 'node-1', 'node-2']" in output
    for rank in range(3):
        with open(tmp_path / "storage" / "run" / "logs" / f"rank_{rank}.log", "rb") as log:
            assert log.read() == b"step 0\nstep 1\nstep 2\nbytes\nno \xff UTF-8\n"
        assert f"(rank {rank}) step 2" in output
    assert [agent.end() for agent in agents] == [0, 0]
    assert "the driver needs this node no more" in agents[0].said
    assert nodes.left() == {}


# Each rank notes its process; in the second attempt those of the first must be gone.
MOVING = """
    NOTES = NOTES_DIRECTORY

    def alive(pid):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        return True

    def loop():
        context = train.get_context()
        rank = context.get_world_rank()
        notes = [os.path.join(NOTES, name) for name in os.listdir(NOTES)]
        before = [int(open(note).read()) for note in notes]
        if before:
            return [sum(alive(pid) for pid in before), len(before)]
        train.report({"step": 0}, checkpoint=save("before") if rank == 0 else None)
        with open(os.path.join(NOTES, str(rank)), "w") as file:
            file.write(str(os.getpid()))
        print("AT WORK", flush=True)
        threading.Event().wait()

    wait_for_nodes(NODES_NEEDED)
    result = fit(loop, 2, storage_path=STORAGE)
    print("RESULT", result.return_value, result.checkpoint is not None, flush=True)
"""


def move(nodes, tmp_path, count=3):
    (tmp_path / "notes").mkdir()
    code = MOVING.replace("NOTES_DIRECTORY", repr(str(tmp_path / "notes")))
    nodes.start(code.replace("STORAGE", repr(str(tmp_path / "storage"))).replace("NODES_NEEDED", str(count)))


def at_work_beside_a_spare_node(nodes, tmp_path):
    """Rank 1 is at work on the first agent's node; the second one's is free."""
    move(nodes, tmp_path)
    first = nodes.agent()
    assert first.join() == "node-1"
    second = nodes.agent()
    second.join()
    nodes.script.wait_for("AT WORK", count=2)
    return first, second


def moved(nodes):
    status, output = nodes.script.finish()
    assert status == 0, output
    assert "RESULT [0, 2] True" in output
    return output


def test_an_agent_is_killed_and_its_rank_goes_on_elsewhere(nodes, tmp_path):
    first, second = at_work_beside_a_spare_node(nodes, tmp_path)
    first.signal(signal.SIGKILL)
    output = moved(nodes)
    assert re.search(texts.lost("node-1", 1) + "its connection ", output), output
    assert second.end() == 0
    assert nodes.left() == {}


def test_an_agent_that_is_stopped_loses_its_lease_and_its_ranks(nodes, tmp_path):
    first, second = at_work_beside_a_spare_node(nodes, tmp_path)
    first.signal(signal.SIGSTOP)
    output = moved(nodes)
    assert "it gave no sign of life for 2 s" in output
    first.signal(signal.SIGCONT)
    assert first.end() == 3
    assert second.end() == 0
    assert nodes.left() == {}


def test_a_node_that_is_cut_off_ends_its_ranks_before_others_begin(nodes, tmp_path):
    move(nodes, tmp_path)
    proxy = nodes.proxy()
    first = nodes.agent(address=proxy.address)
    first.join()
    second = nodes.agent()
    second.join()
    nodes.script.wait_for("AT WORK", count=2)
    proxy.cut()
    first.wait_for("the driver has not answered for 2 s, so the workers here are ended")
    assert first.end() == 3
    moved(nodes)
    assert second.end() == 0
    assert nodes.left() == {}


def test_a_run_waits_for_a_node_to_join_in_the_place_of_a_lost_one(nodes, tmp_path):
    move(nodes, tmp_path, count=2)
    first = nodes.agent()
    first.join()
    nodes.script.wait_for("AT WORK", count=2)
    first.signal(signal.SIGKILL)
    nodes.script.wait_for("2 workers with {CPU: 1} each wait for nodes to join: there is {CPU: 1")
    second = nodes.agent()
    assert second.join() == "node-2"
    # It is said as information is, and not as a warning.
    assert re.search(r"^headway: node-2 \(\S+\) has joined with \{CPU: 1", moved(nodes), re.MULTILINE)
    assert second.end() == 0
    assert nodes.left() == {}


def test_a_broadcast_that_takes_longer_than_a_lease_costs_no_node(nodes, tmp_path):
    nodes.start(
        """
    from headway.train import collective

    def loop():
        rank = train.get_context().get_world_rank()
        data = collective.broadcast_from_rank_zero(b"x" * SIZE if rank == 0 else None)
        train.report({"size": len(data)})
        return len(data)

    while not os.path.exists(SLOWED):
        threading.Event().wait(0.02)
    result = fit(loop, 2, storage_path=STORAGE, failure_config=train.FailureConfig(0))
    print("RESULT", result.return_value == SIZE, flush=True)
    """.replace("SIZE", str(4 << 20))
        .replace("SLOWED", repr(str(tmp_path / "slowed")))
        .replace("STORAGE", repr(str(tmp_path / "storage"))),
        lease_s=3,
    )
    proxy = nodes.proxy()
    agent = nodes.agent(address=proxy.address)
    agent.join()
    proxy.rate = (4 << 20) // 8  # Eight seconds for the broadcast.
    (tmp_path / "slowed").touch()
    status, output = nodes.script.finish()
    assert status == 0, output
    assert "RESULT True" in output
    proxy.rate = None
    assert agent.end() == 0
    assert nodes.left() == {}


def test_the_driver_is_killed_and_its_nodes_end_their_ranks(nodes, tmp_path):
    move(nodes, tmp_path, count=2)
    agent = nodes.agent()
    agent.join()
    nodes.script.wait_for("AT WORK", count=2)
    os.kill(nodes.script.process.pid, signal.SIGKILL)
    assert agent.end() == 3
    assert "the driver is gone" in agent.said
    assert nodes.left() == {}


def test_ctrl_c_at_an_agent_gives_its_ranks_up_at_once(nodes, tmp_path):
    first, _ = at_work_beside_a_spare_node(nodes, tmp_path)
    first.signal(signal.SIGINT)
    assert first.end() == 0
    output = moved(nodes)
    assert "node node-1" in output
    assert "it left" in output
    assert nodes.left() == {}


def test_a_rank_s_death_on_another_node_is_told_as_at_home(nodes, tmp_path):
    nodes.start(
        f"""
    def loop():
        if train.get_context().get_world_rank() == 1:
            print("last words", flush=True)
            os.kill(os.getpid(), 11)
        threading.Event().wait()

    wait_for_nodes(2)
    try:
        fit(loop, 2, storage_path={str(tmp_path / "storage")!r}, failure_config=train.FailureConfig(0))
    except train.WorkerGroupError as error:
        died = error.worker_failures[1]
        print("DIED", type(died).__name__, died.signal, died.last_lines, died.node_id)
    """
    )
    nodes.agent().join()
    status, output = nodes.script.finish()
    assert status == 0, output
    assert "DIED WorkerDied 11 ['last words', 'Fatal Python error: Segmentation fault'" in output
    assert "] node-1\n" in output


def test_a_hanging_rank_of_another_node_is_shown_with_its_stack(nodes, tmp_path):
    nodes.start(
        f"""
    def stuck_somewhere():
        threading.Event().wait()

    def loop():
        if train.get_context().get_world_rank() == 1:
            stuck_somewhere()
        train.report({{}})

    wait_for_nodes(2)
    failure = train.FailureConfig(0, hang_warn_s=1, hang_fail_s=4)
    try:
        fit(loop, 2, storage_path={str(tmp_path / "storage")!r}, failure_config=failure)
    except train.WorkerGroupError as error:
        print("ERROR", error)
    """
    )
    nodes.agent().join()
    status, output = nodes.script.finish()
    assert status == 0, output
    assert "stuck_somewhere" in output.partition("ERROR")[0]


def test_much_output_of_a_slow_reader_is_complete(nodes, tmp_path):
    nodes.start(
        f"""
    def loop():
        if train.get_context().get_world_rank() == 1:
            for number in range(20000):
                print(number, "x" * 80)

    wait_for_nodes(2)
    fit(loop, 2, storage_path={str(tmp_path / "storage")!r})
    """
    )
    nodes.agent().join()
    status, output = nodes.script.finish()
    assert status == 0, output[-2000:]
    lines = (tmp_path / "storage" / "run" / "logs" / "rank_1.log").read_text().splitlines()
    assert [line.split()[0] for line in lines] == [str(number) for number in range(20000)]


def agent_code(nodes, tmp_path, *options, token=None):
    agent = cluster.Agent(nodes.script, token or nodes.token, *options)
    nodes.stack.callback(agent.close)
    return agent.end(), agent.said


def test_an_agent_without_the_driver_s_token_is_refused(nodes, tmp_path):
    nodes.start("    threading.Event().wait()")
    other = tmp_path / "other"
    other.write_text("0123456789abcdef0123456789abcdef")
    other.chmod(0o600)
    code, said = agent_code(nodes, tmp_path, nodes.address, token=other)
    assert code == 2
    assert said == "headway-agent: the driver refused: the token is not this driver's\n"


def test_the_token_is_made_for_its_owner_alone_and_kept(nodes):
    nodes.start("    threading.Event().wait()")
    assert stat.S_IMODE(nodes.token.stat().st_mode) == 0o600
    assert re.fullmatch("[0-9a-f]{64}\n", nodes.token.read_text())


@pytest.mark.parametrize(
    ("text", "mode", "address", "words"),
    [
        (None, 0o600, "127.0.0.1:9", "is not there; it must be a copy of the driver's"),
        ("short", 0o600, "127.0.0.1:9", "has 5 characters; allowed: 16 or more"),
        ("x" * 32, 0o644, "127.0.0.1:9", "may be read by others (mode 644); allowed: 600"),
        ("x" * 32, 0o600, "nowhere", "--join is 'nowhere'; allowed: host:port"),
        ("x" * 32, 0o600, "127.0.0.1:9", "cannot connect to 127.0.0.1:9: Connection refused"),
    ],
)
def test_an_agent_that_cannot_join_says_why(nodes, tmp_path, text, mode, address, words):
    if text is not None:
        nodes.token.write_text(text)
        nodes.token.chmod(mode)
    code, said = agent_code(nodes, tmp_path, address)
    assert code == 2
    assert words in said
    assert said.startswith("headway-agent: ")


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"listen": 5}, TypeError, "listen is 5"),
        ({"listen": "here"}, ValueError, "listen is 'here'; allowed: host:port"),
        ({"listen": "no.such.host.example:0"}, ValueError, "listen names the host 'no.such.host.example'"),
        (
            {"listen": "127.0.0.1:0", "node_lease_s": 0},
            ValueError,
            "node_lease_s is 0; allowed: seconds from 1 to 3600",
        ),
        ({"token_file": "x"}, ValueError, "token_file is given without listen"),
        ({"listen": "127.0.0.1:0", "token_file": 5}, TypeError, "token_file is 5"),
    ],
)
def test_bad_settings_of_listening_are_refused(options, error, words, tmp_path, monkeypatch):
    headway.shutdown()
    monkeypatch.setenv("HEADWAY_TOKEN_FILE", str(tmp_path / "token"))
    with pytest.raises(error, match=re.escape(words)):
        headway.init(**options)
    assert not headway.is_initialized()


def test_nothing_listens_unless_it_is_asked_for(script):
    status, output = script.run(
        """
        import glob, os
        import headway
        from headway import train

        train.DataParallelTrainer(lambda: None).fit()
        assert headway.join_address() is None
        own = {os.readlink(path) for path in glob.glob("/proc/self/fd/*") if os.path.islink(path)}
        for table in ("tcp", "tcp6"):
            with open(f"/proc/self/net/{table}") as file:
                rows = [line.split() for line in file.readlines()[1:]]
            print("LISTENING", [row[1] for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in own])
        """
    )
    assert status == 0, output
    assert output.count("LISTENING []") == 2


def test_the_nodes_of_a_driver_by_itself():
    assert [node["NodeID"] for node in headway.nodes()] == ["local"]
    assert json.dumps(headway.nodes())

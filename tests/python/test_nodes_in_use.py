"""How much of each node is in use, on the page, in the terminal and for Prometheus: a driver and a
second node, both of which are this machine.
"""

import json
import os
import re
import urllib.request

import pytest
from headway._command.main import main
from headway._storage import run_files

import cluster

pytestmark = cluster.needs_tls

WAITS = """
    def loop():
        lines = open(GO) if train.get_context().get_world_rank() == 0 else None
        for report in range(3):
            train.report({"report": report})
            if lines and report < 2:
                lines.readline()

    wait_for_nodes(2)
    print("URL", headway.dashboard_url(), flush=True)
    print("DONE", fit(loop, 2).metrics["report"], flush=True)
"""
# Of nvidia-smi: two GPUs, told again and again.
GPUS = "0, NVIDIA H100 80GB HBM3, 37, 40960, 81559\n1, NVIDIA H100 80GB HBM3, 0, 4, 81559"


@pytest.fixture
def at_work(nodes, tmp_path):
    """The page's address, and the pipe that lets ranks go on to their next report. A run has a rank
    on each of two nodes, of which the second offers GPUs.
    """
    go = tmp_path / "go"
    os.mkfifo(go)
    stand_in = tmp_path / "bin" / "nvidia-smi"
    stand_in.parent.mkdir()
    stand_in.write_text(f"#!/bin/sh\nexec yes '{GPUS}'\n")
    stand_in.chmod(0o755)
    nodes.start(WAITS.replace("GO", repr(str(go))), HEADWAY_DASHBOARD="1")
    with_gpus = f"PATH={stand_in.parent}:{os.environ['PATH']}"
    agent = nodes.agent("--num-gpus", "2", prefix=("env", with_gpus))
    assert agent.join() == "node-1"
    link = re.search(r"URL (\S+)", nodes.script.wait_for("URL"))[1]
    with go.open("w", buffering=1) as pipe:
        yield link, pipe
    status, output = nodes.script.finish()
    assert status == 0, output
    assert "DONE 2" in output
    assert agent.end() == 0
    assert nodes.left() == {}


def asked(link, path):
    url, _, token = link.partition("?token=")
    request = urllib.request.Request(url + path, headers={"Authorization": f"Bearer {token}"})
    return urllib.request.urlopen(request, timeout=60)


def seen_when(link, is_there):
    """The nodes by their ids, as soon as the page shows what is wanted of them."""
    with asked(link, "api/events") as events:
        for line in events:
            if line.startswith(b"data: "):
                news = json.loads(line.removeprefix(b"data: "))
                nodes = {each["node"]["node_id"]: each for each in news.get("changed", news).get("nodes", [])}
                if is_there(nodes):
                    return nodes
    raise AssertionError("the page's events have ended")


def is_seen(nodes):
    uses = [each["use"] for each in nodes.values()]
    both = len(uses) == 2 and all(use and use["cpu_share"] is not None for use in uses)
    return both and len(nodes["node-1"]["use"]["gpus"]) == 2


def test_every_node_says_how_much_of_it_is_in_use(at_work, nodes, capsys):
    link, pipe = at_work
    seen = seen_when(link, is_seen)
    for each in seen.values():
        assert 0 <= each["use"]["cpu_share"] <= 1
        assert 0 < each["use"]["memory_bytes"] < each["use"]["memory_total_bytes"]
    assert seen["local"]["use"]["gpus"] == []
    first, second = seen["node-1"]["use"]["gpus"]
    assert (first["index"], first["name"], first["share"]) == (0, "NVIDIA H100 80GB HBM3", 0.37)
    assert first["memory_bytes"] == 40960 * 2**20
    assert second["share"] == 0
    with asked(link, "metrics") as answer:
        text = answer.read().decode()
    assert re.search(r'headway_node_cpu_share\{node="node-1",host="[^"]+"\} [01]', text)
    assert re.search(r'headway_node_memory_bytes\{node="local",host="[^"]+"\} \d', text)
    assert re.search(r'headway_node_resource_free\{node="node-1",[^}]*resource="CPU"\} 0\n', text)
    assert re.search(r'headway_gpu_share\{node="node-1",[^}]*gpu="0",name="NVIDIA H100 80GB HBM3"\} 0\.37', text)
    # Other processes read what the driver writes after each change.
    run = os.path.join(nodes.script.storage, "run")
    pipe.write("go on\n")
    while run_files.read_status(run)["view"]["reports"]["count"] < 2:
        pass
    for command in (["nodes", run], ["top", run, "--once"]):
        assert main(command) == 0
        text = capsys.readouterr().out
        assert "CPUs at work" in text
        assert re.search(r"\d+ %  +[\d.]+ of [\d.]+ GB  +37 0 %  +43.0 of 171.0 GB", text), text

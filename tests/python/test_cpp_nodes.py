"""C++ programs whose ranks are on several machines: each has a network namespace, and the program
is its agent there.
"""

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path

import network
import pytest

import cluster

pytestmark = cluster.needs_tls

PROGRAMS = Path(__file__).parents[2] / "build/tests"


@pytest.fixture
def machines():
    """``machines(namespace, program, argument...)`` starts a program there."""
    with contextlib.ExitStack() as stack:
        try:
            lab = network.Lab(stack)
        except network.Unavailable as error:
            pytest.skip(str(error))
        lab.cable()

        def start(namespace, *command):
            process = namespace.inside(
                lambda: subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            )
            stack.callback(process.stdout.close)
            stack.callback(process.wait, 20)
            stack.callback(process.kill)
            return process

        start.lab = lab
        yield start
        assert lab.left() == {}


def address_of(driver):
    for line in driver.stdout:
        if line.startswith("JOIN "):
            return line.split()[1]
    raise AssertionError("the driver has ended")


def join(machines, program, address, token, *options):
    command = [PROGRAMS / program, "--headway-agent", "--join", address, "--token-file", token, *options]
    return [machines(cable.end, *command) for cable in machines.lab.cables]


def test_ranks_run_on_machines_where_the_program_is_started_as_agent(machines, tmp_path):
    token = tmp_path / "token"
    arguments = ["train", tmp_path / "storage", token, "10.77.0.1:0"]
    driver = machines(machines.lab.hub, PROGRAMS / "library_test_nodes", *arguments)
    labels = json.dumps({"zone": "a"})
    agents = join(machines, "library_test_nodes", address_of(driver), token, "--num-cpus", "1", "--labels", labels)
    output = driver.stdout.read()
    assert driver.wait(60) == 0, output
    for rank in range(2):
        assert f"(rank {rank}) rank {rank} is on node {rank} at 10.77.0." in output
    assert [agent.wait(20) for agent in agents] == [0, 0]
    assert token.stat().st_mode & 0o777 == 0o600


def test_each_machine_reads_its_own_rows_of_a_data_set(machines, tmp_path):
    files = tmp_path / "files"
    files.mkdir()
    for number in range(6):
        rows = "".join(f"{number * 8 + row}\n" for row in range(8))
        (files / f"{number}.csv").write_text("id\n" + rows)
    arguments = ["read", tmp_path / "storage", tmp_path / "token", "10.77.0.1:0", files]
    driver = machines(machines.lab.hub, PROGRAMS / "library_test_nodes", *arguments)
    join(machines, "library_test_nodes", address_of(driver), tmp_path / "token", "--num-cpus", "1")
    output = driver.stdout.read()
    assert driver.wait(60) == 0, output
    seen = [line.removeprefix("SEEN ") for line in output.splitlines() if line.startswith("SEEN ")]
    assert sorted(line.partition(":")[0] for line in seen) == ["node 0", "node 1"]
    steps = [line.partition(":")[2].split("|")[:-1] for line in seen]
    assert [len(each) for each in steps] == [6, 6]
    ids = [int(each) for rank in steps for step in rank for each in step.split()]
    assert sorted(ids) == list(range(48))
    assert ids != sorted(ids)


def test_a_process_group_of_torch_spans_machines(machines, tmp_path):
    pytest.importorskip("torch")
    token = tmp_path / "token"
    arguments = ["meet", tmp_path / "storage", "10.77.0.1:0", token]
    driver = machines(machines.lab.hub, PROGRAMS / "library_test_torch", *arguments)
    join(machines, "library_test_torch", address_of(driver), token, "--num-cpus", "1")
    output = driver.stdout.read()
    assert driver.wait(60) == 0, output
    (report,) = [json.loads(line.removeprefix("REPORT ")) for line in output.splitlines() if line.startswith("REPORT ")]
    assert [rank["sum"] for rank in report] == [2.0, 2.0]
    assert len({rank["ip"] for rank in report}) == 2


def test_what_init_refuses_is_named(tmp_path):
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "HEADWAY_PYTHON": "/none/python"}
    done = subprocess.run(
        [PROGRAMS / "library_test_nodes", "refuse"], env=environment, capture_output=True, text=True, timeout=60
    )
    lines = done.stdout.splitlines()
    assert done.returncode == 0, done.stderr
    words = [
        "num_cpus is -1",
        "listen is 'nowhere'",
        "node_lease_s is 0",
        'token_file is "/tmp/token" without listen; allowed: unset, or a path beside listen or engine',
        'token_file is "/proc/none/token", which cannot be made',
        'HEADWAY_PYTHON is "/none/python", which is no program',
        'HEADWAY_PYTHON is "/none/python"',
        'HEADWAY_PYTHON is "/none/python"',
        "dashboard is '80'; allowed: 1 (any free port), 0 (none) or a port from 1024 to 65535",
        'joins at: ""',
        "headway::init() was called when Headway was started already; allowed: once, before the first run",
    ]
    assert len(lines) == len(words)
    for line, start in zip(lines, words, strict=True):
        assert line.startswith(start), line


def test_python_checks_the_arguments_of_an_engine(tmp_path):
    environment = {**os.environ, "HOME": str(tmp_path), "HEADWAY_PYTHON": sys.executable}
    command = [PROGRAMS / "library_test_nodes", "train", tmp_path / "storage", tmp_path / "token", "127.0.0.1:0"]
    for engine, options, words in (
        ("slurmm", {}, "address is 'slurmm'; allowed: "),
        ("slurm", {"partitions": "x"}, "did you mean 'partition'?"),
        ("slurm", {"nodes": 0}, "nodes is 0; allowed: a number of nodes"),
    ):
        done = subprocess.run(
            [*command, engine, json.dumps(options)], env=environment, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 1
        assert words in done.stderr

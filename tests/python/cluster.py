"""Drivers that other nodes join, and agents that do: real processes on this machine, which is many
machines to them.
"""

import contextlib
import json
import os
import queue
import re
import select
import signal
import socket
import subprocess
import sys
import threading
import time

import processes
import pytest
from headway import _core

LEASE_S = 2
RECEIVED_MAX = 65536  # Bytes that a proxy's socket holds, as a link that is slow holds few.

needs_tls = pytest.mark.skipif(not _core.nodes_can_join, reason="the build has no OpenSSL")

# The beginning of a driver's script: it says where nodes join.
DRIVER = """
    import os, tempfile, threading, time
    import headway
    from headway import train

    headway.init(listen=LISTEN, token_file=TOKEN, num_cpus=1, node_lease_s=LEASE)
    print("JOIN", headway.join_address(), flush=True)

    def wait_for_nodes(count):
        while len(headway.nodes()) < count:
            threading.Event().wait(0.02)
        print("NODES", len(headway.nodes()), flush=True)

    def save(text):
        directory = tempfile.mkdtemp()
        with open(os.path.join(directory, "text"), "w") as file:
            file.write(text)
        return train.Checkpoint.from_directory(directory)

    def fit(loop, workers, **options):
        options.setdefault("failure_config", train.FailureConfig(max_failures=3))
        return train.DataParallelTrainer(
            loop,
            scaling_config=train.ScalingConfig(num_workers=workers, resources_per_worker={"CPU": 1}),
            run_config=train.RunConfig(name="run", **options),
        ).fit()
"""

# More of a script: steps that are saved and resumed from, and a run in a group of any size.
STEPS = """
    import json

    def save_step(step):
        directory = tempfile.mkdtemp()
        with open(os.path.join(directory, "step"), "w") as file:
            file.write(str(step))
        return train.Checkpoint.from_directory(directory)

    def first_step():
        checkpoint = train.get_checkpoint()
        if checkpoint is None:
            return 0
        with checkpoint.as_directory() as directory, open(os.path.join(directory, "step")) as file:
            return int(file.read()) + 1

    def run(loop, workers, interval=0.0, **failures):
        return train.DataParallelTrainer(
            loop,
            scaling_config=train.ScalingConfig(
                num_workers=workers, resources_per_worker={"CPU": 1}, elastic_resize_monitor_interval_s=interval
            ),
            run_config=train.RunConfig(
                name="run", storage_path=STORAGE, failure_config=train.FailureConfig(**failures)
            ),
        ).fit()

    def reports():
        return [json.loads(line) for line in open(os.path.join(STORAGE, "run", "result.json"))]
"""


class Agent:
    """A ``headway-agent`` process; its standard error is read as it comes."""

    def __init__(self, script, token, address, *options, prefix=()):
        self.process = subprocess.Popen(
            [*prefix, sys.executable, "-m", "headway.agent", "--join", address, "--token-file", str(token), *options],
            env=script._environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self.said = ""

    def wait_for(self, pattern, limit_s=30):
        """Until it has said what the pattern finds; the match."""
        deadline = time.monotonic() + limit_s
        while (match := re.search(pattern, self.said)) is None:
            ready, _, _ = select.select([self.process.stderr], [], [], max(0, deadline - time.monotonic()))
            assert ready, f"the agent did not say {pattern!r} but:\n{self.said}"
            more = os.read(self.process.stderr.fileno(), 4096).decode()
            assert more, f"the agent has ended without {pattern!r}:\n{self.said}"
            self.said += more
        return match

    def join(self):
        """Waits until it has joined; its node's id."""
        return self.wait_for(r"joined \S+ as (\S+) with")[1]

    def end(self, limit_s=30):
        """Waits for its end; the exit code."""
        code = self.process.wait(limit_s)
        self.said += self.process.stderr.read().decode()
        return code

    def signal(self, number):
        os.kill(self.process.pid, number)

    def close(self):
        if self.process.poll() is None:
            os.kill(self.process.pid, signal.SIGCONT)
            self.process.kill()
            self.process.wait(10)
        self.process.stderr.close()


class Proxy:
    """A connection between an agent and its driver that can be cut: it is there, and nothing passes
    any more.

    What passes takes ``delay_s`` longer each way, and no more than ``rate`` bytes pass in a second.
    """

    def __init__(self, address):
        host, port = address.rsplit(":", 1)
        self.target = (host, int(port))
        self.server = socket.create_server(("127.0.0.1", 0))
        self.server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVED_MAX)
        self.address = f"127.0.0.1:{self.server.getsockname()[1]}"
        self.open = threading.Event()
        self.open.set()
        self.closed = threading.Event()
        self.delay_s = 0.0
        self.rate = None
        self.sockets = []
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                near, _ = self.server.accept()
            except OSError:
                return
            far = socket.socket()
            far.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVED_MAX)
            far.connect(self.target)
            self.sockets += [near, far]
            for one, other in ((near, far), (far, near)):
                under_way = queue.SimpleQueue()
                threading.Thread(target=self._take, args=(one, under_way), daemon=True).start()
                threading.Thread(target=self._give, args=(under_way, other), daemon=True).start()

    def _take(self, one, under_way):
        data = b"more"
        while data:
            try:
                data = one.recv(65536 if self.rate is None else 16384)
            except OSError:
                data = b""
            under_way.put((time.monotonic() + self.delay_s, data))
            if self.rate is not None:
                self.closed.wait(len(data) / self.rate)

    def _give(self, under_way, other):
        with contextlib.suppress(OSError):
            while (arrival := under_way.get())[1]:
                self.closed.wait(max(0, arrival[0] - time.monotonic()))
                self.open.wait()
                other.sendall(arrival[1])
            self.open.wait()
            other.shutdown(socket.SHUT_WR)

    def cut(self):
        self.open.clear()

    def mend(self):
        self.open.set()

    def close(self):
        for each in [self.server, *self.sockets]:
            each.close()
        self.closed.set()
        self.open.set()


def journal_of(tmp_path):
    """What is written of the run of `Nodes.start_steps`."""
    return json.loads((tmp_path / "storage" / "run" / "run.json").read_text())


class Nodes:
    """A driver's script, and the agents that are to join it."""

    def __init__(self, script, token, stack):
        self.script = script
        self.token = token
        self.stack = stack

    def start(self, code, lease_s=LEASE_S, host="127.0.0.1", **env):
        names = f"    TOKEN, LEASE, LISTEN = {str(self.token)!r}, {lease_s}, '{host}:0'\n"
        self.script.start(names + DRIVER + code, **env)
        self.address = re.search(r"JOIN (\S+)", self.script.wait_for("JOIN"))[1]

    def start_steps(self, tmp_path, code):
        """A script that has STEPS too, and stores its run in the test's folder."""
        self.start(STEPS.replace("STORAGE", repr(str(tmp_path / "storage"))) + code)

    def agent(self, *options, address=None, prefix=()):
        agent = Agent(self.script, self.token, address or self.address, "--num-cpus", "1", *options, prefix=prefix)
        self.stack.callback(agent.close)
        return agent

    def proxy(self):
        return self.stack.enter_context(contextlib.closing(Proxy(self.address)))

    def left(self):
        return processes.wait_gone(self.script.processes, 10)

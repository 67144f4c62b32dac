"""A Ray cluster in a separate network, and drivers beside it: ray_cluster.py or ray_autoscaling.py
is the cluster's program.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import processes
from network import Namespace

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".venv-ray" / "bin" / "python"
LEASE_S = 3

# The beginning of a driver's script.
DRIVER = """
    import json, os, signal, tempfile, threading
    import headway
    from headway import train, tune

    headway.init(
        {address!r}, bridge_python={bridge!r}, python={python!r}, listen="127.0.0.1:0", token_file={token!r},
        node_lease_s={lease}, **{options!r}
    )
    print("STARTED", flush=True)

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

    def fit(loop, workers=3, strategy="STRICT_SPREAD", interval=0.0, config=None, **failures):
        failures.setdefault("max_failures", 3)
        return train.DataParallelTrainer(
            loop,
            train_loop_config=config,
            scaling_config=train.ScalingConfig(
                num_workers=workers, placement_strategy=strategy, elastic_resize_monitor_interval_s=interval
            ),
            run_config=train.RunConfig(name="run", failure_config=train.FailureConfig(**failures)),
        ).fit()
"""


class Lab:
    """A cluster whose head has no CPUs, and nodes with one each."""

    def __init__(self, nodes, client_port=0, program="ray_cluster.py"):
        self.network = Namespace()
        self.network.configure(lambda routes: routes.link("set", index=1, state="up"))
        command = [PYTHON, Path(__file__).with_name(program), "0", str(client_port)]
        self.process = self.inside(
            lambda: subprocess.Popen(
                command,
                env={**os.environ, "RAY_raylet_start_wait_time_s": "120", "RAY_AUTH_MODE": "disabled"},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        )
        self.address = self._answer()["address"]
        self.nodes = [self.ask("add", num_cpus=1) for _ in range(nodes)]

    def inside(self, function):
        return self.network.inside(function)

    def _answer(self):
        line = self.process.stdout.readline()
        assert line, "the cluster has ended"
        return json.loads(line)

    def ask(self, what, **options):
        """See ray_cluster.py."""
        self.process.stdin.write(json.dumps({"do": what, **options}) + "\n")
        self.process.stdin.flush()
        return self._answer()

    def driver(self, script, code, address=None, env=None, **options):
        """Starts a driver's script."""
        start = DRIVER.format(
            address=address or self.address,
            bridge=str(PYTHON),
            python=sys.executable,
            token=str(script.folder / "token"),
            lease=LEASE_S,
            options=options,
        )
        self.inside(lambda: script.start(start + code, **(env or {})))
        script.wait_for("STARTED")

    def find(self, *words):
        """Processes of the network with one of these words in their command lines."""
        return {pid: line for pid, line in self.network.processes().items() if any(word in line for word in words)}

    def agents(self):
        """Agents: pid → Ray's id of their node."""
        found = {}
        for pid, line in self.find("headway.agent").items():
            if " -S -c " not in line:  # Its guard has it in its command line, too.
                found[pid] = json.loads(line.partition("--labels ")[2])["ray.io/node-id"]
        return found

    def left(self):
        """What there is of a driver and its nodes."""
        words = ("headway.agent", "headway._engines", "headway-guard", "headway: ", "ray::Launcher", "script.py")
        return processes.wait_gone(lambda: self.find(*words), 20)

    def close(self):
        self.process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(30)
        for pid in self.network.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.stdout.close()
        self.process.wait(10)
        self.network.close()

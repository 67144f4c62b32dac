"""What serves the page in tests: ``headway dashboard`` over recorded runs, and a driver at work."""

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


class Site:
    """A process that serves the page, and prints its address as the last word of a line."""

    def __init__(self, *command, **environment):
        self.process = subprocess.Popen(
            [sys.executable, *command],
            env=os.environ | environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        line = self.process.stdout.readline()
        assert "?token=" in line, line
        self.link = line.split()[-1]
        self.url = self.link.partition("?token=")[0]
        self.signed_in = None  # What a browser keeps once it has had the link.

    def die(self):
        self.process.kill()
        self.process.wait()

    def close(self):
        if self.process.poll() is None:
            self.die()
        self.process.stdin.close()
        self.process.stdout.close()


def path_with_gpus(folder):
    """A PATH with a program that says what that of NVIDIA says of two GPUs."""
    stand_in = folder / "nvidia-smi"
    lines = "0, NVIDIA H100 80GB HBM3, 37, 40960, 81559\n1, NVIDIA H100 80GB HBM3, 0, 4, 81559"
    stand_in.write_text(f"#!/bin/sh\nexec yes '{lines}'\n")
    stand_in.chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


def of_folder(folder, *options):
    return Site("-m", "headway", "dashboard", str(folder), *options)


class Live(Site):
    """A driver whose run of two ranks reports once for each line that the test gives to rank 1."""

    def __init__(self, folder, **environment):
        pipe = folder / "lines"
        os.mkfifo(pipe)
        super().__init__(str(HERE / "live_run.py"), str(folder), str(pipe), **environment)
        self.address = self.process.stdout.readline().strip()
        self.token_file = folder / "token"
        self.agents = []
        self.lines = pipe.open("w")

    def join(self, *options, **environment):
        """One more node, which is this machine too."""
        command = [sys.executable, "-m", "headway.agent", "--join", self.address, "--token-file", str(self.token_file)]
        environment = os.environ | environment
        self.agents.append(subprocess.Popen([*command, *options], env=environment, stderr=subprocess.DEVNULL))

    def report(self, line):
        self.lines.write(f"{line}\n")
        self.lines.flush()

    def close(self):
        super().close()
        self.lines.close()
        for agent in self.agents:
            agent.wait(30)

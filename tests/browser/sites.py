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


def of_folder(folder, *options):
    return Site("-m", "headway", "dashboard", str(folder), *options)


class Live(Site):
    """A driver whose run of two ranks reports once for each line that the test gives to rank 1."""

    def __init__(self, folder, **environment):
        pipe = folder / "lines"
        os.mkfifo(pipe)
        super().__init__(str(HERE / "live_run.py"), str(folder), str(pipe), **environment)
        self.lines = pipe.open("w")

    def report(self, line):
        self.lines.write(f"{line}\n")
        self.lines.flush()

    def close(self):
        super().close()
        self.lines.close()

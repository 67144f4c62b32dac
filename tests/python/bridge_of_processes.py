"""A bridge for tests: its nodes are agents on this machine, one for each worker that is wanted."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time

from headway._engines.protocol import ALLOCATION_LABEL, PROVIDER_LABEL, Engine


class ProcessEngine(Engine):
    """Notes each call in the file ``notes``. Agents outlive the bridge, and the next one finds them
    by their files in ``folder``.
    """

    tick_s = 0.05

    def open(self, site):
        self.site = site
        self.folder = site.options["folder"]
        self.up = set()
        self.note("open", os.getpid())
        print("a library prints this")  # Not among the messages.
        site.ready()

    def note(self, *what):
        with open(os.path.join(self.folder, "notes"), "a") as file:
            print(*what, file=file)

    def allocations(self):
        """Process numbers by allocation."""
        found = {}
        for name in os.listdir(self.folder):
            if name.startswith("a-"):
                with open(os.path.join(self.folder, name)) as file, contextlib.suppress(ValueError):
                    found[name] = int(file.read())
        return found

    def want(self, parts, could_use):
        wanted = sum(part["times"] * part["workers_max"] for part in parts)
        self.note("want", wanted)
        have = self.allocations()
        if wanted > self.site.options["most"]:
            self.site.warn(f"{wanted} nodes are wanted; there are {self.site.options['most']}")
        for _ in range(min(wanted, self.site.options["most"]) - len(have)):
            self.start_agent()

    def start_agent(self):
        name = f"a-{time.monotonic_ns()}"
        labels = {PROVIDER_LABEL: self.site.provider, ALLOCATION_LABEL: name}
        command = [sys.executable, "-m", "headway.agent", "--join", self.site.join, "--num-cpus", "1"]
        command += ["--token-file", self.site.token_file, "--labels", json.dumps(labels)]
        agent = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        with open(os.path.join(self.folder, name), "w") as file:
            file.write(str(agent.pid))

    def joined(self, allocation, node):
        self.up.add(allocation)
        self.note("joined", len(self.up))

    def give_back(self, allocation):
        self.note("give_back")
        self.end(allocation)

    def left(self, allocation):
        self.up.discard(allocation)
        self.note("left")
        self.end(allocation)

    def end(self, allocation):
        pid = self.allocations().get(allocation)
        if pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGINT)
            os.remove(os.path.join(self.folder, allocation))

    def close(self):
        for allocation in self.allocations():
            self.end(allocation)
        self.note("closed")

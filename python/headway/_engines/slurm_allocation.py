"""The job of Slurm's that the driver runs in: an agent on each of its nodes, as a step of the
job.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from headway._engines.protocol import Site
from headway._engines.slurm_commands import Slurm, SlurmError, reason

_PAUSE_FIRST_S, _PAUSE_MAX_S = 1.0, 60.0
# What a step may take to end by itself.
_END_S = 3.0
_WORDS_MAX = 20_000


@dataclass
class Step:
    """An agent on a node.

    Attributes:
        allocation: As the driver names it.
        node: The node's name in Slurm.
        process: Its srun; None: a bridge before this one has started it.
        ends_at: When it is ended, as it has not ended by itself; None: it goes on.
        said: The end of what it has written.
    """

    allocation: str
    node: str
    process: subprocess.Popen[bytes] | None
    ends_at: float | None = None
    is_up: bool = False
    was_up: bool = False
    said: bytes = field(default=b"", repr=False)

    def hear(self) -> None:
        """Takes what it has written."""
        if self.process is None or self.process.stderr is None:
            return
        with contextlib.suppress(BlockingIOError):
            while more := os.read(self.process.stderr.fileno(), 65536):
                self.said = (self.said + more)[-_WORDS_MAX:]


class OwnAllocation:
    """See :class:`~headway._engines.protocol.Engine`. All nodes are there from the start: they are
    the job's already.
    """

    def __init__(self, site: Site, slurm: Slurm, script: str) -> None:
        self._site = site
        self._slurm = slurm
        self._script = script
        self._job = os.environ["SLURM_JOB_ID"]
        self._name = f"headway-{site.provider}"
        self._steps: dict[str, Step] = {}
        self._made = 0
        self._pause_s: dict[str, float] = {}
        self._start_at: dict[str, float] = {}
        self._wanted = True
        self._cpus = self._cpus_by_node()
        self._adopt()
        self._settle()

    def want(self, parts: list[dict[str, Any]], could_use: list[dict[str, Any]]) -> None:
        self._wanted = bool(parts or could_use)
        self._settle()

    def joined(self, allocation: str) -> None:
        node = allocation.partition("/")[0]
        step = self._steps.setdefault(allocation, Step(allocation, node, None))
        step.is_up = step.was_up = True
        self._pause_s.pop(node, None)

    def give_back(self, allocation: str) -> None:
        """The driver has dismissed the agent."""
        if (step := self._steps.get(allocation)) is not None:
            step.ends_at = time.monotonic() + _END_S

    def left(self, allocation: str) -> None:
        """An agent whose driver has lost it is of no use."""
        if (step := self._steps.get(allocation)) is not None:
            step.is_up = False
            self._end(step)
            if step.process is None:
                del self._steps[allocation]
            self._settle()

    def tick(self) -> None:
        self._settle()

    def close(self) -> None:
        """The driver has dismissed the agents."""
        deadline = time.monotonic() + _END_S
        for step in self._steps.values():
            if step.process is not None:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    step.process.wait(max(0.0, deadline - time.monotonic()))
        for step in self._steps.values():
            self._kill(step)

    def _cpus_by_node(self) -> dict[str, int]:
        try:
            names = self._slurm.run(["scontrol", "show", "hostnames", os.environ["SLURM_JOB_NODELIST"]]).split()
        except (KeyError, SlurmError) as error:
            self._site.failed(f"the nodes of job {self._job} are not known: {error}")
            return {}
        cpus = list(counts(os.environ.get("SLURM_JOB_CPUS_PER_NODE", "")))
        return dict(zip(names, [*cpus, *[0] * len(names)], strict=False))

    def _adopt(self) -> None:
        """Steps that a bridge before this one has started."""
        with contextlib.suppress(SlurmError):
            for line in self._slurm.run(["squeue", f"--jobs={self._job}", "--steps", "-h", "-o", "%j"]).splitlines():
                name, _, allocation = line.strip().partition(":")
                if name == self._name and allocation:
                    self._steps[allocation] = Step(allocation, allocation.partition("/")[0], None)
                    self._made += 1

    def _settle(self) -> None:
        now = time.monotonic()
        for step in list(self._steps.values()):
            step.hear()
            if step.process is not None and step.process.poll() is not None:
                self._ended(step)
            elif step.ends_at is not None and now >= step.ends_at:
                self._kill(step)
        if not self._wanted:
            return
        busy = {step.node for step in self._steps.values()}
        for node in self._cpus:
            if node not in busy and now >= self._start_at.get(node, 0.0):
                self._start(node)

    def _start(self, node: str) -> None:
        self._made += 1
        allocation = f"{node}/{os.getpid()}-{self._made}"
        command = ["srun", f"--jobid={self._job}", "--nodes=1", "--ntasks=1", f"--nodelist={node}", "--overlap"]
        command += [f"--job-name={self._name}:{allocation}", "--cpu-bind=none", "--input=none", "--export=ALL"]
        command += [f"--cpus-per-task={self._cpus[node]}"] if self._cpus[node] else []
        environment = {name: value for name, value in os.environ.items() if not _is_of_a_task(name)}
        process = subprocess.Popen(
            [*command, "/bin/sh", "-c", self._script, "agent", allocation],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        assert process.stderr is not None
        os.set_blocking(process.stderr.fileno(), False)
        self._steps[allocation] = Step(allocation, node, process)

    def _ended(self, step: Step) -> None:
        step.hear()
        del self._steps[step.allocation]
        if step.process is not None and step.process.stderr is not None:
            step.process.stderr.close()
        pause_s = 0.0
        if not step.was_up and step.ends_at is None:
            pause_s = min(max(2 * self._pause_s.get(step.node, 0.0), _PAUSE_FIRST_S), _PAUSE_MAX_S)
            words = reason(step.said.decode(errors="replace")) or "it has written nothing"
            self._site.warn(f"an agent on {step.node} has ended before it joined: {words}")
        self._pause_s[step.node] = pause_s
        self._start_at[step.node] = time.monotonic() + pause_s

    def _end(self, step: Step) -> None:
        """The second SIGTERM ends an agent at once, the first one may be the notice of a
        preemption.
        """
        if step.ends_at is None:
            step.ends_at = time.monotonic() + _END_S
            for _ in range(2):
                self._signal(step, signal.SIGTERM)

    def _kill(self, step: Step) -> None:
        self._signal(step, signal.SIGKILL)

    def _signal(self, step: Step, number: signal.Signals) -> None:
        """Srun hands signals on; the step of another bridge is named to Slurm."""
        if step.process is not None:
            if step.process.poll() is None:
                step.process.send_signal(number)
            return
        with contextlib.suppress(SlurmError):
            for line in self._slurm.run(
                ["squeue", f"--jobs={self._job}", "--steps", "-h", "-o", "%i|%j"], ends=True
            ).splitlines():
                number_of_step, _, name = line.partition("|")
                if name == f"{self._name}:{step.allocation}":
                    how = "INT" if number == signal.SIGTERM else "KILL"
                    self._slurm.run(["scancel", "--quiet", f"--signal={how}", number_of_step], ends=True)


def _is_of_a_task(name: str) -> bool:
    """Whether a variable tells what the driver's own step or script has, which srun would take as
    options.
    """
    return bool(
        re.fullmatch(r"SLURM_(NTASKS|NPROCS|NNODES|CPUS_PER_TASK|NTASKS_PER_NODE|DISTRIBUTION|CPU_BIND.*)", name)
    )


def counts(text: str) -> Iterator[int]:
    """``"2(x3),4"`` as 2, 2, 2, 4."""
    for count, times in re.findall(r"(\d+)(?:\(x(\d+)\))?", text):
        yield from [int(count)] * int(times or 1)

"""Jobs of one node each, in which an agent runs: submitted when nodes are wanted, and cancelled
when they are not.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from headway._engines.demand import Shape, needed
from headway._engines.protocol import Site
from headway._engines.slurm_commands import Job, Slurm, SlurmError

# Between two looks at the queue, while something is expected, and else.
_LOOK_FIRST_S, _LOOK_MAX_S, _LOOK_IDLE_S = 0.5, 10.0, 60.0
# Between two tries to submit, after one has failed or its job has ended without joining.
_PAUSE_FIRST_S, _PAUSE_MAX_S = 1.0, 60.0
# So long after its agent was dismissed, a job that is still there is cancelled.
_END_S = 3.0
# The reasons of the first seconds say nothing.
_NO_REASON = ("None", "", "(null)")


@dataclass
class Pilot:
    """A job of one node, by its number.

    Attributes:
        seen: As the queue had it; None: not yet.
        is_up: Its agent has joined, and is connected.
        was_up: It has joined before.
        ends_at: It is to be ended; when it is cancelled, if it has not.
    """

    id: str
    seen: Job | None = None
    is_up: bool = False
    was_up: bool = False
    ends_at: float | None = None

    @property
    def counts(self) -> bool:
        """Whether it is, or may become, a node."""
        return self.ends_at is None

    @property
    def waits(self) -> bool:
        """Whether Slurm has not granted it."""
        return not self.is_up and self.seen is not None and self.seen.state == "PENDING"


class Pilots:
    """Those of one pool: all alike. See :class:`~headway._engines.protocol.Engine`."""

    def __init__(self, site: Site, slurm: Slurm, script: str, pool: str, options: Mapping[str, Any]) -> None:
        self._site = site
        self._slurm = slurm
        self._script = script
        self._options = options
        self.pool = pool
        self._name = f"headway-{site.provider}" + (f"-{pool}" if pool else "")
        self._logs = os.path.join(os.path.dirname(site.token_file), "slurm", self._name.removeprefix("headway-"))
        self._most = options["nodes"][1]
        self._pilots: dict[str, Pilot] = {}
        self._least = options["nodes"][0]  # Until something is wanted.
        self._parts: list[dict[str, Any]] = []
        self._could_use: list[dict[str, Any]] = []
        self._base = 0
        self._failed = False
        self._has_arrays = True
        self._pause_s = 0.0
        self._submit_at = 0.0
        self._look_s = _LOOK_FIRST_S
        self._look_at = 0.0
        self._shape: Shape | None = None
        os.makedirs(self._logs, mode=0o700, exist_ok=True)
        self._look()
        self._settle()

    def want(self, parts: list[dict[str, Any]], could_use: list[dict[str, Any]], *, begins: bool) -> None:
        """The pool's part of the demand; ``begins``: something is wanted, of whichever pool."""
        if begins:
            self._least = 0
        if could_use != self._could_use:
            self._base = sum(pilot.is_up for pilot in self._pilots.values())
        self._parts, self._could_use = parts, could_use
        self._look_soon()
        self._settle()

    @property
    def shape(self) -> Shape:
        """What a node has. Slurm is asked once."""
        if self._shape is None:
            self._shape = self._find_shape()
        return self._shape

    def has(self, allocation: str) -> bool:
        """Whether a job is one of these."""
        return allocation in self._pilots

    def joined(self, allocation: str) -> None:
        pilot = self._pilots.setdefault(allocation, Pilot(allocation))
        pilot.is_up = pilot.was_up = True
        self._pause_s = 0.0

    def give_back(self, allocation: str) -> None:
        """The driver has dismissed the agent, and the job ends with it: it is cancelled when it has
        not ended by then.
        """
        if (pilot := self._pilots.get(allocation)) is not None:
            pilot.ends_at = time.monotonic() + _END_S

    def left(self, allocation: str) -> None:
        """A job whose agent is gone, or stands still, is of no use."""
        pilot = self._pilots.get(allocation)
        if pilot is None:
            return
        pilot.is_up = False
        self._look()
        if pilot.counts and pilot.id in self._pilots and pilot.seen is not None and pilot.seen.state != "PENDING":
            pilot.ends_at = time.monotonic()
        self._look_soon()
        self._settle()

    def tick(self) -> None:
        if self._pilots and time.monotonic() >= self._look_at:
            self._look()
        self._settle()

    def close(self) -> None:
        """The agents have been dismissed by the driver; what waits, or did not hear it, is
        cancelled.
        """
        try:
            self._slurm.cancel([*self._pilots])
        except SlurmError as error:
            self._site.warn(f"jobs of Slurm's named {self._name} are left, and end when they start: {error}")
        if not self._failed:
            shutil.rmtree(self._logs, ignore_errors=True)

    def _settle(self) -> None:
        """Submits what is missing, cancels what waits for nothing, ends what is to end."""
        now = time.monotonic()
        late = [pilot for pilot in self._pilots.values() if pilot.ends_at is not None and now >= pilot.ends_at]
        if late:
            self._cancel(late)
        target = self._target()
        supply = [pilot for pilot in self._pilots.values() if pilot.counts]
        if len(supply) > target:
            # Those that Slurm has granted join, and are given back when nobody uses them.
            waiting = [pilot for pilot in supply if pilot.waits]
            self._cancel(waiting[-(len(supply) - target) :])
        elif len(supply) < target and now >= self._submit_at:
            self._submit(target - len(supply))

    def _target(self) -> int:
        if not self._parts and not self._could_use:
            return self._least
        nodes = needed(self._parts, self.shape)
        more = needed(self._could_use, self.shape)
        if nodes > self._most:
            self._site.warn(
                f"{nodes} nodes{f' of {self.pool}' if self.pool else ''} are wanted, and "
                f"nodes=({self._options['nodes'][0]}, {self._most})"
            )
        return min(max(nodes, self._base + more if more else 0), self._most)

    def _find_shape(self) -> Shape:
        options = self._options
        cpus = options["cpus"] or self._slurm.cpus_of_nodes(options["partition"])
        resources = {"CPU": float(cpus or 1), "GPU": float(options["gpus"] or 0)}
        unknown = frozenset() if cpus else frozenset({"CPU"})
        return Shape({**resources, **options["resources_per_node"]}, unknown, options["node_labels"])

    def _submit(self, count: int) -> None:
        try:
            if count > 1 and self._has_arrays:
                number = self._slurm.submit([f"--array=0-{count - 1}", *self._arguments("%A_%a")], self._script)
                new = [f"{number}_{index}" for index in range(count)]
            else:
                new = [self._slurm.submit(self._arguments("%j"), self._script)]
        except SlurmError as error:
            if count > 1 and self._has_arrays and "array" in str(error).lower():
                self._has_arrays = False
                return
            self._site.warn(f"Slurm refuses the job: {error}")
            self._pause()
            return
        self._pilots.update({each: Pilot(each) for each in new})
        self._look_soon()

    def _arguments(self, number: str) -> list[str]:
        options = self._options
        arguments = [
            f"--job-name={self._name}",
            "--nodes=1",
            "--ntasks=1",
            f"--output={self._logs}/{number}.log",
            "--open-mode=append",
            f"--signal=B:TERM@{self._site.options['notice_s']}",
            "--no-requeue",
            f"--chdir={self._site.options['directory']}",
        ]
        arguments += [f"--{name}={options[name]}" for name in ("partition", "account", "qos", "time") if options[name]]
        cpus = options["cpus_per_node"]
        arguments += [f"--cpus-per-task={cpus}"] if cpus else [] if options["cpus"] else ["--exclusive"]
        if options["gpus_per_node"]:
            arguments.append(f"--gres=gpu:{options['gpus_per_node']}")
        return [*arguments, *options["sbatch_args"]]

    def _pause(self) -> None:
        self._pause_s = min(max(2 * self._pause_s, _PAUSE_FIRST_S), _PAUSE_MAX_S)
        self._submit_at = time.monotonic() + self._pause_s

    def _look_soon(self) -> None:
        self._look_s = _LOOK_FIRST_S
        self._look_at = min(self._look_at, time.monotonic() + self._look_s)

    def _look(self) -> None:
        """What the queue has."""
        try:
            jobs = {job.id: job for job in self._slurm.jobs(self._name)}
        except SlurmError as error:
            self._site.warn(f"Slurm does not say what its queue has: {error}; nodes that have joined go on")
            self._look_at = time.monotonic() + _LOOK_MAX_S
            return
        for pilot in list(self._pilots.values()):
            job = jobs.pop(pilot.id, None)
            if job is None:
                del self._pilots[pilot.id]
                if not pilot.was_up and pilot.counts:
                    self._tell_end(pilot)
                continue
            if pilot.is_up and job.state == "PENDING":
                # Requeued, while its agent runs on without the job: that one ends with its slurmd.
                pilot.ends_at = time.monotonic()
            pilot.seen = job
        for job in jobs.values():  # Of a bridge before this one.
            self._pilots[job.id] = Pilot(job.id, job)
        self._tell_waiting()
        is_quiet = all(pilot.is_up for pilot in self._pilots.values())
        self._look_s = _LOOK_IDLE_S if is_quiet else min(1.5 * self._look_s, _LOOK_MAX_S)
        self._look_at = time.monotonic() + self._look_s

    def _tell_waiting(self) -> None:
        waiting = [pilot.seen for pilot in self._pilots.values() if pilot.waits and pilot.counts and pilot.seen]
        reasons = dict.fromkeys(job.reason for job in waiting if job.reason not in _NO_REASON)
        if reasons and (self._parts or self._least):
            jobs = f"job {waiting[0].id}" if len(waiting) == 1 else f"{len(waiting)} jobs"
            self._site.warn(
                f"Slurm has not granted {jobs} yet: {', '.join(reasons)} (squeue --name={self._name} shows more)"
            )

    def _tell_end(self, pilot: Pilot) -> None:
        """A job that has ended without having joined."""
        self._failed = True
        path = os.path.join(self._logs, f"{pilot.id}.log")
        words = "it has written nothing"
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                lines = [line.strip() for line in file if line.strip()]
            words = lines[-1] if lines else words
        except OSError:
            words = f"{path} cannot be read; allowed is a token_file in a folder that all nodes share"
        self._site.warn(f"a job of Slurm's has ended before its node joined: {words}")
        self._pause()

    def _cancel(self, pilots: list[Pilot]) -> None:
        if not pilots:
            return
        for pilot in pilots:
            pilot.ends_at = time.monotonic() + 10 * _END_S
        try:
            self._slurm.cancel([pilot.id for pilot in pilots])
        except SlurmError as error:
            self._site.warn(f"Slurm does not cancel a job: {error}")
        self._look_soon()

"""Slurm by its own commands."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import threading
from collections.abc import Sequence
from dataclasses import dataclass

_LIMIT_S = 20.0


class SlurmError(Exception):
    """A command of Slurm's has failed; in its own words."""


@dataclass(frozen=True)
class Job:
    """A job, or one of an array, as ``squeue`` lists it.

    Attributes:
        id: ``"12"``, or ``"12_3"``.
        state: ``"PENDING"``, ``"RUNNING"``, ...
        reason: Why it waits.
    """

    id: str
    state: str
    reason: str


class Slurm:
    """Runs commands, and gives up when ``closing`` is set (except what ends jobs) or after 20
    seconds.
    """

    def __init__(self, closing: threading.Event) -> None:
        self._closing = closing

    def run(self, command: Sequence[str], text: str = "", *, ends: bool = False) -> str:
        """What a command prints.

        Raises:
            SlurmError: it has failed, or does not answer.
        """
        try:
            process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
            )
        except OSError as error:
            raise SlurmError(f"{command[0]} cannot be run: {error.strerror}") from None
        waited_s, step_s = 0.0, 0.25
        given: str | None = text
        while True:
            try:
                output, errors = process.communicate(given, timeout=step_s)
                break
            except subprocess.TimeoutExpired:
                given = None
                waited_s += step_s
                if waited_s >= _LIMIT_S or (self._closing.is_set() and not ends):
                    process.kill()
                    process.communicate()
                    raise SlurmError(f"{command[0]} does not answer") from None
        if process.returncode != 0:
            raise SlurmError(reason(errors) or f"{command[0]} has ended with exit code {process.returncode}")
        return output

    def submit(self, arguments: Sequence[str], script: str) -> str:
        """The number of a new job."""
        output = self.run(["sbatch", "--parsable", *arguments], script)
        return output.strip().partition(";")[0]

    def jobs(self, name: str) -> list[Job]:
        """One's own jobs of a name that wait, run, or are about to end."""
        output = self.run(["squeue", f"--user={os.getuid()}", f"--name={name}", "--array", "-h", "-o", "%i|%T|%r"])
        return [Job(*line.split("|", 2)) for line in output.splitlines() if line.count("|") >= 2]

    def cancel(self, jobs: Sequence[str]) -> None:
        """Ends jobs."""
        if jobs:
            self.run(["scancel", "--quiet", *jobs], ends=True)

    def cpus_of_nodes(self, partition: str | None) -> int | None:
        """The least CPUs that a node has; None: unknown."""
        where = [f"--partition={partition}"] if partition else []
        try:
            output = self.run(["sinfo", "-h", "-N", "-o", "%c", *where])
        except SlurmError:
            return None
        return min((int(line) for line in output.split() if line.isdigit()), default=None)


def reason(errors: str) -> str:
    """The last words of a command that has failed, without the command's name."""
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    text = re.sub(r"^\w+: (error: |fatal: )?", "", lines[-1]) if lines else ""
    return text.removeprefix("Batch job submission failed: ").removeprefix("Unable to allocate resources: ")


def agent_script(command: Sequence[str], setup: str, labels: tuple[str, str]) -> str:
    """A shell script that becomes an agent. It offers the CPUs and GPUs that Slurm has given it,
    and its workers do not see what else Slurm says to tasks: some libraries would take themselves
    for tasks of Slurm's.

    Args:
        command: Starts the agent, without its labels.
        setup: Lines that come first.
        labels: The text before and after its allocation in its labels: its first argument, else the
            number of its job.
    """
    before, after = (shlex.quote(text) for text in labels)
    return f"""#!/bin/sh
{setup}
allocation=${{1:-${{SLURM_ARRAY_JOB_ID:+${{SLURM_ARRAY_JOB_ID}}_}}${{SLURM_ARRAY_TASK_ID:-$SLURM_JOB_ID}}}}
cpus=$SLURM_CPUS_ON_NODE
gpus=${{SLURM_GPUS_ON_NODE:-0}}
for name in $(env | cut -d= -f1 | grep -E '^(SLURM|SLURMD|SBATCH|SRUN|PMI|PMIX)_'); do
  case $name in SLURM_JOB_ID | SLURM_CONF) ;; *) unset "$name" ;; esac
done
unset OMP_NUM_THREADS OMP_PROC_BIND OMP_PLACES
exec {shlex.join(command)} --num-cpus "$cpus" --num-gpus "$gpus" --labels {before}"$allocation"{after}
"""

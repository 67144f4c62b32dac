"""Nodes from Slurm: the job that the driver runs in, or jobs of one node each."""

from __future__ import annotations

import json
import os
import shutil
from typing import Any

from headway._engines.protocol import ALLOCATION_LABEL, PROVIDER_LABEL, Engine, Site, agent_command
from headway._engines.slurm_allocation import OwnAllocation
from headway._engines.slurm_commands import Slurm, agent_script
from headway._engines.slurm_pilots import Pilots


class SlurmEngine(Engine):
    """Chooses between the two."""

    tick_s = 0.25

    def open(self, site: Site) -> None:
        """Finds what a former bridge has left."""
        self._nodes: Pilots | OwnAllocation | None = None
        inside = "SLURM_JOB_ID" in os.environ and not site.options["new_jobs"]
        missing = [each for each in (("srun", "squeue") if inside else ("sbatch", "squeue")) if not shutil.which(each)]
        if missing:
            site.failed(f"Slurm cannot be used: there is no program {' and no '.join(missing)} in PATH")
            return
        kind = OwnAllocation if inside else Pilots
        self._nodes = kind(site, Slurm(site.closing), _script(site))
        site.ready()

    def want(self, parts: list[dict[str, Any]], could_use: list[dict[str, Any]]) -> None:
        """Gets nodes, and withdraws what nobody waits for."""
        if self._nodes is not None:
            self._nodes.want(parts, could_use)

    def joined(self, allocation: str, node: str) -> None:
        """An agent has reached the driver."""
        if self._nodes is not None:
            self._nodes.joined(allocation)

    def give_back(self, allocation: str) -> None:
        """Ends an agent."""
        if self._nodes is not None:
            self._nodes.give_back(allocation)

    def left(self, allocation: str) -> None:
        """An agent is out of reach."""
        if self._nodes is not None:
            self._nodes.left(allocation)

    def tick(self) -> None:
        """Looks at what Slurm has done."""
        if self._nodes is not None:
            self._nodes.tick()

    def close(self) -> None:
        """Ends everything."""
        if self._nodes is not None:
            self._nodes.close()


def _script(site: Site) -> str:
    options = site.options
    command = [*agent_command(options, options["python"]), "--join", site.join, "--token-file", site.token_file]
    # Slurm ends what is left at the end of the time; the driver must have heard before.
    command += ["--grace-s", str(options["notice_s"] * 5 // 6)]
    if options["resources_per_node"]:
        command += ["--resources", json.dumps(options["resources_per_node"])]
    here = "@"
    labels = {**options["node_labels"], PROVIDER_LABEL: site.provider, ALLOCATION_LABEL: here}
    before, _, after = json.dumps(labels).rpartition(here)
    return agent_script(command, options["setup"], (before, after))

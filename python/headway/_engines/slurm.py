"""Nodes from Slurm: the job that the driver runs in, or jobs of one node each."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from typing import Any

from headway._engines.demand import shares
from headway._engines.protocol import ALLOCATION_LABEL, PROVIDER_LABEL, Engine, Site, agent_command
from headway._engines.slurm_allocation import OwnAllocation
from headway._engines.slurm_commands import Slurm, agent_script
from headway._engines.slurm_pilots import Pilots


class _Pools:
    """Jobs of several kinds, and who asks for which of them."""

    def __init__(self, site: Site, slurm: Slurm) -> None:
        self._site = site
        pools = site.options["pools"]
        self._pools = [Pilots(site, slurm, _script(site, pools[name]), name, pools[name]) for name in pools]

    def want(self, parts: list[dict[str, Any]], could_use: list[dict[str, Any]]) -> None:
        if parts or could_use:
            shapes = [pool.shape for pool in self._pools]
            shared, more = shares(parts, shapes), shares(could_use, shapes)
            if shared.cannot:
                kinds = (f"{f'of {pool.pool} ' if pool.pool else ''}has {pool.shape.text()}" for pool in self._pools)
                self._site.warn(f"no node of Slurm's serves {shared.cannot}: a node {'; '.join(kinds)}")
            wanted = list(zip(self._pools, shared.of, more.of, strict=True))
        else:
            wanted = [(pool, [], []) for pool in self._pools]
        for pool, own, further in wanted:
            pool.want(own, further, begins=bool(parts))

    def joined(self, allocation: str) -> None:
        (self._of(allocation) or self._pools[0]).joined(allocation)

    def give_back(self, allocation: str) -> None:
        if (pool := self._of(allocation)) is not None:
            pool.give_back(allocation)

    def left(self, allocation: str) -> None:
        if (pool := self._of(allocation)) is not None:
            pool.left(allocation)

    def tick(self) -> None:
        for pool in self._pools:
            pool.tick()

    def close(self) -> None:
        for pool in self._pools:
            pool.close()

    def _of(self, allocation: str) -> Pilots | None:
        return next((pool for pool in self._pools if pool.has(allocation)), None)


class SlurmEngine(Engine):
    """Chooses between the two."""

    tick_s = 0.25

    def open(self, site: Site) -> None:
        """Finds what a former bridge has left."""
        self._nodes: _Pools | OwnAllocation | None = None
        inside = "SLURM_JOB_ID" in os.environ and not site.options["new_jobs"]
        missing = [each for each in (("srun", "squeue") if inside else ("sbatch", "squeue")) if not shutil.which(each)]
        if missing:
            site.failed(f"Slurm cannot be used: there is no program {' and no '.join(missing)} in PATH")
            return
        slurm = Slurm(site.closing)
        self._nodes = OwnAllocation(site, slurm, _script(site, site.options["node"])) if inside else _Pools(site, slurm)
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


def _script(site: Site, node: Mapping[str, Any]) -> str:
    options = site.options
    command = [*agent_command(options, options["python"]), "--join", site.join, "--token-file", site.token_file]
    # Slurm ends what is left at the end of the time; the driver must have heard before.
    command += ["--grace-s", str(options["notice_s"] * 5 // 6)]
    if node["resources_per_node"]:
        command += ["--resources", json.dumps(node["resources_per_node"])]
    here = "@"
    labels = {**node["node_labels"], PROVIDER_LABEL: site.provider, ALLOCATION_LABEL: here}
    before, _, after = json.dumps(labels).rpartition(here)
    return agent_script(command, node["setup"], (before, after))

"""From ``init`` at a running Ray cluster of three nodes to the first step of three ranks.

on_ray_cluster.py headway|ray torch|plain

Headway takes its nodes from the cluster (``headway.init("host:port")``), Ray Train is Ray's own.
The cluster's start is not measured.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import program
from first_step import ddp_step

NODES = 3
RAY_PYTHON = Path(__file__).parents[1] / ".venv-ray" / "bin" / "python"
CLUSTER = f"""
import sys
from ray.cluster_utils import Cluster

node = {{"num_gpus": 0, "object_store_memory": 80 << 20}}
cluster = Cluster(initialize_head=True, head_node_args={{"num_cpus": 1, "include_dashboard": False, **node}})
for _ in range({NODES}):
    # A CPU for the rank, and the head's for Ray Train's controller.
    cluster.add_node(num_cpus=1, **node)
cluster.wait_for_nodes()
print(cluster.address, flush=True)
sys.stdin.read()
cluster.shutdown()
"""


def loop(config: dict[str, Any]) -> None:
    import program

    train = program.train_module(config["library"])
    if config["kind"] == "torch":
        ddp_step()
    program.note(config, f"step_{train.get_context().get_world_rank()}")
    train.report({})


def begin(library: str, address: str) -> None:
    """Connects to the cluster."""
    if library == "ray":
        import ray

        ray.init(address, log_to_driver=False, runtime_env={"env_vars": {"PYTHONPATH": str(Path(__file__).parent)}})
    else:
        import headway

        # Both libraries keep the nodes for the second run.
        headway.init(address, bridge_python=str(RAY_PYTHON), python=sys.executable)


def leave(library: str) -> None:
    """A cluster does not end below its drivers."""
    if library == "ray":
        import ray

        ray.shutdown()
    else:
        import headway

        headway.shutdown()


def main(library: str, kind: str) -> None:
    """Prints the time of two runs, of which the second begins when the first has ended."""
    cluster = subprocess.Popen(
        [RAY_PYTHON, "-c", CLUSTER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert cluster.stdout is not None
    assert cluster.stdin is not None
    try:
        address = cluster.stdout.readline().strip()
        figures = {}
        for name in ("first", "second"):
            where = program.folder() / name
            started = time.time()
            if name == "first":
                begin(library, address)
            program.fit(library, kind, loop, {}, where, workers=NODES, placement_strategy="STRICT_SPREAD")
            figures[f"{name}_step_s"] = max(program.noted(where, "step_*")) - started
        program.finish(**figures)
    finally:
        leave(library)
        cluster.stdin.close()
        try:
            cluster.wait(20)
        except subprocess.TimeoutExpired:
            cluster.kill()  # run.py ends what is left of it.


if __name__ == "__main__":
    main(*sys.argv[1:])

"""From ``init`` at a running Ray cluster of three nodes to the first step of three ranks.

on_ray_cluster.py headway|ray|alone torch|plain

Headway takes its nodes from the cluster (``headway.init("host:port")``), Ray Train is Ray's own.
Alone are three actors of Ray in a placement group that make a step and do nothing else: whatever
starts processes by Ray's actors takes as long. The cluster's start is not measured.
"""

from __future__ import annotations

import os
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


class Rank:
    """An actor of Ray's that is a rank."""

    def place(self) -> str:
        """Where the ranks may meet."""
        import socket

        import ray

        with socket.socket() as free:
            free.bind(("", 0))
            return f"tcp://{ray.util.get_node_ip_address()}:{free.getsockname()[1]}"

    def step(self, place: str, rank: int, kind: str) -> float:
        """Returns when it was made."""
        if kind == "torch":
            import torch.distributed as dist

            dist.init_process_group("gloo", init_method=place, rank=rank, world_size=NODES)
            ddp_step()
        return time.time()


def step_of_actors(kind: str) -> float:
    """When the last of new actors has made its step."""
    import ray
    from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

    group = ray.util.placement_group([{"CPU": 1}] * NODES, strategy="STRICT_SPREAD")
    actors = [
        ray.remote(Rank).options(num_cpus=1, scheduling_strategy=PlacementGroupSchedulingStrategy(group, i)).remote()
        for i in range(NODES)
    ]
    place = ray.get(actors[0].place.remote())
    stepped = max(ray.get([actor.step.remote(place, rank, kind) for rank, actor in enumerate(actors)]))
    ray.util.remove_placement_group(group)
    return stepped


def begin(library: str, address: str) -> None:
    """Connects to the cluster."""
    if library != "headway":
        import ray

        ray.init(address, log_to_driver=False, runtime_env={"env_vars": {"PYTHONPATH": str(Path(__file__).parent)}})
    else:
        import headway

        # Both libraries keep the nodes for the second run.
        headway.init(address, bridge_python=str(RAY_PYTHON), python=sys.executable)


def leave(library: str) -> None:
    """A cluster does not end below its drivers."""
    if library != "headway":
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
            if library == "alone":
                stepped = step_of_actors(kind)
            else:
                program.fit(library, kind, loop, {}, where, workers=NODES, placement_strategy="STRICT_SPREAD")
                stepped = max(program.noted(where, "step_*"))
            figures[f"{name}_step_s"] = stepped - started
        program.finish(**figures)
    finally:
        leave(library)
        cluster.stdin.close()
        try:
            cluster.wait(20)
        except subprocess.TimeoutExpired:
            print("the Ray cluster has not ended within 20 s and is killed", file=sys.stderr)
            cluster.kill()  # run.py ends what is left of it.


if __name__ == "__main__":
    if sys.argv[1] == "alone" and Path(sys.executable) != RAY_PYTHON:
        os.execv(RAY_PYTHON, [str(RAY_PYTHON), *sys.argv])
    main(*sys.argv[1:])

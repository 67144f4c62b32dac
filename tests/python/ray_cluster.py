"""A Ray cluster of several nodes on this machine, as a program: it runs in the Python that has Ray,
and obeys lines of JSON on its standard input.

``{"do": "add", "num_cpus": 1}``, ``{"do": "drain", "node": id, "seconds": 3}``, ``{"do":
"state"}``; the end of its input ends the cluster.
"""

import json
import os
import select
import sys
import time

import ray
from ray._private import state
from ray._raylet import GcsClient
from ray.cluster_utils import Cluster

STORE = 80 << 20
LIMIT_S = 20


class Lab:
    """The cluster, and a driver of Ray that looks at it."""

    def __init__(self, head_cpus, client_port):
        arguments = {"num_cpus": head_cpus, "num_gpus": 0, "include_dashboard": False, "object_store_memory": STORE}
        if client_port:
            arguments["ray_client_server_port"] = client_port
        self.cluster = Cluster(initialize_head=True, head_node_args=arguments)
        self.address = self.cluster.address
        ray.init(address=self.address, log_to_driver=False, logging_level="error", namespace="lab")

    def add(self, **options):
        """Returns its Ray id and the pid of its raylet."""
        options.setdefault("num_gpus", 0)
        node = self.cluster.add_node(object_store_memory=STORE, **options)
        return {"node": node.node_id, "raylet": node.all_processes["raylet"][0].process.pid}

    def head(self):
        """Pids of what the head node alone has."""
        node = self.cluster.head_node
        return [process.process.pid for group in node.all_processes.values() for process in group]

    def drain(self, node, seconds):
        """Says that a node will be taken away."""
        deadline = int((time.time() + seconds) * 1000)
        accepted, why = GcsClient(address=self.cluster.gcs_address).drain_node(node, 2, "taken away", deadline)
        return {"accepted": accepted, "why": why}

    def wait_for_groups(self, states):
        """Waits until placement groups have these states, LIMIT_S at most; those that they have."""
        deadline = time.monotonic() + LIMIT_S
        while (found := self._groups()) != states and time.monotonic() < deadline:
            select.select([], [], [], 0.05)
        return found

    def _groups(self):
        groups = state.state.placement_group_table().values()
        return sorted(group["state"] for group in groups if group["state"] != "REMOVED")

    def close(self):
        """Ends the cluster."""
        ray.shutdown()
        self.cluster.shutdown()


def main(kind):
    """Reads what to do with a lab of this kind."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    lab = kind(int(sys.argv[1]), int(sys.argv[2]))
    try:
        print(json.dumps({"address": lab.address}), file=answers)
        for line in sys.stdin:
            asked = json.loads(line)
            done = getattr(lab, asked.pop("do"))(**asked)
            print(json.dumps(done), file=answers)
    finally:
        lab.close()


if __name__ == "__main__":
    main(Lab)

"""A Ray cluster whose autoscaler adds nodes, as a program like ray_cluster.py: a head without CPUs,
and nodes of one CPU that come when somebody waits for them, and go when they are idle.
"""

import select
import subprocess
import sys
import time

import ray
import ray_cluster
from ray.autoscaler._private.fake_multi_node.node_provider import FAKE_HEAD_NODE_ID
from ray.cluster_utils import AutoscalingCluster

LIMIT_S = 60
NODE = {"resources": {"CPU": 1, "object_store_memory": ray_cluster.STORE}, "node_config": {}, "max_workers": 4}
# Ray's wheel has the class, and lacks the file that the class begins with.
CONFIG = {
    "cluster_name": "fake",
    "max_workers": 4,
    "provider": {
        "type": "external",
        "module": "ray.autoscaler._private.fake_multi_node.node_provider.FakeMultiNodeProvider",
        "launch_multiple": True,
        "head_node_id": FAKE_HEAD_NODE_ID,
    },
    "head_node_type": "ray.head.default",
    "upscaling_speed": 100,
    "idle_timeout_minutes": 0.05,
    "auth": {},
    "file_mounts": {},
    "cluster_synced_files": [],
    "file_mounts_sync_continuously": False,
    "rsync_exclude": [],
    "rsync_filter": [],
    **{
        f"{which}_commands": []
        for which in (
            "initialization",
            "setup",
            "head_setup",
            "worker_setup",
            "head_start_ray",
            "worker_start_ray",
        )
    },
}


class Scaled(AutoscalingCluster):
    """Leaves other clusters of this machine alone: Ray's class stops all that it finds."""

    def _generate_config(self, head_resources, worker_node_types, autoscaler_v2=False, **config):
        head = {"resources": head_resources, "node_config": {}, "max_workers": 0}
        return {**CONFIG, "available_node_types": {**worker_node_types, "ray.head.default": head}}

    def start(self):
        run, subprocess.check_call = subprocess.check_call, self._start_one
        try:
            super().start()
        finally:
            subprocess.check_call = run

    @staticmethod
    def _start_one(command, **options):
        if command[:2] != ["ray", "stop"]:
            subprocess.run(
                [sys.executable, "-m", "ray.scripts.scripts", *command[1:]],
                check=True,
                stdout=subprocess.DEVNULL,
                **options,
            )


class Lab(ray_cluster.Lab):
    """The cluster, and a driver of Ray that looks at it."""

    def __init__(self, head_cpus, client_port):
        scaled = Scaled({"CPU": head_cpus, "object_store_memory": ray_cluster.STORE}, {"one": NODE}, autoscaler_v2=True)
        scaled.start()
        ray.init(address="auto", log_to_driver=False, logging_level="error", namespace="lab")
        self.address = ray.get_runtime_context().gcs_address

    def wait_for_nodes(self, count):
        """Waits until there are so many beside the head, LIMIT_S at most; how many there are."""
        deadline = time.monotonic() + LIMIT_S
        while (found := sum(each["Alive"] for each in ray.nodes()) - 1) != count and time.monotonic() < deadline:
            select.select([], [], [], 0.1)
        return found

    def close(self):
        """The processes are ended from outside, with their network."""
        ray.shutdown()


if __name__ == "__main__":
    ray_cluster.main(Lab)

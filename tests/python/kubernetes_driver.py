"""Drivers on the cluster of kubernetes_cluster.py, and what they have in common."""

import sys
import textwrap

import processes
from engine_driver import HELPERS, EngineDriver

DRIVER = (
    """
    import json, os, signal, sys, tempfile, threading, time
    import headway
    from headway import train

    def start(**more):
        more = {"image": "headway", "namespace": NAMESPACE, "python": sys.executable, "grace_s": 20, **more}
        lease = more.pop("node_lease_s", 2)
        if KUBECONFIG:
            more["kubeconfig"] = KUBECONFIG
        headway.init(
            "kubernetes", token_file=FOLDER + "/token", node_lease_s=lease, listen="127.0.0.1:0", **more
        )

"""
    + HELPERS
)

RIGHTS = {"pods": "get list watch create delete deletecollection", "secrets services": "get create delete"}
ROLE = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "Role",
    "metadata": {"name": "headway"},
    "rules": [{"apiGroups": [""], "resources": what.split(), "verbs": can.split()} for what, can in RIGHTS.items()],
}
BINDING = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "RoleBinding",
    "metadata": {"name": "headway"},
    "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "headway"},
    "subjects": [{"kind": "User", "name": "driver"}],
}


class KubernetesDriver(EngineDriver):
    """A driver script outside of the cluster, with an administrator's kubeconfig."""

    def __init__(self, script, folder, cluster, namespace):
        super().__init__(script, folder, cluster)
        self.names = f"    FOLDER, NAMESPACE = {str(folder)!r}, {namespace!r}\n"
        # Containers have no environment but their image's; here they need the paths, and the mark.
        environment = script._environment()
        for kubelet in cluster.kubelets.values():
            kubelet.environment = {name: environment[name] for name in ("PYTHONPATH", processes.MARK)}

    def start(self, code):
        return self.script.start(self.code(code, self.cluster.admin))

    def code(self, code, kubeconfig):
        return self.names + f"    KUBECONFIG = {kubeconfig!r}\n" + DRIVER + code

    def run_driver_in_a_pod(self, path):
        """With the rights of the manifest in docs/kubernetes.md, and no others."""
        self.cluster.create(ROLE)
        self.cluster.create(BINDING)
        path.write_text(textwrap.dedent(path.read_text()))
        container = {"name": "driver", "image": "headway", "command": [sys.executable, str(path)]}
        self.cluster.create(
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": "headway-driver"},
                "spec": {"restartPolicy": "Never", "containers": [container]},
            }
        )

    def end(self):
        """Nothing is left: no process, no pod, secret or service."""
        self.cluster.wait(lambda: not self.cluster.left(), f"emptiness, but {self.cluster.left()}", 30)
        assert processes.wait_gone(self.script.processes, 30) == {}


def agents(driver):
    """Agents' processes."""
    found = driver.script.processes()
    own = sys.executable
    return [pid for pid, line in found.items() if line.startswith(f"{own} -m headway.agent") and _is_first(pid)]


def _is_first(pid):
    """Whether it is process 1 of its container."""
    with open(f"/proc/{pid}/status") as file:
        numbers = next(line for line in file if line.startswith("NSpid:")).split()
    return numbers[-1] == "1" and len(numbers) > 2

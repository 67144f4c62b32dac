"""The kubelet of a node of the cluster of kubernetes_cluster.py, as far as agents' pods need one:
containers are processes on this machine, each in its own namespaces of processes and mounts, where
the agent is process 1. Images are not looked at, but for the name ``missing``.
"""

import contextlib
import os
import re
import shlex
import signal
import subprocess
import threading
import time
from datetime import datetime, timezone

_LOOK_S, _BEAT_S = 0.1, 2.0
# $(NAME) is the variable's value, $$ a dollar sign.
_REFERENCE = re.compile(r"\$(\$|\((\w+)\))")
_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"


def expanded(text, variables):
    """A part of a command as Kubernetes understands it."""
    return _REFERENCE.sub(lambda found: "$" if found[1] == "$" else variables.get(found[2], found[0]), text)


def _now():
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


class Container:
    """The process of a pod's container."""

    def __init__(self, pod, files, environment, log):
        self.log = log
        self.ends_at = None
        own = pod["spec"]["containers"][0]
        for each in own.get("env") or []:
            is_host = each.get("valueFrom", {}).get("fieldRef", {}).get("fieldPath") == "spec.nodeName"
            environment = {**environment, each["name"]: pod["spec"]["nodeName"] if is_host else each["value"]}
        command = [*own.get("command", []), *own.get("args", [])]
        # A tmpfs for what is mounted, in this container's namespace alone.
        setup = "mount -t tmpfs none /run\n" + "".join(
            f"mkdir -p {os.path.dirname(path)}\nprintf %s {shlex.quote(text)} >{path}\nchmod 440 {path}\n"
            for path, text in files.items()
        )
        name = pod["spec"].get("hostname") or pod["metadata"]["name"]
        command = ["sh", "-c", f'{setup}hostname {name}\nexec "$@"', "sh", *(expanded(c, environment) for c in command)]
        with open(log, "w") as output:
            self.process = subprocess.Popen(
                ["unshare", "--mount", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc", *command],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )

    def signal(self, number):
        """To process 1 of the container; by SIGKILL the kernel ends all the others."""
        with contextlib.suppress(OSError, IndexError):
            os.kill(self.pid(), number)

    def pid(self):
        """Of the first process, as others see it."""
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children") as file:
            return int(file.read().split()[0])

    def words(self):
        with open(self.log, errors="replace") as file:
            return file.read()[-2000:]


class Kubelet:
    """A node, and the pods on it."""

    def __init__(self, cluster, name, cpus=2, labels=None, gpus=0):
        self.cluster, self.name = cluster, name
        self.environment = {}  # Of containers, in addition to this process's.
        self.containers = {}
        self.missing = set()
        self.beats = True
        self._ended = threading.Event()
        amounts = {"cpu": str(cpus), "memory": "8Gi", "pods": "20", "nvidia.com/gpu": str(gpus)}
        labels = {"kubernetes.io/hostname": name, **(labels or {})}
        node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}
        self._amounts = {"capacity": amounts, "allocatable": amounts}
        cluster.wait(lambda: cluster.ask("POST", "/api/v1/nodes", node) is not None, "node")
        self._beat()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def _beat(self):
        conditions = [{"type": "Ready", "status": "True", "reason": "KubeletReady", "lastHeartbeatTime": _now()}]
        for kind in ("MemoryPressure", "DiskPressure", "PIDPressure"):
            conditions.append({"type": kind, "status": "False", "lastHeartbeatTime": _now()})
        status = {"status": {**self._amounts, "conditions": conditions}}
        self._patch(f"/api/v1/nodes/{self.name}/status", status)

    def _patch(self, path, body):
        return self.cluster.ask("PATCH", path, body, "application/strategic-merge-patch+json", 3)

    def _run(self):
        beat_at = 0.0
        while not self._ended.wait(_LOOK_S):
            if self.beats and time.monotonic() >= beat_at:
                self._beat()
                beat_at = time.monotonic() + _BEAT_S
            if self.beats:
                self._look()

    def _look(self):
        found = self.cluster.ask("GET", f"/api/v1/pods?fieldSelector=spec.nodeName={self.name}", None, limit_s=3)
        if found is None:
            return
        there = {pod["metadata"]["uid"]: pod for pod in found["items"]}
        for uid in [uid for uid in self.containers if uid not in there]:
            self.containers.pop(uid).signal(signal.SIGKILL)  # Deleted without grace.
        for uid, pod in there.items():
            if uid not in self.containers and pod["status"]["phase"] == "Pending":
                self._start(uid, pod)
            if uid in self.containers:
                self._see(uid, pod)
            elif "deletionTimestamp" in pod["metadata"]:
                self._forget(pod)

    def _path(self, pod):
        return f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"

    def _set(self, pod, phase, state, ip="127.0.0.1"):
        own = pod["spec"]["containers"][0]
        status = {"name": own["name"], "image": own["image"], "imageID": "", "ready": phase == "Running"}
        statuses = [{**status, "restartCount": 0, "state": state}]
        self._patch(
            self._path(pod) + "/status", {"status": {"phase": phase, "podIP": ip, "containerStatuses": statuses}}
        )

    def _start(self, uid, pod):
        if pod["spec"]["containers"][0]["image"] == "missing":
            if uid not in self.missing:
                self.missing.add(uid)
                words = {"reason": "ErrImagePull", "message": "there is no such image"}
                self._set(pod, "Pending", {"waiting": words})
            return
        files = self._files(pod)
        if files is None or "deletionTimestamp" in pod["metadata"]:
            return
        host, port = "127.0.0.1", str(self.cluster.ports["api"])
        api = {"KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": port}
        environment = {**os.environ, **self.environment, **api}
        log = os.path.join(self.cluster.folder, pod["metadata"]["name"] + ".log")
        self.containers[uid] = Container(pod, files, environment, log)
        self._set(pod, "Running", {"running": {"startedAt": _now()}})

    def _files(self, pod):
        """What is mounted: secrets, and the account's token where one is asked for. None: a secret
        is not there yet.
        """
        from kubernetes_cluster import DRIVER, decoded

        files = {}
        mounts = {each["name"]: each["mountPath"] for each in pod["spec"]["containers"][0].get("volumeMounts") or []}
        for volume in pod["spec"].get("volumes") or []:
            if "secret" not in volume:
                continue
            where = f"/api/v1/namespaces/{pod['metadata']['namespace']}/secrets/{volume['secret']['secretName']}"
            found = self.cluster.ask("GET", where)
            if found is None:
                return None
            for name, value in decoded(found).items():
                files[f"{mounts[volume['name']]}/{name}"] = value.decode()
        if pod["spec"].get("automountServiceAccountToken", True):
            with open(f"{self.cluster.folder}/certificates/apiserver.crt") as file:
                files[f"{_ACCOUNT}/ca.crt"] = file.read()
            files[f"{_ACCOUNT}/token"] = DRIVER
            files[f"{_ACCOUNT}/namespace"] = pod["metadata"]["namespace"]
        return files

    def _see(self, uid, pod):
        container = self.containers[uid]
        code = container.process.poll()
        if code is not None:
            ended = {"exitCode": code if code >= 0 else 128 - code, "reason": "Completed" if code == 0 else "Error"}
            if code != 0:
                ended["message"] = container.words()
            if pod["status"]["phase"] not in ("Succeeded", "Failed"):
                self._set(pod, "Succeeded" if code == 0 else "Failed", {"terminated": ended})
            if "deletionTimestamp" in pod["metadata"]:
                self._forget(pod)
        elif "deletionTimestamp" in pod["metadata"]:
            if container.ends_at is None:
                grace_s = pod["metadata"].get("deletionGracePeriodSeconds", 30)
                container.ends_at = time.monotonic() + grace_s
                container.signal(signal.SIGTERM)
            elif time.monotonic() >= container.ends_at:
                container.signal(signal.SIGKILL)

    def _forget(self, pod):
        self.cluster.ask("DELETE", self._path(pod), {"gracePeriodSeconds": 0, "preconditions": None}, limit_s=3)

    def processes(self):
        """First processes of its containers."""
        return [container.pid() for container in self.containers.values() if container.process.poll() is None]

    def close(self):
        """Everything on it ends at once, as when a machine loses its power."""
        self._ended.set()
        self._thread.join(10)
        for container in self.containers.values():
            container.signal(signal.SIGKILL)
            container.process.kill()  # It ends its child, should it not have had one yet.
            container.process.wait(10)

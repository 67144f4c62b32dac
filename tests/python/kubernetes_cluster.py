"""A Kubernetes cluster on this machine: a real etcd, API server, scheduler and controllers, and
nodes whose kubelets are this process (kubernetes_kubelet.py). ``scripts/kubernetes_servers.sh``
builds the programs.
"""

import base64
import contextlib
import importlib.util
import json
import os
import shutil
import socket
import ssl
import subprocess
import urllib.error
import urllib.request

import pytest
from engine_cluster import EngineCluster
from kubernetes_kubelet import Kubelet

PROGRAMS = ("kube-apiserver", "kube-scheduler", "kube-controller-manager")
FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), ".kubernetes")
ADMIN, DRIVER = "admin-token", "driver-token"
NAMESPACE = "training"


def needed():
    """Skips the test where the programs are not there, or no namespaces can be made."""
    folder = os.environ.get("HEADWAY_KUBERNETES", FOLDER)
    for program in PROGRAMS:
        if not os.path.exists(os.path.join(folder, program)):
            pytest.skip(f"scripts/kubernetes_servers.sh builds Kubernetes: there is no {program}")
    if shutil.which("etcd") is None:
        pytest.skip("scripts/kubernetes_servers.sh installs etcd, which is not there")
    if importlib.util.find_spec("kubernetes") is None:
        pytest.skip("kubernetes is not installed (requirements/kubernetes.txt)")
    if subprocess.run(["unshare", "-mpf", "true"], check=False, capture_output=True).returncode != 0:
        pytest.skip("no namespaces can be made here")
    return folder


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class KubernetesCluster(EngineCluster):
    """The servers, and nodes ``k1``, ``k2``, ... with two CPUs each."""

    def __init__(self, folder, programs, nodes=3):
        self.folder = str(folder)
        self.programs = programs
        self.servers = {}
        self.commands = {}
        self.kubelets = {}
        self.ports = {name: free_port() for name in ("etcd", "peer", "api", "scheduler", "controllers")}
        self.url = f"https://127.0.0.1:{self.ports['api']}"
        self._nodes = [f"k{number}" for number in range(1, nodes + 1)]

    def _start(self):
        self._write("tokens", f'{ADMIN},admin,admin,"system:masters"\n{DRIVER},driver,driver\n')
        key = f"{self.folder}/key.pem"
        subprocess.run(["openssl", "genrsa", "-out", key, "2048"], check=True, capture_output=True)
        self.start("etcd", *self._etcd())
        self.start("kube-apiserver", *self._api(key))
        self.wait(lambda: self.ask("GET", "/readyz") is not None, "API")
        self.admin = self.kubeconfig("admin", ADMIN)
        quiet = ("--leader-elect=false", "--port=0", "--bind-address=127.0.0.1", f"--kubeconfig={self.admin}")
        self.start("kube-scheduler", *quiet, f"--secure-port={self.ports['scheduler']}")
        controllers = "--controllers=garbagecollector,job,namespace,nodelifecycle,podgc,disruption"
        monitor = ("--node-monitor-period=1s", "--node-monitor-grace-period=10s", "--pod-eviction-timeout=5s")
        self.start(
            "kube-controller-manager", *quiet, f"--secure-port={self.ports['controllers']}", controllers, *monitor
        )
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
        self.wait(lambda: self.ask("POST", "/api/v1/namespaces", namespace) is not None, "namespace")
        for name in self._nodes:
            self.add_node(name, labels={"zone": "a" if name == "k1" else "b"})
        self.wait(lambda: len(self.ready_nodes()) == len(self._nodes), "nodes")

    def _etcd(self):
        client, peer = (f"http://127.0.0.1:{self.ports[name]}" for name in ("etcd", "peer"))
        yield f"--data-dir={self.folder}/etcd"
        yield from (f"--listen-client-urls={client}", f"--advertise-client-urls={client}")
        yield from (f"--listen-peer-urls={peer}", f"--initial-advertise-peer-urls={peer}")
        yield from (f"--initial-cluster=default={peer}", "--unsafe-no-fsync", "--log-level=error")

    def _api(self, key):
        yield f"--etcd-servers=http://127.0.0.1:{self.ports['etcd']}"
        yield from ("--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", f"--secure-port={self.ports['api']}")
        yield from (f"--cert-dir={self.folder}/certificates", f"--token-auth-file={self.folder}/tokens")
        yield from ("--service-account-issuer=test", f"--service-account-key-file={key}")
        yield from (f"--service-account-signing-key-file={key}", "--service-cluster-ip-range=10.96.0.0/16")
        yield from ("--authorization-mode=RBAC", "--disable-admission-plugins=ServiceAccount", "--allow-privileged")
        yield from ("--endpoint-reconciler-type=none", "--watch-cache=true")

    def start(self, name, *arguments):
        """Starts a server, or starts it again as before."""
        path = name if name == "etcd" else os.path.join(self.programs, name)
        self.commands[name] = command = [path, *arguments] if arguments else self.commands[name]
        with open(f"{self.folder}/{name}.log", "a") as log:
            self.servers[name] = subprocess.Popen(command, stdout=log, stderr=log, cwd=self.folder)

    def _write(self, name, text):
        with open(f"{self.folder}/{name}", "w") as file:
            file.write(text)
        return f"{self.folder}/{name}"

    def kubeconfig(self, user, token):
        """The path of one for a user."""
        cluster = {"server": self.url, "certificate-authority": f"{self.folder}/certificates/apiserver.crt"}
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "test",
            "clusters": [{"name": "test", "cluster": cluster}],
            "users": [{"name": user, "user": {"token": token}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": user, "namespace": NAMESPACE}}],
        }
        return self._write(f"{user}.kubeconfig", json.dumps(config))

    def ask(self, verb, path, body=None, kind="application/json", limit_s=10):
        """An answer of the API server, or None where it refuses or does not answer."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {ADMIN}", "Content-Type": kind}
        request = urllib.request.Request(self.url + path, data, headers, method=verb)
        try:
            context = ssl.create_default_context(cafile=f"{self.folder}/certificates/apiserver.crt")
            with urllib.request.urlopen(request, timeout=limit_s, context=context) as answer:
                text = answer.read()
        except urllib.error.HTTPError as error:
            self.refused = error.read().decode()
            return None
        except OSError:
            return None
        return json.loads(text) if text.startswith(b"{") else {"text": text.decode()}

    def create(self, manifest):
        """Makes what a manifest says, in the namespace, unless it is there."""
        group = manifest["apiVersion"]
        where = f"/api/{group}" if group == "v1" else f"/apis/{group}"
        path = f"{where}/namespaces/{NAMESPACE}/{manifest['kind'].lower()}s"
        assert self.ask("POST", path, manifest) is not None or "AlreadyExists" in self.refused, self.refused

    def items(self, kind):
        """What there is of a kind, such as ``pods``, in the namespace."""
        return self.ask("GET", f"/api/v1/namespaces/{NAMESPACE}/{kind}")["items"]

    def pods(self, phase=None):
        """Names of pods of drivers, in order."""
        found = [each for each in self.items("pods") if phase in (None, each["status"]["phase"])]
        return sorted(each["metadata"]["name"] for each in found if each["metadata"]["name"].startswith("headway-"))

    def pod(self, name):
        return self.ask("GET", f"/api/v1/namespaces/{NAMESPACE}/pods/{name}")

    def left(self):
        """What drivers have made and not deleted."""
        kinds = ("pods", "secrets", "services")
        label = "app.kubernetes.io/managed-by"
        return [
            f"{kind}/{each['metadata']['name']}"
            for kind in kinds
            for each in self.items(kind)
            if label in each["metadata"].get("labels", {})
        ]

    def clean(self):
        """Deletes what a test that has failed has left."""
        for each in self.left():
            self.ask("DELETE", f"/api/v1/namespaces/{NAMESPACE}/{each}", {"gracePeriodSeconds": 0})

    def add_node(self, name, **more):
        self.kubelets[name] = Kubelet(self, name, **more)

    def remove_node(self, name):
        self.kubelets.pop(name).close()
        self.ask("DELETE", f"/api/v1/nodes/{name}")

    def ready_nodes(self):
        """Those that take pods."""
        nodes = self.ask("GET", "/api/v1/nodes")["items"]
        return [each["metadata"]["name"] for each in nodes if not each["spec"].get("taints")]

    def signal(self, name, number):
        os.kill(self.servers[name].pid, number)

    def _check_servers(self):
        for name, server in self.servers.items():
            assert server.poll() is None, f"{name} has ended: {self.log(name)}"

    def log(self, name):
        with open(f"{self.folder}/{name}.log") as file:
            return file.read()[-3000:]

    def __exit__(self, *exception):
        with contextlib.ExitStack() as ends:
            for server in self.servers.values():
                ends.callback(_kill, server)
            for kubelet in self.kubelets.values():
                ends.callback(kubelet.close)


def _kill(server):
    with contextlib.suppress(ProcessLookupError):
        server.kill()
    server.wait(10)


def decoded(secret):
    """What is in a secret."""
    return {name: base64.b64decode(value) for name, value in (secret.get("data") or {}).items()}

"""The Ray actor of one bundle: it starts an agent on its node and says when that has ended.

Ray carries the class to the nodes by value: it imports nothing but the standard library and ray.
"""

from __future__ import annotations

import collections
import json
import os
import select
import subprocess
import sys
import threading
import time
from typing import Any

_TAIL_LINES = 20
_HEARD_S = 5.0  # For the driver to hear how the agent has ended.
# Where Ray keeps working directories, modules and packages of a runtime_env.
_BROUGHT = "/runtime_resources/"


class Launcher:
    """Runs in a Ray worker process, one for each bundle. Ray calls it on several threads."""

    def __init__(self) -> None:
        self._guard: subprocess.Popen[bytes] | None = None
        self._tail: collections.deque[str] = collections.deque(maxlen=_TAIL_LINES)
        self._code: int | None = None
        self._ended = threading.Event()
        threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()

    def start(self, plan: dict[str, Any]) -> None:
        """Starts the agent.

        Args:
            plan: ``guard`` (the guard's source), ``python`` (that of the node which has Headway;
                None: this one), ``agent`` (how the command of a program begins that is its own
                agent, or None), ``join``, ``token``, ``amounts``, ``labels``, ``grace_s``,
                ``keeps_omp`` (the user has set OMP_NUM_THREADS).
        """
        amounts = {"memory": 0.0, **plan["amounts"]}  # Without a claim none is reserved.
        # Ray sets the variable for actors that have GPUs, and to those GPUs.
        gpus = os.environ.get("CUDA_VISIBLE_DEVICES", "") if amounts.pop("GPU", 0) else ""
        command = [
            *(plan["agent"] or [plan["python"] or sys.executable, "-m", "headway.agent"]),
            "--join",
            plan["join"],
        ]
        command += ["--token-file", "/dev/stdin", "--grace-s", f"{plan['grace_s']:g}"]
        command += ["--num-cpus", f"{amounts.pop('CPU', 0.0):g}"]
        command += ["--num-gpus", str(len(gpus.split(",")) if gpus else 0)]
        command += ["--resources", json.dumps(amounts), "--labels", json.dumps(plan["labels"])]
        self._guard = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", plan["guard"], *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self._environment(plan, gpus),
        )
        assert self._guard.stdin is not None
        self._guard.stdin.write(plan["token"].encode() + b"\n")
        self._guard.stdin.flush()
        threading.Thread(target=self._read_words, args=(self._guard,), daemon=True).start()
        threading.Thread(target=self._await_end, args=(self._guard,), daemon=True).start()

    @staticmethod
    def _environment(plan: dict[str, Any], gpus: str) -> dict[str, str]:
        """This process's, without what Ray has decided for an actor: agents decide that
        themselves.
        """
        environment = {**os.environ, "CUDA_VISIBLE_DEVICES": gpus}
        brought = [entry for entry in sys.path if _BROUGHT in entry]
        if brought:
            environment["HEADWAY_NODE_PATH"] = os.pathsep.join(brought)
        if _BROUGHT in os.getcwd():
            environment["HEADWAY_NODE_DIRECTORY"] = os.getcwd()
        if not plan["keeps_omp"]:
            environment.pop("OMP_NUM_THREADS", None)
        for name in ("RAY_JOB_ID", "RAY_RAYLET_PID", "RAY_CLIENT_MODE"):
            environment.pop(name, None)
        return environment

    def _read_words(self, guard: subprocess.Popen[bytes]) -> None:
        """The agent's standard error: to this actor's log of Ray, and the last lines for the
        driver.
        """
        assert guard.stderr is not None
        for line in guard.stderr:
            text = line.decode(errors="replace").rstrip()
            self._tail.append(text)
            print(text, file=sys.stderr, flush=True)

    def _await_end(self, guard: subprocess.Popen[bytes]) -> None:
        assert guard.stdout is not None
        for line in guard.stdout:
            word, _, number = line.decode().partition(" ")
            if word == "exit":
                self._code = int(number)
        self._ended.set()
        # The driver kills this actor when it hears of the end. Without Ray's head it cannot.
        time.sleep(_HEARD_S)
        os._exit(0)

    def wait(self) -> dict[str, Any]:
        """Returns when the agent and all that it had started have ended: its exit code, and its
        last words.
        """
        self._ended.wait()
        return {"code": self._code, "tail": list(self._tail)}

    def notice(self) -> None:
        """The node will be taken away: the agent gets SIGTERM, by which its ranks learn of it."""
        if self._guard is not None and self._guard.stdin is not None and not self._ended.is_set():
            self._guard.stdin.write(b"term\n")
            self._guard.stdin.flush()


def _end_with(raylet: int) -> None:
    """Ray lets an actor live for some time when its raylet was killed."""
    try:
        select.select([os.pidfd_open(raylet)], [], [])
    except (AttributeError, OSError):  # A kernel before 5.3, or a Python that was built on one.
        while os.getppid() == raylet:
            time.sleep(1)
    os._exit(1)


class Observer:
    """What only a process of the cluster can ask of Ray, for a driver that is a client of it
    (``ray://``).
    """

    def nodes(self) -> dict[str, Any]:
        """See :func:`nodes`."""
        return nodes()

    def request(self, bundles: list[dict[str, float]], selectors: list[dict[str, str]]) -> None:
        """See :func:`request`."""
        request(bundles, selectors)


def nodes() -> dict[str, Any]:
    """Ray's nodes that are alive.

    Returns:
        By node id: ``labels``, ``total``, ``free`` (resources), ``deadline`` (None; or, of a node
        that is drained, when it goes, in seconds since 1970, 0 where Ray does not say).
    """
    import ray
    from ray._private import state

    free = state.available_resources_per_node()
    draining = state.state.get_draining_nodes()
    found = {}
    for node in ray.nodes():
        if not node["Alive"]:
            continue
        node_id = node["NodeID"]
        deadline = draining.get(node_id)
        found[node_id] = {
            "labels": dict(node.get("Labels") or {}),
            "total": dict(node["Resources"]),
            "free": dict(free.get(node_id, {})),
            "deadline": None if deadline is None else deadline / 1000.0,
        }
    return found


def request(bundles: list[dict[str, float]], selectors: list[dict[str, str]]) -> None:
    """Tells Ray's autoscaler for what the cluster should be large enough."""
    from ray.autoscaler.sdk import request_resources

    request_resources(bundles=bundles, bundle_label_selectors=selectors)

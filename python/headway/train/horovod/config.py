"""The group that Horovod's ranks form."""

from __future__ import annotations

import importlib.util
import math
import os
import socket
import sys
import threading
from collections.abc import Collection
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from headway import _session as worker_session
from headway._values.arguments import check_number, check_texts
from headway.train import _ports
from headway.train.backend import Backend, BackendConfig, WorkerGroup

_CALLER = "the horovod backend"
_NOT_INSTALLED = (
    "{} needs horovod, which is not installed. It has no wheels, and its newest release, 0.28.1 of 2023, does not "
    "build against PyTorch 2.1 and newer, because it names C++14: `make horovod` in Headway's source tree builds it "
    "with C++20 for PyTorch, and installs it. `horovod.tensorflow` is not built; use TensorflowTrainer there"
)


def check_installed(who: str) -> None:
    """Says how to get Horovod where it is missing.

    Raises:
        ImportError: it is not installed.
    """
    if importlib.util.find_spec("horovod") is None:
        raise ImportError(_NOT_INSTALLED.format(who))


@dataclass
class HorovodConfig(BackendConfig):
    """Settings of Horovod's group, whose ranks talk through Gloo.

    Attributes:
        nics: Names of network interfaces; each rank takes the first that its machine has. None
            (default): the interface of the address at which the ranks reach each other.
        verbose: Has no effect, as ``HOROVOD_LOG_LEVEL`` says what Horovod logs.
        key, ssh_port, ssh_identity_file, ssh_str: Have no effect: no rank is started over ssh.
        timeout_s: Seconds that ranks wait for each other in ``hvd.init()`` and in a collective;
            default 300.
        placement_group_timeout_s: Has no effect; ``FailureConfig`` says how long a run waits for
            nodes.

    Raises:
        TypeError, ValueError: a bad argument, named.

    Example:
        >>> from headway.train.horovod import HorovodConfig
        >>> HorovodConfig(nics={"eth0"}, timeout_s=60).to_dict()["timeout_s"]
        60.0
    """

    nics: Collection[str] | None = None
    verbose: int = 1
    key: str | None = None
    ssh_port: int | None = None
    ssh_identity_file: str | None = None
    ssh_str: str | None = None
    timeout_s: float = 300
    placement_group_timeout_s: float = 100

    preload: ClassVar[tuple[str, ...]] = ("torch", "torch._dynamo", "horovod.torch", "headway.train.horovod")

    def __post_init__(self) -> None:
        allowed = 'None, or names of network interfaces, such as {"eth0"}'
        if self.nics is not None:
            nics = sorted(self.nics) if isinstance(self.nics, set | frozenset) else self.nics
            self.nics = check_texts("HorovodConfig.nics", nics, allowed)
            if not self.nics:
                raise ValueError(f"HorovodConfig.nics is empty; allowed: {allowed}")
        allowed = "seconds, 1 or more"
        self.timeout_s = check_number("HorovodConfig.timeout_s", self.timeout_s, allowed)
        if not (self.timeout_s >= 1 and math.isfinite(self.timeout_s)):
            raise ValueError(f"HorovodConfig.timeout_s is {self.timeout_s}; allowed: {allowed}, and finite")

    @property
    def framework(self) -> str:
        """``"horovod"``."""
        return "horovod"

    def to_dict(self) -> dict[str, Any]:
        """The settings by name."""
        return asdict(self)

    @property
    def backend_cls(self) -> type[Backend]:
        """The hooks that tell the ranks where they meet."""
        return HorovodBackend


class HorovodBackend(Backend):
    """Has rank 0 serve the table in which ranks find each other, and sets the variables that
    ``hvd.init()`` reads; the training function calls it.
    """

    def on_start(self, worker_group: WorkerGroup, backend_config: HorovodConfig) -> None:
        """A group of one rank needs no table."""
        nodes = worker_group.execute(_node)
        address = worker_group.execute_single(0, _serve, nodes) if len(worker_group) > 1 else None
        nics = list(backend_config.nics) if backend_config.nics is not None else None
        worker_group.execute(_set_variables, nodes, address, nics, math.ceil(backend_config.timeout_s))

    def on_shutdown(self, worker_group: WorkerGroup, backend_config: HorovodConfig) -> None:
        """All ranks at once, because Horovod has them wait for each other."""
        worker_group.execute(_leave)


_server: Any = None
_set: list[str] = []


def _node() -> int:
    check_installed("HorovodTrainer")
    node: int = worker_session.current(_CALLER).context["plan"]["node_rank"]
    return node


def _name(node: int) -> str:
    """Horovod tells machines apart by name. Two nodes of Headway may have one hostname."""
    return f"node-{node}"


def _serve(nodes: list[int]) -> tuple[str, int]:
    """In rank 0, on the network that the ranks share alone; the table ends with the process.

    Args:
        nodes: The node of each rank.
    """
    global _server
    from horovod.runner.common.util import hosts
    from horovod.runner.http import http_server

    places = ",".join(f"{_name(node)}:{nodes.count(node)}" for node in dict.fromkeys(nodes))
    _server = http_server.RendezvousHTTPServer((_ports.own_host(_CALLER), 0), http_server.RendezvousHandler, 0)
    _server.init(hosts.get_host_assignments(hosts.parse_hosts(places), len(nodes)))
    threading.Thread(target=_server.serve_forever, name="horovod-rendezvous", daemon=True).start()
    host, port = _server.server_address
    return host, port


def _set_variables(nodes: list[int], address: tuple[str, int] | None, nics: list[str] | None, timeout_s: int) -> None:
    """In every rank, before ``hvd.init()``."""
    plan = worker_session.current(_CALLER).context["plan"]
    rank, local_rank = plan["rank"], plan["local_rank"]
    # The nodes that have a rank of this number.
    across = [node for node in dict.fromkeys(nodes) if nodes.count(node) > local_rank]
    variables = {
        "HOROVOD_HOSTNAME": _name(plan["node_rank"]),
        "HOROVOD_RANK": rank,
        "HOROVOD_SIZE": len(nodes),
        "HOROVOD_LOCAL_RANK": local_rank,
        "HOROVOD_LOCAL_SIZE": plan["local_world_size"],
        "HOROVOD_CROSS_RANK": across.index(nodes[rank]),
        "HOROVOD_CROSS_SIZE": len(across),
        "HOROVOD_CONTROLLER": "gloo",
        "HOROVOD_CPU_OPERATIONS": "gloo",
        "HOROVOD_GLOO_IFACE": _interface(nics),
        "HOROVOD_GLOO_TIMEOUT_SECONDS": timeout_s,
    }
    if address is not None:
        variables["HOROVOD_GLOO_RENDEZVOUS_ADDR"], variables["HOROVOD_GLOO_RENDEZVOUS_PORT"] = address
    os.environ.update({name: str(value) for name, value in variables.items()})
    _set[:] = variables
    worker_session.add_echo_test(_is_echo)


def _interface(nics: list[str] | None) -> str:
    if nics is None:
        return _ports.interface_of(_ports.own_host(_CALLER))
    present = {name for _, name in socket.if_nameindex()}
    for name in nics:
        if name in present:
            return name
    raise ValueError(f"HorovodConfig.nics is {nics}; allowed: an interface of this machine: {sorted(present)}")


def _leave() -> None:
    """In every rank, whether its training function has called ``hvd.init()`` or not."""
    torch = sys.modules.get("horovod.torch")
    if torch is not None:
        torch.shutdown()
    if worker_session.current(_CALLER).local:
        for name in _set:
            os.environ.pop(name, None)


def _is_echo(error: BaseException) -> bool:
    """A collective that broke because its peer went away."""
    return type(error).__name__ == "HorovodInternalError"

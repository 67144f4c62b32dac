"""The network through which LightGBM's ranks build one model."""

from __future__ import annotations

import random
import socket
from dataclasses import dataclass
from typing import Any, ClassVar

from headway import _session as worker_session
from headway.train.backend import Backend, BackendConfig, WorkerGroup

# What LightGBM says when a peer is gone.
_ECHO_WORDS = ("socket", "connection")
# Below the ports that the system gives to connections (net.ipv4.ip_local_port_range).
_PORTS = range(20000, 32768)
_ATTEMPTS = 1000


@dataclass
class LightGBMConfig(BackendConfig):
    """Settings of LightGBM's network: there are none.

    Example:
        >>> from headway.train.lightgbm import LightGBMConfig, LightGBMTrainer
        >>> trainer = LightGBMTrainer(lambda: None, lightgbm_config=LightGBMConfig())
        >>> trainer.backend_config.framework
        'lightgbm'
    """

    preload: ClassVar[tuple[str, ...]] = ("lightgbm", "headway.train.lightgbm")

    @property
    def framework(self) -> str:
        """``"lightgbm"``."""
        return "lightgbm"

    @property
    def backend_cls(self) -> type[Backend]:
        """The hooks that bring the ranks together."""
        return LightGBMBackend


class LightGBMBackend(Backend):
    """Has each rank hold a port, and hands the addresses of all to each."""

    def on_start(self, worker_group: WorkerGroup, backend_config: LightGBMConfig) -> None:
        """A group of one rank needs no network."""
        addresses = worker_group.execute(_hold_port) if len(worker_group) > 1 else []
        worker_group.execute(_keep, addresses)


_held: socket.socket | None = None
_network: dict[str, Any] = {}


def _hold_port() -> tuple[str, int]:
    """LightGBM listens at a port of a number that all ranks know beforehand. It is held until then,
    so no other rank takes it.
    """
    global _held
    context = worker_session.current("the lightgbm backend").context
    plan = context["plan"]
    one_node = plan["local_world_size"] == context["world_size"]
    for _ in range(_ATTEMPTS):
        held = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            held.bind(("", random.choice(_PORTS)))
        except OSError:
            held.close()
            continue
        _held = held
        return "127.0.0.1" if one_node else plan["slot"]["node_ip"], held.getsockname()[1]
    raise OSError(f"no port of {_PORTS.start} to {_PORTS.stop - 1} is free")


def _keep(addresses: list[tuple[str, int]]) -> None:
    global _network
    rank = worker_session.current("the lightgbm backend").context["plan"]["rank"]
    _network = {}
    if addresses:
        _network = {
            "machines": ",".join(f"{host}:{port}" for host, port in addresses),
            "num_machines": len(addresses),
            "local_listen_port": addresses[rank][1],
        }
    worker_session.add_echo_test(_is_echo)


def get_network_params() -> dict[str, Any]:
    """The parameters by which LightGBM's ranks find each other, for ``lightgbm.train``.

    Call it right there: this rank's port is free from then on. One training for each attempt:
    LightGBM would listen at the same port again, which the system may refuse for a minute.

    Returns:
        ``machines``, ``num_machines`` and ``local_listen_port``; empty in a group of one rank.

    Raises:
        RuntimeError: called outside of a training function.

    Example:
        >>> from headway.train.lightgbm import get_network_params
        >>> def loop():
        ...     parameters = {"tree_learner": "data", "pre_partition": True, **get_network_params()}
    """
    global _held
    worker_session.current("get_network_params()")
    if _held is not None:
        _held.close()
        _held = None
    return dict(_network)


def _is_echo(error: BaseException) -> bool:
    """A collective that broke because its peer went away."""
    return type(error).__name__ == "LightGBMError" and any(word in str(error).lower() for word in _ECHO_WORDS)

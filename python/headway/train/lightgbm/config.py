"""The network through which LightGBM's ranks build one model."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from typing import Any, ClassVar

from headway import _session as worker_session
from headway.train import _ports
from headway.train.backend import Backend, BackendConfig, WorkerGroup

# What LightGBM says when a peer is gone.
_ECHO_WORDS = ("socket", "connection")


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
    host = _ports.own_host("the lightgbm backend")
    _held = _ports.hold_outside_of_the_systems()
    return host, _held.getsockname()[1]


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

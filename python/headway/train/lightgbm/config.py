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
# Of one attempt.
_TRAININGS_MAX = 64


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
    """Has each rank hold ports, and hands the addresses of all to each."""

    def on_start(self, worker_group: WorkerGroup, backend_config: LightGBMConfig) -> None:
        """A group of one rank needs no network."""
        addresses = worker_group.execute(_hold_ports) if len(worker_group) > 1 else []
        worker_group.execute(_keep, addresses)


_held: list[socket.socket] = []
_networks: list[dict[str, Any]] = []
_taken = 0


def _hold_ports() -> list[str]:
    """LightGBM listens at a port that all ranks know beforehand, another one for each training: the
    system refuses a port for a minute after its connections were closed. They are held until then,
    so no other rank takes them.
    """
    global _held
    host = _ports.own_host("the lightgbm backend")
    _held = [_ports.hold_outside_of_the_systems() for _ in range(_TRAININGS_MAX)]
    return [f"{host}:{held.getsockname()[1]}" for held in _held]


def _keep(addresses: list[list[str]]) -> None:
    """The addresses of each rank."""
    global _networks, _taken
    rank = worker_session.current("the lightgbm backend").context["plan"]["rank"]
    _taken = 0
    _networks = [
        {
            "machines": ",".join(of_training),
            "num_machines": len(addresses),
            "local_listen_port": int(of_training[rank].rpartition(":")[2]),
        }
        for of_training in zip(*addresses, strict=True)
    ]
    worker_session.add_echo_test(_is_echo)


def get_network_params() -> dict[str, Any]:
    """The parameters by which LightGBM's ranks find each other, for one ``lightgbm.train``.

    Every rank calls it right there, once for each training: a port of this rank is free from then
    on.

    Returns:
        ``machines``, ``num_machines`` and ``local_listen_port``; empty in a group of one rank.

    Raises:
        RuntimeError: called outside of a training function, or for more than 64 trainings.

    Example:
        >>> from headway.train.lightgbm import get_network_params
        >>> def loop():
        ...     parameters = {"tree_learner": "data", "pre_partition": True, **get_network_params()}
    """
    global _taken
    worker_session.current("get_network_params()")
    if not _networks:
        return {}
    if _taken == len(_networks):
        raise RuntimeError(
            f"get_network_params() was called for more than {_taken} trainings in one attempt; allowed: one call for "
            f"each training, and up to {_taken} of them"
        )
    _held[_taken].close()
    _taken += 1
    return dict(_networks[_taken - 1])


def _is_echo(error: BaseException) -> bool:
    """A collective that broke because its peer went away."""
    return type(error).__name__ == "LightGBMError" and any(word in str(error).lower() for word in _ECHO_WORDS)

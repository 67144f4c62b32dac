"""Which engines there are, and the checks of the arguments that ``headway.init`` takes for each."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from headway._engines.kubernetes_options import KUBERNETES_NAMES, check_kubernetes
from headway._engines.ray_options import RAY_NAMES, check_ray
from headway._engines.slurm_options import SLURM_NAMES, check_slurm
from headway._values.arguments import check_number, check_str
from headway._values.named_arguments import unknown_argument


@dataclass(frozen=True)
class EngineKind:
    """An engine.

    Attributes:
        bridge: ``"module:class"`` of its :class:`~headway._engines.protocol.Engine`.
        names: Its arguments.
        check: Checks them, and completes them; gets the address as well.
        offers_this_machine: Whether the driver's machine takes workers unless ``num_cpus`` says so.
        carries_environment: Whether it brings ``runtime_env`` to its nodes: the bridge gets it as
            an option.
    """

    bridge: str
    names: tuple[str, ...]
    check: Callable[[str, Mapping[str, Any]], dict[str, Any]]
    offers_this_machine: bool = False
    carries_environment: bool = False


#: By name.
ENGINES: dict[str, EngineKind] = {
    "kubernetes": EngineKind("headway._engines.kubernetes:KubernetesEngine", KUBERNETES_NAMES, check_kubernetes),
    "ray": EngineKind("headway._engines.ray:RayEngine", RAY_NAMES, check_ray, carries_environment=True),
    "slurm": EngineKind("headway._engines.slurm:SlurmEngine", SLURM_NAMES, check_slurm),
}

#: Arguments of every engine.
_COMMON = ("idle_s",)
_IDLE_S = 60.0
_HOST_AND_PORT = re.compile(r"(\[.+\]|[^:/]+):\d+")


@dataclass(frozen=True)
class EngineStart:
    """An engine that was asked for.

    Attributes:
        name: The engine's.
        bridge: As :class:`EngineKind` has it, like ``offers_this_machine`` and
            ``carries_environment``.
        options: Its checked arguments.
        idle_s: So long a node is kept that nobody uses.
        python: What runs the bridge; None: this interpreter.
    """

    name: str
    bridge: str
    options: dict[str, Any]
    idle_s: float
    offers_this_machine: bool
    carries_environment: bool
    python: str | None


def check_engine(address: object, options: Mapping[str, Any], others: tuple[str, ...]) -> EngineStart | None:
    """The engine that ``address`` means; None: this machine.

    Args:
        address: As ``headway.init`` was given it.
        options: Arguments that ``headway.init`` itself does not have.
        others: The names that it has.

    Raises:
        TypeError, ValueError: a bad address, or an argument that the engine does not have.
    """
    known = ", ".join(f'"{name}"' for name in ENGINES)
    allowed = f'None or "local" (this machine), {known}, "ray://host:port", or "host:port" of a Ray cluster'
    name = None if address is None else engine_of(check_str("address", address, allowed))
    if name == "":
        raise ValueError(f"address is {address!r}; allowed: {allowed}")
    names = (*ENGINES[name].names, *_COMMON) if name else ()
    for option in options:
        if option not in names:
            raise TypeError(unknown_argument("init", option, [*others, *names]))
    if not name:
        return None
    own = {option: value for option, value in options.items() if option not in _COMMON}
    idle_s = check_number("idle_s", options.get("idle_s", _IDLE_S), "seconds from 0 to 86400")
    if not 0 <= idle_s <= 86400:
        raise ValueError(f"idle_s is {idle_s:g}; allowed: seconds from 0 to 86400")
    kind = ENGINES[name]
    checked = kind.check(str(address), own)
    return EngineStart(
        name,
        kind.bridge,
        checked,
        idle_s,
        kind.offers_this_machine,
        kind.carries_environment,
        checked.get("bridge_python"),
    )


def engine_of(address: str) -> str | None:
    """The name of the engine at an address; None: this machine; ``""``: there is none."""
    if address == "local":
        return None
    if address.startswith("ray://") or _HOST_AND_PORT.fullmatch(address):
        return "ray"
    return address if address in ENGINES else ""

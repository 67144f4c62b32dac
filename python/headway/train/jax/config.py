"""The processes of a JAX program that a worker group is."""

from __future__ import annotations

import atexit
import contextlib
import inspect
import os
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from headway import _session as worker_session
from headway._values.arguments import check_bool
from headway._values.packages import check_installed
from headway.train import _ports
from headway.train.backend import Backend, BackendConfig, WorkerGroup

_CALLER = "the jax backend"


@dataclass
class JaxConfig(BackendConfig):
    """Which devices JAX uses.

    Attributes:
        use_tpu: False; TPUs are refused.
        use_gpu: Whether ranks use their GPUs, which ``ScalingConfig(use_gpu=True)`` gives them.
            False: the CPU, unless the scaling configuration asks for GPUs.

    Raises:
        TypeError, ValueError: a bad argument, named.

    Example:
        >>> from headway.train.jax import JaxConfig, JaxTrainer
        >>> trainer = JaxTrainer(lambda: None, jax_config=JaxConfig())
        >>> trainer.backend_config.use_gpu
        False
    """

    use_tpu: bool = False
    use_gpu: bool = False

    preload: ClassVar[tuple[str, ...]] = ("jax", "headway.train.jax")

    def __post_init__(self) -> None:
        check_bool("JaxConfig.use_gpu", self.use_gpu)
        if check_bool("JaxConfig.use_tpu", self.use_tpu):
            raise ValueError("JaxConfig.use_tpu is True; allowed: False. Headway trains on CPUs and CUDA devices")

    @property
    def framework(self) -> str:
        """``"jax"``."""
        return "jax"

    def to_dict(self) -> dict[str, Any]:
        """The settings by name."""
        return asdict(self)

    @property
    def backend_cls(self) -> type[Backend]:
        """The hooks that bring the processes together."""
        return JaxBackend

    @property
    def train_func_context(self) -> Callable[[], AbstractContextManager[Any]]:
        """Has a rank that fails end without waiting for the others."""
        return _among_processes


class JaxBackend(Backend):
    """Calls ``jax.distributed.initialize`` in every rank, and leaves at the end."""

    def on_start(self, worker_group: WorkerGroup, backend_config: JaxConfig) -> None:
        """A group of one rank needs no coordinator."""
        worker_group.execute(check_installed, "JaxTrainer", "jax")
        # Ranks import at different speeds; that is no part of the time to connect.
        worker_group.execute(_choose_devices)
        if len(worker_group) > 1:
            worker_group.execute(_join, worker_group.execute_single(0, _hold_port))

    def on_shutdown(self, worker_group: WorkerGroup, backend_config: JaxConfig) -> None:
        """All ranks at once, because JAX has them wait for each other."""
        worker_group.execute(_leave)


_held: socket.socket | None = None


def _hold_port() -> str:
    """In rank 0, whose coordinator then listens at the same port."""
    global _held
    _held = _ports.hold_shared()
    return f"{_ports.own_host(_CALLER)}:{_held.getsockname()[1]}"


def _choose_devices() -> None:
    """In every rank, before JAX looks for devices."""
    slot = worker_session.current(_CALLER).context["plan"]["slot"]
    platforms = "cuda,cpu" if slot["gpu_ids"] else "cpu"
    if slot["gpu_ids"]:
        os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(slot["gpu_ids"])
    # XLA would start a thread for each core of the machine, in each rank.
    os.environ.setdefault("NPROC", str(max(1, slot["cpus"])))
    import jax

    if "JAX_PLATFORMS" not in os.environ:
        os.environ["JAX_PLATFORMS"] = platforms
        # JAX has read the variable when the worker factory imported it.
        jax.config.update("jax_platforms", platforms)
    else:
        jax.config.update("jax_platforms", os.environ["JAX_PLATFORMS"])
    worker_session.add_echo_test(_is_echo)


def _join(coordinator: str) -> None:
    global _held
    import jax

    context = worker_session.current(_CALLER).context
    rank = context["plan"]["rank"]
    settings = {
        "coordinator_address": coordinator,
        "num_processes": context["world_size"],
        "process_id": rank,
        "coordinator_bind_address": coordinator if rank == 0 else None,
        # Of the ranks that have all returned.
        "shutdown_timeout_seconds": 60,
    }
    known = inspect.signature(jax.distributed.initialize).parameters
    jax.distributed.initialize(**{name: value for name, value in settings.items() if name in known})
    if _held is not None:
        _held.close()
        _held = None


def _leave() -> None:
    jax = sys.modules.get("jax")
    if jax is not None:
        jax.distributed.shutdown()
    if not worker_session.current(_CALLER).local:
        _forget_exit_handlers()


@contextlib.contextmanager
def _among_processes() -> Iterator[None]:
    """Around the training function."""
    try:
        yield
    except BaseException:
        # At its exit JAX waits for all processes, among them those that this failure ends.
        _forget_exit_handlers()
        raise


def _forget_exit_handlers() -> None:
    for module, name in (("jax._src.api", "clean_up"), ("jax._src.dispatch", "wait_for_tokens")):
        handler = getattr(sys.modules.get(module), name, None)
        if handler is not None:
            atexit.unregister(handler)


def _is_echo(error: BaseException) -> bool:
    """A collective that broke because its peer went away."""
    words = str(error).lower()
    if "gloo" not in words and "coordination" not in words:
        return False
    return "read error" in words or worker_session.tells_of_lost_peer(error)

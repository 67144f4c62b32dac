"""The process group of a torch worker group."""

from __future__ import annotations

import math
import os
import re
import socket
import sys
import weakref
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from headway import _session as worker_session
from headway._values.arguments import check_number, check_str
from headway._values.gpus import visible_gpus
from headway.train import _ports
from headway.train.backend import Backend, BackendConfig, WorkerGroup
from headway.train.torch import _collectives, _libraries

# One backend, or a list of them by kind of device: what torch.distributed.init_process_group takes.
_BACKEND = re.compile(r"[^\W\d]\w*|[^\W\d]\w*:[^\W\d]\w*(,[^\W\d]\w*:[^\W\d]\w*)*")


@dataclass
class TorchConfig(BackendConfig):
    """Settings of ``torch.distributed``'s process group.

    Attributes:
        backend: ``"nccl"``, ``"gloo"`` or another that torch has, or one for each kind of device
            (``"cpu:gloo,cuda:nccl"``); None (default) takes NCCL when every worker has a separate
            GPU, else Gloo.
        init_method: ``"env"`` or ``"tcp"``; both meet at a store that rank 0 opens on a port of the
            system's choice.
        timeout_s: Seconds that a collective may take; default 1800.

    Raises:
        TypeError, ValueError: a bad argument, named; a backend that torch does not have, which it
            is imported for.

    Example:
        >>> from headway.train.torch import TorchConfig, TorchTrainer
        >>> trainer = TorchTrainer(lambda: None, torch_config=TorchConfig(backend="gloo", timeout_s=600))
        >>> trainer.backend_config.backend
        'gloo'
    """

    backend: str | None = None
    init_method: str = "env"
    timeout_s: float = 1800

    collectives: ClassVar[bool] = True
    preload: ClassVar[tuple[str, ...]] = (
        "threadpoolctl",
        "torch",
        "torch._dynamo",
        "torch.distributed",
        "torch.utils.data",
        "headway.train.torch",
    )

    @property
    def framework(self) -> str:
        """``"torch"``."""
        return "torch"

    def to_dict(self) -> dict[str, Any]:
        """The settings by name."""
        return asdict(self)

    def __post_init__(self) -> None:
        if self.backend is not None:
            allowed = (
                'None, "nccl", "gloo" or another backend of torch.distributed, or "cpu:gloo,cuda:nccl" and the like'
            )
            check_str("TorchConfig.backend", self.backend, allowed)
            if not _BACKEND.fullmatch(self.backend):
                raise ValueError(f"TorchConfig.backend is {self.backend!r}; allowed: {allowed}")
            _check_backends(self.backend, allowed)
        if self.init_method not in ("env", "tcp"):
            raise ValueError(f'TorchConfig.init_method is {self.init_method!r}; allowed: "env" or "tcp"')
        self.timeout_s = check_number("TorchConfig.timeout_s", self.timeout_s, "seconds, above 0")
        if not (self.timeout_s > 0 and math.isfinite(self.timeout_s)):
            raise ValueError(f"TorchConfig.timeout_s is {self.timeout_s}; allowed: seconds, above 0 and finite")

    @property
    def backend_cls(self) -> type[Backend]:
        """The hooks that make and end the process group."""
        return TorchBackend


class TorchBackend(Backend):
    """Makes the process group before training and ends it afterwards."""

    def on_start(self, worker_group: WorkerGroup, backend_config: TorchConfig) -> None:
        """Rank 0 opens a store, then every rank joins the group through it."""
        # Ranks import at different speeds; that is no part of a collective's time.
        worker_group.execute(_import_torch)
        host, port = worker_group.execute_single(0, _open_store, len(worker_group), backend_config.timeout_s)
        worker_group.execute(_join_group, host, port, backend_config.backend, backend_config.timeout_s)

    def on_shutdown(self, worker_group: WorkerGroup, backend_config: TorchConfig) -> None:
        """Every rank leaves the group, so that no library complains at its exit."""
        worker_group.execute(_leave_group)


def _check_backends(asked: str, allowed: str) -> None:
    """Refuses a backend that torch does not know in this process; imports torch for names other
    than the usual two.

    Raises:
        ValueError: such a name, with those that torch knows.
    """
    names = [part.rpartition(":")[2].lower() for part in asked.split(",")]
    if all(name in ("gloo", "nccl") for name in names):
        return
    try:
        from torch.distributed import Backend as TorchBackends
    except ImportError:
        return  # Workers may have it; and they say so where they don't.
    known = [name for name in TorchBackends.backend_list if name not in ("undefined", "fake")]
    for name in names:
        if name not in TorchBackends.backend_list:
            raise ValueError(
                f"TorchConfig.backend is {asked!r}, and torch has no backend {name!r}: it has {', '.join(known)} and "
                f"what is registered before TorchConfig is made; allowed: {allowed}"
            )


def choose_backend(asked: str | None, gpus_of_rank: list[str], gpus_shared: bool) -> str:
    """NCCL where each rank has a separate GPU, else Gloo.

    Raises:
        ValueError: NCCL was asked for ranks that share a GPU, or have none.
    """
    own_gpu = bool(gpus_of_rank) and not gpus_shared
    # A list says what GPUs' tensors would go by: ranks without GPUs have none, those that share one
    # meet in NCCL.
    by_nccl = asked == "nccl" or (bool(gpus_of_rank) and "nccl" in re.split("[:,]", asked or ""))
    if by_nccl and not own_gpu:
        why = "share a GPU" if gpus_of_rank else "have no GPU (use_gpu=False)"
        raise ValueError(f'TorchConfig.backend is "{asked}" while the workers {why}; allowed: None or "gloo"')
    return asked or ("nccl" if own_gpu else "gloo")


def _import_torch() -> None:
    import torch.distributed  # noqa: F401


_store: Any = None


def _open_store(world_size: int, timeout_s: float) -> tuple[str, int]:
    """In rank 0: the port is taken by the socket that the store then serves on, so nobody can come
    between.

    A group that is all on one node meets where no other machine can reach it.
    """
    global _store
    from datetime import timedelta

    from torch.distributed import TCPStore

    if worker_session.current("the torch backend").store is not None:
        return "", 0  # torchrun's ranks have met already.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.bind((_ports.own_host("the torch backend"), 0))
    listener.listen(max(128, world_size))
    host, port = listener.getsockname()
    _store = TCPStore(
        host,
        port,
        world_size,
        is_master=True,
        wait_for_workers=False,
        timeout=timedelta(seconds=timeout_s),
        master_listen_fd=listener.detach(),
    )
    return host, port


def _join_group(host: str, port: int, backend: str | None, timeout_s: float) -> None:
    """In every rank. The variables are those of torchrun, so that plain PyTorch code works as
    well.
    """
    from datetime import timedelta

    import torch
    import torch.distributed as dist

    session = worker_session.current("the torch backend")
    context = session.context
    if dist.is_initialized():
        raise RuntimeError("torch.distributed has a process group already; allowed: none before fit(), which makes it")
    plan = context["plan"]
    rank, world_size = plan["rank"], context["world_size"]
    if session.store is None:
        os.environ.update(
            RANK=str(rank),
            WORLD_SIZE=str(world_size),
            LOCAL_RANK=str(plan["local_rank"]),
            LOCAL_WORLD_SIZE=str(plan["local_world_size"]),
            GROUP_RANK=str(plan["node_rank"]),
            NODE_RANK=str(plan["node_rank"]),
            MASTER_ADDR=host,
            MASTER_PORT=str(port),
        )
    # Gloo would look its own host name up, which fails on machines whose name does not resolve.
    one_node = plan["local_world_size"] == world_size
    if one_node or session.store is None:
        os.environ.setdefault("GLOO_SOCKET_IFNAME", _ports.interface_of(_ports.own_host("the torch backend")))
    gpus = plan["slot"]["gpu_ids"]
    visible = visible_gpus() if gpus else []
    shared = bool(gpus) and len(visible) < plan["local_world_size"]
    chosen = choose_backend(backend, gpus, shared)
    if gpus:
        torch.cuda.set_device(visible.index(gpus[0]))
    _libraries.describe_rank(f"cuda:{visible.index(gpus[0])}" if gpus else "cpu")
    timeout = timedelta(seconds=timeout_s)
    store = session.store
    if store is None:
        store = _store if rank == 0 else dist.TCPStore(host, port, world_size, is_master=False, timeout=timeout)
    worker_session.add_echo_test(_is_echo)
    if _collectives.can_be_read():
        session.core.tell_collectives_by(_collectives.positions)
    dist.init_process_group(
        chosen, store=dist.PrefixStore("headway", store), rank=rank, world_size=world_size, timeout=timeout
    )


_left_group: Any = None


def _leave_group() -> None:
    """In every rank, right before the worker ends."""
    global _left_group
    import torch.distributed as dist

    if dist.is_initialized():
        # Kept: its destructor would wait 20 ms for timers of Gloo's threads, and the process's end
        # closes its sockets.
        local = worker_session.current("the torch backend").local
        _left_group = None if local else dist.group.WORLD
        dist.destroy_process_group()
        if local:
            return
    _keep_operators()


def _keep_operators() -> None:
    """Has the process end without torch taking back its 170 libraries of operators first, one by
    one, in 25 ms.
    """
    take_back = getattr(sys.modules.get("torch.library"), "_del_library", None)
    for finalizer in list(getattr(weakref.finalize, "_registry", ())):
        alive = finalizer.peek()
        if alive is not None and alive[1] is take_back:
            finalizer.atexit = False


def _is_echo(error: BaseException) -> bool:
    """A collective that broke because its peer went away: somebody else's failure, seen from
    here.
    """
    if "torch.distributed" not in sys.modules:
        return False
    import torch.distributed as dist

    if isinstance(error, dist.DistError):
        return True
    return isinstance(error, RuntimeError) and worker_session.tells_of_lost_peer(error)

"""Local mode (``ScalingConfig(num_workers=0)``): the training function runs in this very process.

The run is a run like any other, with its controller on Headway's own thread: only its one rank, or
under ``torchrun`` its ranks, are processes that Headway has not started. Each has a session over a
socket that the run is given.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import queue
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import cloudpickle

from headway import _core
from headway import _session as worker_session
from headway._storage import locations
from headway._values.gpus import visible_gpus
from headway._worker import main as worker_main
from headway._worker.exceptions import describe, pickle_exception
from headway.train._local.door import RANK_CHARACTERS, TOKEN_CHARACTERS, Door

_T = TypeVar("_T")
_TORCHRUN = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
# How long rank 0 waits for the others to have heard how the run ended, in seconds.
_GOODBYE_S = 30
# How long the others wait for rank 0 to say why there was no run at all, in seconds.
_LAST_WORD_S = 30

_fits = 0


class RunIsOver(BaseException):
    """Leaves a training function whose run has ended: it was stopped, or another rank has
    failed.
    """


@dataclass(frozen=True)
class Place:
    """This process among the run's ranks.

    Attributes:
        store: torch's, at which torchrun's ranks meet; None when this process is the only rank.
        prefix: Of this ``fit()``'s keys in the store.
    """

    rank: int = 0
    world_size: int = 1
    local_rank: int = 0
    local_world_size: int = 1
    node_rank: int = 0
    store: Any = None
    prefix: str = ""


def find_place() -> Place:
    """Where torchrun's variables say that this process is; the only rank without them.

    Raises:
        ValueError: one of them is no number.
        ImportError: they are there, and torch is not.
    """
    global _fits
    if not all(name in os.environ for name in _TORCHRUN):
        return Place()
    numbers = {}
    for name in _TORCHRUN:
        if name == "MASTER_ADDR":
            continue
        if not os.environ[name].isdigit():
            raise ValueError(
                f"{name} is {os.environ[name]!r} in the environment; allowed: a number, as torchrun sets it"
            )
        numbers[name] = int(os.environ[name])
    from torch.distributed import rendezvous

    store, rank, world_size = next(iter(rendezvous("env://")))
    local_size = numbers["LOCAL_WORLD_SIZE"]
    _fits += 1
    node_rank = int(os.environ.get("GROUP_RANK", rank // max(1, local_size)))
    return Place(rank, world_size, numbers["LOCAL_RANK"], local_size, node_rank, store, f"headway/{_fits}/")


def without_torchrun(environment: dict[str, str]) -> dict[str, str]:
    """Variables without those that say which rank a process is."""
    return {name: value for name, value in environment.items() if name not in _TORCHRUN}


@dataclass
class Outcome:
    """What became of this process's part.

    Attributes:
        value: What the training function returned.
        error: What it raised.
    """

    value: Any = None
    error: Exception | None = None


def gather(place: Place) -> list[int]:
    """In rank 0: a socket to each other rank, in the order of ranks, as descriptors."""
    if place.world_size == 1:
        return []
    one_node = place.local_world_size == place.world_size
    listener = socket.create_server(("127.0.0.1" if one_node else "", 0), backlog=place.world_size + 128)
    host = "127.0.0.1" if one_node else os.environ["MASTER_ADDR"]
    token = os.urandom(TOKEN_CHARACTERS // 2).hex()
    place.store.set(f"{place.prefix}address", json.dumps([host, listener.getsockname()[1], token]))
    with listener:
        peers = Door(listener, token, place.world_size - 1).wait()
    return [peers[rank].detach() for rank in sorted(peers)]


def join(place: Place) -> int:
    """In the other ranks: the socket to rank 0."""
    host, port, token = json.loads(place.store.get(f"{place.prefix}address"))
    peer = socket.create_connection((host, port))
    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    peer.sendall(f"{token}{place.rank:0{RANK_CHARACTERS}d}".encode())
    return peer.detach()


def take_part(fd: int, place: Place, function: Callable[..., Any], args: tuple[Any, ...], use_gpu: bool) -> Outcome:
    """Does a rank's part in this process, until the run has ended.

    Args:
        fd: The session's socket.
        place: This process's.
        function: The training function.
        args: What it is called with.
        use_gpu: Whether this rank has the GPU of its local rank.
    """
    session = interruptible(lambda: _core.Session(fd, True))
    context = worker_session.context_of(session)
    context["plan"].update(
        local_rank=place.local_rank, local_world_size=place.local_world_size, node_rank=place.node_rank
    )
    if use_gpu:
        context["plan"]["slot"]["gpu_ids"] = [_gpu_of(place)]
    session.settle_in()
    if place.rank > 0:
        setup = json.loads(context["setup"]["json"])
        locations.adopt((scheme, base64.b64decode(pickled)) for scheme, pickled in setup["filesystems"])
    try:
        validates = json.loads(context["setup"]["json"])["validates"]
        with _as_worker(_LocalSession(session), context, place, validates):
            session.announce()
            return _serve(session, function, args)
    finally:
        session.close()


def _gpu_of(place: Place) -> str:
    import torch

    visible = visible_gpus()
    if place.local_rank >= torch.cuda.device_count() or place.local_rank >= len(visible):
        raise ValueError(
            f"ScalingConfig.use_gpu is True, and this process (local rank {place.local_rank}) sees "
            f"{torch.cuda.device_count()} GPUs; allowed: use_gpu=False, or a GPU for each local rank"
        )
    return visible[place.local_rank]


@contextlib.contextmanager
def _as_worker(session: Any, context: dict[str, Any], place: Place, validates: bool) -> Iterator[None]:
    """This process is a worker meanwhile."""
    torch_distributed = sys.modules.get("torch.distributed")
    had_group = torch_distributed is not None and torch_distributed.is_initialized()
    worker_session.begin(session, context, validates, local=True, store=_group_store(place))
    try:
        yield
    finally:
        worker_session.end()
        torch_distributed = sys.modules.get("torch.distributed")
        if not had_group and torch_distributed is not None and torch_distributed.is_initialized():
            # No hook has: the run has failed, or was stopped.
            torch_distributed.destroy_process_group()


def _group_store(place: Place) -> Any:
    """Where this fit()'s process group meets: its keys are no other's."""
    if place.store is None:
        return None
    from torch.distributed import PrefixStore

    return PrefixStore(f"{place.prefix}group", place.store)


def _serve(session: _core.Session, function: Callable[..., Any], args: tuple[Any, ...]) -> Outcome:
    outcome = Outcome()
    before = dict(os.environ)
    by_hooks: dict[str, str] = {}
    while True:
        kind, call_id, pickled = interruptible(session.next_task)
        if kind == "end":
            _undo(by_hooks, before)
            return outcome
        if kind == "execute":
            worker_main.execute(session, call_id, pickled)
            continue
        by_hooks = {name: text for name, text in os.environ.items() if before.get(name) != text}
        try:
            outcome.value = function(*args)
            worker_session.check_rank()
        except RunIsOver:
            continue
        except Exception as error:
            outcome.error = error
            session.training_raised(json.dumps(describe(error)), _pickled(error))
        else:
            session.training_returned(cloudpickle.dumps(None))


def _pickled(error: Exception) -> bytes | None:
    """For callbacks. It keeps its frames here, for a debugger."""
    frames = error.__traceback__
    try:
        return pickle_exception(error)
    finally:
        error.__traceback__ = frames


def _undo(changes: dict[str, str], before: dict[str, str]) -> None:
    """Variables that hooks have set go with the run; what the training function has done to the
    environment stays.
    """
    for name, text in changes.items():
        if os.environ.get(name) == text:
            del os.environ[name]
            if name in before:
                os.environ[name] = before[name]


def interruptible(function: Callable[[], _T]) -> _T:
    """Calls a function that waits outside of Python on a separate thread, so that Ctrl-C reaches
    this one at once.
    """
    answers: queue.SimpleQueue[tuple[_T | None, BaseException | None]] = queue.SimpleQueue()

    def call() -> None:
        try:
            answers.put((function(), None))
        except BaseException as error:
            answers.put((None, error))

    threading.Thread(target=call, name="headway-local", daemon=True).start()
    value, error = answers.get()
    if error is not None:
        raise error
    return value  # type: ignore[return-value]


class _LocalSession:
    """The session as ``report`` and the like know it."""

    def __init__(self, core: _core.Session):
        self._core = core

    def __getattr__(self, name: str) -> Any:
        return getattr(self._core, name)

    def report(self, *args: Any) -> str | None:
        """As the core's; leaves the training function when the run has ended. So do the others that
        wait.
        """
        return self._wait_in(self._core.report, args)

    def collective(self, *args: Any) -> Any:
        """As the core's."""
        return self._wait_in(self._core.collective, args)

    def preemption_info(self) -> str | None:
        """As the core's."""
        return self._wait_in(self._core.preemption_info, ())

    def ask_checkpoints(self, *args: Any) -> Any:
        """As the core's."""
        return self._wait_in(self._core.ask_checkpoints, args)

    def _wait_in(self, function: Callable[..., _T], args: tuple[Any, ...]) -> _T:
        try:
            return interruptible(lambda: function(*args))
        except Exception:
            if self._core.over:
                raise RunIsOver() from None
            raise


def tell_others(place: Place, end: _core.Finished, path: str) -> None:
    """In rank 0: how the run ended. Waits until every rank has heard it, since the store may end
    with this process.
    """
    if place.world_size == 1:
        return
    from datetime import timedelta

    place.store.set(f"{place.prefix}end", json.dumps([end.to_json(), path]))
    heard = [f"{place.prefix}heard/{rank}" for rank in range(1, place.world_size)]
    with contextlib.suppress(RuntimeError):  # One that has died hears nothing.
        place.store.wait(heard, timedelta(seconds=_GOODBYE_S if end.outcome.state == "finished" else 1))


def has_ended(place: Place) -> bool:
    """In the other ranks: whether rank 0 says how the run ended. Waits a while for it."""
    from datetime import timedelta

    try:
        place.store.wait([f"{place.prefix}end"], timedelta(seconds=_LAST_WORD_S))
    except RuntimeError:
        return False
    return True


def hear_end(place: Place) -> tuple[_core.Finished, str]:
    """In the other ranks: how the run ended, and its folder, as rank 0 says."""
    end, path = json.loads(place.store.get(f"{place.prefix}end"))
    place.store.set(f"{place.prefix}heard/{place.rank}", "yes")
    return _core.Finished.from_json(end), path

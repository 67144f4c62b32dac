"""How long a rank is in the collectives of a prepared model. Nothing here changes what is computed:
where the time cannot be measured that way, it is not known.
"""

from __future__ import annotations

import collections
import functools
import time
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from headway import _session as worker_session
from headway.train.torch import _pass_times

if TYPE_CHECKING:
    import torch


def watch_collectives(model: torch.nn.Module) -> None:
    """Has the time measured that this rank is in a model's collectives.

    ``DistributedDataParallel``: how long the end of backward waits for gradients of other ranks, on
    CPUs by the clock, on CUDA devices by events of the stream that computes. ``fully_shard`` on
    CPUs: all-gather and reduce-scatter. For others it is not known.

    Args:
        model: What prepare_model() returns, in a group of several ranks.
    """
    import torch

    core = worker_session.active_core()
    if core is None or not any(each.requires_grad for each in model.parameters()):
        return
    if isinstance(model, torch.nn.parallel.DistributedDataParallel):
        core.see_collectives(_watch_averaging(model))
    else:
        core.see_collectives(_watch_shards(model))


class HostTimes:
    """Waiting that blocks the process."""

    def begin(self) -> float:
        """The moment."""
        return time.perf_counter()

    def end(self, begun: float) -> None:
        """Counts the time since ``begun``."""
        _count(time.perf_counter() - begun)


class DeviceTimes:
    """Waiting of a device's stream, which is known once the device has come so far: it is looked
    for at the next waiting, and nobody waits for it.

    Args:
        record: Puts an event into the stream that computes; None where that cannot be.
    """

    _UNKNOWN_MAX = 64

    def __init__(self, record: Callable[[], Any]):
        self._record = record
        self._unknown: collections.deque[tuple[Any, Any]] = collections.deque()

    def begin(self) -> Any:
        """The event in front."""
        return self._record()

    def end(self, begun: Any) -> None:
        """Counts what the device has come to."""
        ended = self._record()
        if begun is None or ended is None or len(self._unknown) == self._UNKNOWN_MAX:
            return  # A step without a time: the share is not given then.
        self._unknown.append((begun, ended))
        _count(0.0)
        while self._unknown and self._unknown[0][1].query():
            first, last = self._unknown.popleft()
            _count(first.elapsed_time(last) / 1000)


_queue_callback: Any = None  # Of autograd's engine.
# The places in autograd's graph whose hooks say that backward has begun; a place that nobody holds
# is made anew, without its hook.
_nodes: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()


def _count(seconds: float) -> None:
    core = worker_session.active_core()
    if core is not None:
        core.in_collectives(seconds)


def _watch_averaging(model: Any) -> bool:
    global _queue_callback
    import torch

    ignored = getattr(model, "parameters_to_ignore", ())
    used = [each for name, each in model.module.named_parameters() if each.requires_grad and name not in ignored]
    devices = {each.device for each in used}
    if len(devices) != 1 or (device := devices.pop()).type not in ("cpu", "cuda"):
        return False
    waits = HostTimes() if device.type == "cpu" else DeviceTimes(functools.partial(_record, device))
    _queue_callback = torch.autograd.Variable._execution_engine.queue_callback
    with torch.enable_grad():
        node = used[0].view_as(used[0]).grad_fn.next_functions[0][0]
    passes = _pass_times.watch_passes(model)
    node.register_prehook(functools.partial(_gradient_comes, waits, passes))
    _nodes[model] = node
    return True


def _record(device: torch.device) -> Any:
    import torch

    if torch.cuda.is_current_stream_capturing():
        return None
    event = torch.cuda.Event(enable_timing=True)
    event.record(torch.cuda.current_stream(device))
    return event


def _gradient_comes(waits: HostTimes | DeviceTimes, passes: _pass_times.PassTimes, _gradients: Any) -> None:
    """Backward is under way, and DDP has not queued yet what waits at its end for collectives."""
    passes.backward_begins()
    if worker_session.active_core() is not None:
        _queue_callback(functools.partial(_backward_ends, waits))


def _backward_ends(waits: Any) -> None:
    """This rank's own gradients are computed. What is queued now runs after DDP's waiting."""
    _queue_callback(functools.partial(waits.end, waits.begin()))


def _watch_shards(model: torch.nn.Module) -> bool:
    """Whether all collectives of a sharded model are counted. Those of ``fully_shard`` can be
    replaced, one by one, by ones that take the time; on GPUs they overlap with what is computed.
    """
    try:
        from torch.distributed.fsdp import FSDPModule
        from torch.distributed.fsdp._fully_shard._fsdp_collectives import DefaultAllGather, DefaultReduceScatter
    except ImportError:
        return False
    on_cpus = all(each.device.type == "cpu" for each in model.parameters())
    sharded = [each for each in model.modules() if isinstance(each, FSDPModule)]
    if not on_cpus or not sharded or any(_mesh_dimensions(each) != 1 for each in model.parameters()):
        return False
    gather, scatter = _timed(DefaultAllGather), _timed(DefaultReduceScatter)
    try:
        for module in sharded:
            module.set_custom_all_gather(gather)
            module.set_custom_reduce_scatter(scatter)
    except (AttributeError, ValueError):  # An older torch; parameters on several meshes.
        return False
    return True


def _mesh_dimensions(parameter: Any) -> int:
    """1: all ranks hold a part. 2: there are replicas too, which torch averages by itself."""
    mesh = getattr(parameter, "device_mesh", None)
    return 0 if mesh is None else mesh.ndim


def _timed(collective: Any) -> Any:
    """A collective of the kind that takes its time. One that returns before it is complete, as a
    loop may ask for, leaves its step without a share.
    """

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        begun_s = time.perf_counter()
        work = collective.__call__(self, *args, **kwargs)
        core = worker_session.active_core()
        if work is None:
            _count(time.perf_counter() - begun_s)
        elif core is not None:
            core.see_collectives(False)
        return work

    return type(collective.__name__, (collective,), {"__call__": call})()

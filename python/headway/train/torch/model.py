"""A model made ready for the ranks that train it together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from headway import _session as worker_session
from headway._values.arguments import check_str, refuse
from headway.train.torch import _collective_times, _loop_progress, mixed_precision
from headway.train.torch.devices import get_device

if TYPE_CHECKING:
    import torch

_STRATEGIES = ("ddp", "fsdp", "fsdp2", None)


def prepare_model(
    model: torch.nn.Module,
    move_to_device: bool | torch.device = True,
    parallel_strategy: str | None = "ddp",
    parallel_strategy_kwargs: Mapping[str, Any] | None = None,
) -> torch.nn.Module:
    """Moves a model to this rank's device and, with more than one rank, has the ranks train it
    together.

    Args:
        model: The model, built in every rank. Rank 0's parameters and buffers are sent to all; with
            a sharded strategy only those that lie on the device, so with ``move_to_device=False``
            build it alike in all ranks.
        move_to_device: True (default) moves it to :func:`get_device`, a ``torch.device`` to that
            one, False leaves it.
        parallel_strategy: ``"ddp"`` (default): each rank has all of it, gradients are averaged.
            ``"fsdp"``: wrapped in ``FullyShardedDataParallel``, each rank keeps a part of every
            parameter. ``"fsdp2"``: sharded in place by ``fully_shard`` (torch ≥ 2.6); apply it to
            layers of yours first to have them gathered one by one. None: left as it is. With one
            rank nothing is wrapped.
        parallel_strategy_kwargs: Passed on to ``DistributedDataParallel``,
            ``FullyShardedDataParallel`` or ``fully_shard``. Both sharded ones work on CPUs too,
            over Gloo.

    Returns:
        The model to train with. Make the optimizer of its parameters, after this call.
        :func:`unwrap_model` gives your own back, wrapped or not.

    Raises:
        RuntimeError: called outside of a training function.
        TypeError, ValueError: a bad argument, named.
        ImportError: ``"fsdp2"`` with a torch that does not have it.

    Example:
        >>> from headway.train.torch import prepare_model
        >>> def loop():
        ...     import torch
        ...     model = prepare_model(torch.nn.Linear(4, 1), parallel_strategy="fsdp")
        ...     optimizer = torch.optim.AdamW(model.parameters())
    """
    context = worker_session.current("prepare_model()").context
    import torch

    if not isinstance(model, torch.nn.Module):
        refuse("model", model, "a torch.nn.Module")
    if not isinstance(move_to_device, (bool, torch.device)):
        refuse("move_to_device", move_to_device, "True, False or a torch.device")
    if parallel_strategy not in _STRATEGIES:
        raise ValueError(f'parallel_strategy is {parallel_strategy!r}; allowed: "ddp", "fsdp", "fsdp2" or None')
    if parallel_strategy_kwargs is not None and not isinstance(parallel_strategy_kwargs, Mapping):
        refuse("parallel_strategy_kwargs", parallel_strategy_kwargs, "a dict of keyword arguments or None")
    kwargs = {
        check_str("a name in parallel_strategy_kwargs", name, "names of keyword arguments"): value
        for name, value in (parallel_strategy_kwargs or {}).items()
    }
    device = move_to_device if isinstance(move_to_device, torch.device) else get_device()
    mixed_precision.check_strategy(parallel_strategy, context["world_size"])
    if device.type == "cuda":
        torch.cuda.set_device(device)
    if move_to_device:
        model = model.to(device)
    model = mixed_precision.wrap_forward(model, device)
    _loop_progress.watch_steps()
    if context["world_size"] == 1:
        return model
    model = _distribute(model, parallel_strategy, device, kwargs)
    _collective_times.watch_collectives(model)
    return model


def unwrap_model(model: torch.nn.Module) -> torch.nn.Module:
    """The model that was given to :func:`prepare_model`, whatever the number of ranks and the
    strategy.

    Args:
        model: What ``prepare_model`` returned, or a model that ``DistributedDataParallel``,
            ``FullyShardedDataParallel`` or ``torch.compile`` has wrapped, in any order; also one
            that nobody wrapped.

    Returns:
        The innermost model. With a sharded strategy its parameters are still sharded.

    Raises:
        TypeError: ``model`` is no ``torch.nn.Module``.

    Example:
        >>> from headway.train.torch import prepare_model, unwrap_model
        >>> def loop():
        ...     import torch
        ...     model = prepare_model(torch.nn.Linear(4, 1))
        ...     weight = unwrap_model(model).weight
    """
    import torch
    from torch.distributed.fsdp import FullyShardedDataParallel

    if not isinstance(model, torch.nn.Module):
        refuse("model", model, "a torch.nn.Module")
    while True:
        if isinstance(model, (torch.nn.parallel.DistributedDataParallel, FullyShardedDataParallel)):
            model = model.module
        elif hasattr(model, "_orig_mod"):  # torch.compile's
            model = model._orig_mod
        else:
            return model


def _distribute(
    model: torch.nn.Module, strategy: str | None, device: torch.device, kwargs: dict[str, Any]
) -> torch.nn.Module:
    if strategy is None:
        return model
    if strategy == "ddp":
        return _replicate(model, kwargs)
    _send_rank_0s(model, device)
    return _shard_wrapped(model, device, kwargs) if strategy == "fsdp" else _shard_in_place(model, kwargs)


def _replicate(model: torch.nn.Module, kwargs: dict[str, Any]) -> torch.nn.Module:
    import torch

    if not any(parameter.requires_grad for parameter in model.parameters()):
        return model  # Nothing to average: DistributedDataParallel would refuse it.
    devices = {parameter.device for parameter in model.parameters()}
    if len(devices) == 1 and (device := devices.pop()).type == "cuda":
        kwargs.setdefault("device_ids", [device])
        kwargs.setdefault("output_device", device)
    wrapped = torch.nn.parallel.DistributedDataParallel(model, **kwargs)
    wrapped._register_load_state_dict_pre_hook(_take_unwrapped_state)
    return wrapped


def _take_unwrapped_state(state: dict[str, Any], prefix: str, *_: Any) -> None:
    """A model wrapped for DDP loads the state of an unwrapped one too, such as
    ``Checkpoint.from_dict`` stores it.
    """
    own = [key for key in state if key.startswith(prefix)]
    if not any(key.startswith(prefix + "module.") for key in own):
        for key in own:
            state[f"{prefix}module.{key[len(prefix) :]}"] = state.pop(key)


def _shard_wrapped(model: torch.nn.Module, device: torch.device, kwargs: dict[str, Any]) -> torch.nn.Module:
    from torch.distributed.fsdp import FullyShardedDataParallel

    # Without it FSDP takes the machine's accelerator, and fails where there is none.
    kwargs.setdefault("device_id", device)
    return FullyShardedDataParallel(model, **kwargs)


def _shard_in_place(model: torch.nn.Module, kwargs: dict[str, Any]) -> torch.nn.Module:
    try:
        from torch.distributed.fsdp import fully_shard
    except ImportError:
        import torch

        raise ImportError(
            f'parallel_strategy is "fsdp2", which needs torch 2.6 or newer; this is torch {torch.__version__}. '
            'Allowed here: "ddp", "fsdp" or None'
        ) from None
    if "mesh" not in kwargs:
        import torch.distributed as dist
        from torch.distributed.device_mesh import init_device_mesh

        kind = "cuda" if "nccl" in dist.get_backend() else "cpu"
        kwargs["mesh"] = init_device_mesh(kind, (dist.get_world_size(),))
    return fully_shard(model, **kwargs)


def _send_rank_0s(model: torch.nn.Module, device: torch.device) -> None:
    """DistributedDataParallel does it by itself. What is sharded already, or not on the device,
    stays as it is.
    """
    import torch.distributed as dist

    for tensor in [*model.parameters(), *model.buffers()]:
        sharded = hasattr(tensor, "full_tensor")  # a DTensor, whose class has had several places
        if tensor.device.type == device.type and not sharded:
            dist.broadcast(tensor.detach(), src=0)

"""Model, data and device of a rank, in a torch training function."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from headway._arguments import check_bool, refuse
from headway._worker import session as worker_session

if TYPE_CHECKING:
    import torch
    from torch.utils.data import DataLoader


def get_device() -> torch.device:
    """The device that this rank should use: its first GPU, or the CPU.

    Raises:
        RuntimeError: called outside of a training function.
    """
    import torch

    gpus = worker_session.current("get_device()").context["plan"]["slot"]["gpu_ids"]
    if not gpus:
        return torch.device("cpu")
    return torch.device("cuda", os.environ["CUDA_VISIBLE_DEVICES"].split(",").index(gpus[0]))


def prepare_model(
    model: torch.nn.Module,
    move_to_device: bool = True,
    parallel_strategy: str | None = "ddp",
    parallel_strategy_kwargs: Mapping[str, Any] | None = None,
) -> torch.nn.Module:
    """Moves a model to this rank's device and, with more than one rank, wraps it in ``DistributedDataParallel``.

    Args:
        model: The model, the same in every rank (rank 0's parameters are sent to all).
        move_to_device: Whether to move it.
        parallel_strategy: ``"ddp"``, or None to leave it unwrapped.
        parallel_strategy_kwargs: Passed to ``DistributedDataParallel``.

    Returns:
        The model to train with; ``.module`` of a wrapped one is yours.
    """
    import torch

    if not isinstance(model, torch.nn.Module):
        refuse("model", model, "a torch.nn.Module")
    check_bool("move_to_device", move_to_device)
    if parallel_strategy not in ("ddp", None):
        raise ValueError(f'parallel_strategy is {parallel_strategy!r}; allowed: "ddp" or None')
    device = get_device()
    if move_to_device:
        model = model.to(device)
    context = worker_session.current("prepare_model()").context
    trainable = any(parameter.requires_grad for parameter in model.parameters())
    if parallel_strategy is None or context["world_size"] == 1 or not trainable:
        return model
    kwargs = dict(parallel_strategy_kwargs or {})
    if device.type == "cuda":
        kwargs.setdefault("device_ids", [device])
        kwargs.setdefault("output_device", device)
    return torch.nn.parallel.DistributedDataParallel(model, **kwargs)


def prepare_data_loader(
    data_loader: DataLoader[Any], add_dist_sampler: bool = True, move_to_device: bool = True
) -> Any:
    """A loader whose rank sees its own share of the data set, on its device.

    Args:
        data_loader: A ``torch.utils.data.DataLoader``; all of its settings are kept.
        add_dist_sampler: Whether to replace its sampler by a ``DistributedSampler`` (which shuffles if the loader
            did). A loader with a sampler or batch sampler of its own kind, or over an iterable data set, is left as
            it is.
        move_to_device: Whether batches come on this rank's device.

    Returns:
        A loader. Call ``.sampler.set_epoch(epoch)`` at the start of each epoch if it shuffles.
    """
    from torch.utils.data import DataLoader, RandomSampler

    if not isinstance(data_loader, DataLoader):
        refuse("data_loader", data_loader, "a torch.utils.data.DataLoader")
    check_bool("add_dist_sampler", add_dist_sampler)
    check_bool("move_to_device", move_to_device)
    context = worker_session.current("prepare_data_loader()").context
    sampler = _plain_sampler(data_loader) if add_dist_sampler and context["world_size"] > 1 else None
    if sampler is not None:
        shuffle = type(sampler) is RandomSampler
        data_loader = _with_dist_sampler(data_loader, shuffle, context["plan"]["rank"], context["world_size"])
    device = get_device()
    return _OnDevice(data_loader, device) if move_to_device and device.type != "cpu" else data_loader


def _plain_sampler(loader: DataLoader[Any]) -> Any:
    """The loader's sampler if it is one of those that ``DataLoader(...)`` makes by itself; None when it is another."""
    from torch.utils.data import BatchSampler, IterableDataset, RandomSampler, SequentialSampler

    batches = loader.batch_sampler
    if isinstance(loader.dataset, IterableDataset) or type(batches) not in (BatchSampler, type(None)):
        return None
    sampler = batches.sampler if batches is not None else loader.sampler
    if type(sampler) is RandomSampler:
        return sampler if not sampler.replacement and sampler._num_samples is None else None
    return sampler if type(sampler) is SequentialSampler else None


def _with_dist_sampler(loader: DataLoader[Any], shuffle: bool, rank: int, world_size: int) -> DataLoader[Any]:
    from torch.utils.data import DataLoader, DistributedSampler

    batches = loader.batch_sampler  # It knows the size too when the user made it himself.
    settings: dict[str, Any] = {
        "dataset": loader.dataset,
        "batch_size": batches.batch_size if batches is not None else None,
        "drop_last": batches.drop_last if batches is not None else False,
        "sampler": DistributedSampler(loader.dataset, world_size, rank, shuffle=shuffle),
        "num_workers": loader.num_workers,
        "collate_fn": loader.collate_fn,
        "pin_memory": loader.pin_memory,
        "timeout": loader.timeout,
        "worker_init_fn": loader.worker_init_fn,
        "multiprocessing_context": loader.multiprocessing_context,
        "generator": loader.generator,
        "prefetch_factor": loader.prefetch_factor,
        "persistent_workers": loader.persistent_workers,
        "pin_memory_device": getattr(loader, "pin_memory_device", ""),
        "in_order": getattr(loader, "in_order", True),
    }
    if loader.num_workers == 0:
        del settings["prefetch_factor"], settings["multiprocessing_context"]
    return DataLoader(**settings)


class _OnDevice:
    """A loader whose batches are moved to a device on their way out."""

    def __init__(self, loader: DataLoader[Any], device: torch.device):
        self._loader = loader
        self._device = device

    def __len__(self) -> int:
        return len(self._loader)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def __iter__(self) -> Iterator[Any]:
        for batch in self._loader:
            yield _move(batch, self._device)


def _move(batch: Any, device: torch.device) -> Any:
    if hasattr(batch, "to"):
        return batch.to(device, non_blocking=True)
    if isinstance(batch, Mapping):
        return {key: _move(value, device) for key, value in batch.items()}
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        return type(batch)(*(_move(value, device) for value in batch))
    if isinstance(batch, (list, tuple)):
        return type(batch)(_move(value, device) for value in batch)
    return batch

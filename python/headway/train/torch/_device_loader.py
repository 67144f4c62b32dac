"""Batches on their way to a device, the next one while the present one is in use. Imports torch:
imported on use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import torch
from torch.utils.data import DataLoader


class DeviceLoader(DataLoader[Any]):
    """Another loader, all of it, whose batches are moved to a device.

    Args:
        loader: The one that it stands for.
        device: Where batches go.
        auto_transfer: Whether to copy one batch ahead, on a separate stream; for CUDA devices.
    """

    def __init__(self, loader: DataLoader[Any], device: torch.device, auto_transfer: bool):
        # No super().__init__: all that a loader has is the other's.
        object.__setattr__(self, "_loader", loader)
        object.__setattr__(self, "_device", device)
        object.__setattr__(self, "_ahead", auto_transfer and device.type == "cuda")

    def __len__(self) -> int:
        return len(self._loader)

    def __getattr__(self, name: str) -> Any:
        if name == "_loader":
            raise AttributeError(name)
        return getattr(self._loader, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._loader, name, value)

    def __iter__(self) -> Iterator[Any]:
        if self._ahead:
            return _one_ahead(iter(self._loader), self._device)
        return (move(batch, self._device) for batch in self._loader)


def move(batch: Any, device: torch.device) -> Any:
    """A batch on a device: tensors in lists, tuples and mappings, and objects that have ``to``.

    Args:
        batch: What a loader yields.
        device: Where to.
    """
    return _rebuild(batch, lambda leaf: _move_leaf(leaf, device))


def _one_ahead(batches: Iterator[Any], device: torch.device) -> Iterator[Any]:
    side = torch.cuda.Stream(device)
    ahead = _send(batches, device, side)
    while ahead is not None:
        batch, copied = ahead
        # On the stream that computes now: the loop may use another one.
        stream = torch.cuda.current_stream(device)
        stream.wait_event(copied)
        batch = _rebuild(batch, partial(_arrive, device=device, stream=stream))
        ahead = _send(batches, device, side)
        yield batch


def _send(batches: Iterator[Any], device: torch.device, side: torch.cuda.Stream) -> tuple[Any, torch.cuda.Event] | None:
    """Begins to copy the next batch; the event tells when it is there. None at the end."""
    try:
        batch = next(batches)
    except StopIteration:
        return None
    with torch.cuda.stream(side):
        batch = _rebuild(batch, lambda leaf: _send_leaf(leaf, device))
        return batch, side.record_event()


def _send_leaf(leaf: Any, device: torch.device) -> Any:
    if not isinstance(leaf, torch.Tensor):
        return leaf
    # From pageable memory the copy would have the host wait for it.
    if leaf.device.type == "cpu" and not leaf.is_pinned():
        leaf = leaf.pin_memory()
    return leaf.to(device, non_blocking=True)


def _arrive(leaf: Any, device: torch.device, stream: torch.cuda.Stream) -> Any:
    """Tells the allocator who else uses memory of the copying stream."""
    # What moves itself is moved only now: what it holds is its own affair and could not be kept for
    # this stream.
    if not isinstance(leaf, torch.Tensor):
        return _move_leaf(leaf, device)
    leaf.record_stream(stream)
    return leaf


def _move_leaf(leaf: Any, device: torch.device) -> Any:
    if isinstance(leaf, torch.Tensor):
        return leaf.to(device, non_blocking=True)
    return leaf.to(device) if hasattr(leaf, "to") else leaf


def _rebuild(batch: Any, change: Callable[[Any], Any]) -> Any:
    """The same structure with every leaf changed; what has ``to`` is a leaf."""
    if hasattr(batch, "to"):
        return change(batch)
    if isinstance(batch, Mapping):
        return {key: _rebuild(value, change) for key, value in batch.items()}
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        return type(batch)(*(_rebuild(value, change) for value in batch))
    if isinstance(batch, (list, tuple)):
        return type(batch)(_rebuild(value, change) for value in batch)
    return batch

"""Batches on their way to a device, the next one while the present one is in use. Imports torch:
imported on use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import torch


def move(batch: Any, device: torch.device) -> Any:
    """A batch on a device: tensors in lists, tuples and mappings, and objects that have ``to``.

    Args:
        batch: What a loader yields.
        device: Where to.
    """
    return changed(batch, lambda leaf: _move_leaf(leaf, device))


def one_ahead(batches: Iterator[Any], device: torch.device, pins: bool) -> Iterator[Any]:
    """Batches on a CUDA device. Each is copied on a separate stream while the one before is in use.

    Args:
        batches: What is moved, as :func:`move` does.
        device: Where to.
        pins: Whether tensors are copied to page-locked memory first. From other memory the host
            waits for each copy.
    """
    side = torch.cuda.Stream(device)
    ahead = _send(batches, device, side, pins)
    while ahead is not None:
        batch, copied = ahead
        # On the stream that computes now: the loop may use another one.
        stream = torch.cuda.current_stream(device)
        stream.wait_event(copied)
        batch = changed(batch, partial(_arrive, device=device, stream=stream))
        ahead = _send(batches, device, side, pins)
        yield batch


def pinned(leaf: Any) -> Any:
    """A tensor in page-locked memory; what is no tensor of the CPU, as it is."""
    if isinstance(leaf, torch.Tensor) and leaf.device.type == "cpu" and not leaf.is_pinned():
        return leaf.pin_memory()
    return leaf


def changed(batch: Any, change: Callable[[Any], Any]) -> Any:
    """The same structure with every leaf changed; what has ``to`` is a leaf.

    Args:
        batch: Lists, tuples and mappings of leaves, and others, which stay as they are.
        change: Makes a leaf of a leaf.
    """
    if hasattr(batch, "to"):
        return change(batch)
    if isinstance(batch, Mapping):
        return {key: changed(value, change) for key, value in batch.items()}
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        return type(batch)(*(changed(value, change) for value in batch))
    if isinstance(batch, (list, tuple)):
        return type(batch)(changed(value, change) for value in batch)
    return batch


def _send(
    batches: Iterator[Any], device: torch.device, side: torch.cuda.Stream, pins: bool
) -> tuple[Any, torch.cuda.Event] | None:
    """Begins to copy the next batch; the event tells when it is there. None at the end."""
    try:
        batch = next(batches)
    except StopIteration:
        return None
    with torch.cuda.stream(side):
        batch = changed(batch, lambda leaf: _send_leaf(leaf, device, pins))
        return batch, side.record_event()


def _send_leaf(leaf: Any, device: torch.device, pins: bool) -> Any:
    if not isinstance(leaf, torch.Tensor):
        return leaf
    return (pinned(leaf) if pins else leaf).to(device, non_blocking=True)


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

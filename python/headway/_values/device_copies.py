"""Batches on their way to a device, the next one while the present one is in use. Imports torch:
imported on use.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
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


def one_ahead(
    batches: Iterator[Any], device: torch.device, pins: bool, is_there: Callable[[], bool] = lambda: True
) -> Iterator[Any]:
    """Batches on a CUDA device. Each is copied on a separate stream while the one before is in use:
    large ones by another thread, so that a loop which waits for the device does not wait for
    copies.

    Args:
        batches: What is moved, as :func:`move` does.
        device: Where to.
        pins: Whether tensors are copied to page-locked memory first, from where the device reads
            by itself. From other memory a CPU copies.
        is_there: Whether the next batch need not be waited for: one that is not there is copied
            only once it is wanted.
    """
    copies = _Copies(device, pins)
    try:
        for batch, copied in begun_early(batches, copies.begin, is_there):
            # On the stream that computes now: the loop may use another one.
            stream = torch.cuda.current_stream(device)
            stream.wait_event(copied)
            yield changed(batch, partial(_arrive, device=device, stream=stream))
            del batch  # It is not kept while the next one is waited for.
    finally:
        copies.end()


def begun_early(
    batches: Iterator[Any], begin: Callable[[Any], Callable[[], Any]], is_there: Callable[[], bool]
) -> Iterator[Any]:
    """What is made of batches. The next one is begun before one is given, if it is there by then.
    If that fails, the one before is given first.

    Args:
        batches: The batches.
        begin: Begins with a batch; what is returned waits until it is made.
        is_there: Whether the next batch need not be waited for.
    """
    ahead: list[Callable[[], Any]] = []
    failed: Exception | None = None
    while failed is None:
        if not ahead:
            ahead += map(begin, itertools.islice(batches, 1))
            if not ahead:
                return
        made = ahead.pop()()
        try:
            if is_there():
                ahead += map(begin, itertools.islice(batches, 1))
        except Exception as error:
            failed = error
        yield made
        del made
    try:
        raise failed
    finally:
        del failed  # Its traceback has this frame, which would be freed by the collector only.


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


#: A batch, and the event of its last copy.
_Copied = tuple[Any, torch.cuda.Event]
#: What is smaller is copied sooner than another thread would begin.
_LARGE_BYTES = 1 << 20


class _Copies:
    """Copies of batches to a CUDA device, on a separate stream."""

    def __init__(self, device: torch.device, pins: bool):
        self._stream = torch.cuda.Stream(device)
        self._device = device
        self._pins = pins
        self._thread: ThreadPoolExecutor | None = None

    def begin(self, batch: Any) -> Callable[[], _Copied]:
        """Begins to copy a batch; what is returned waits until the copy is under way."""
        if _bytes_of(batch) < _LARGE_BYTES:
            copied = self._copy(batch)
            return lambda: copied
        self._thread = self._thread or ThreadPoolExecutor(1, "headway-copies")
        return self._thread.submit(self._copy, batch).result

    def end(self) -> None:
        """Waits for a copy that has begun."""
        if self._thread is not None:
            self._thread.shutdown()

    def _copy(self, batch: Any) -> _Copied:
        with torch.cuda.stream(self._stream):
            batch = changed(batch, lambda leaf: _send_leaf(leaf, self._device, self._pins))
            return batch, self._stream.record_event()


def _bytes_of(batch: Any) -> int:
    """Those of a batch's tensors."""
    if isinstance(batch, torch.Tensor):
        return batch.nbytes
    if isinstance(batch, Mapping):
        return sum(map(_bytes_of, batch.values()))
    return sum(map(_bytes_of, batch)) if isinstance(batch, (list, tuple)) else 0


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

"""A loader whose batches are on a device. Imports torch: imported on use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch.utils.data import DataLoader

from headway._values.device_copies import move, one_ahead


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
            return one_ahead(iter(self._loader), self._device, pins=True)
        return (move(batch, self._device) for batch in self._loader)

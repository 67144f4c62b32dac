"""The devices of a rank."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from headway._worker import session as worker_session

if TYPE_CHECKING:
    import torch


def get_device() -> torch.device:
    """The device that this rank should use: its first GPU, or the CPU.

    Every rank of a machine sees the GPUs of all of them, so the index is not always 0.

    Raises:
        RuntimeError: called outside of a training function.

    Example:
        >>> from headway.train.torch import get_device
        >>> def loop():
        ...     import torch
        ...     batch = torch.randn(8, 4, device=get_device())
    """
    return _devices("get_device()")[0]


def get_devices() -> list[torch.device]:
    """All devices of this rank: its GPUs (``resources_per_worker={"GPU": 2}`` gives two), or the CPU alone.

    Raises:
        RuntimeError: called outside of a training function.

    Example:
        >>> from headway.train.torch import get_devices
        >>> def loop():
        ...     first, second = get_devices()  # with resources_per_worker={"GPU": 2}
    """
    return _devices("get_devices()")


def visible_gpus() -> list[str]:
    """The devices that this process sees, as CUDA_VISIBLE_DEVICES names them, in the order of their indices."""
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    if named is not None:
        return [gpu for gpu in named.split(",") if gpu]
    import torch

    return [str(index) for index in range(torch.cuda.device_count())]


def _devices(caller: str) -> list[torch.device]:
    session = worker_session.current(caller)
    import torch

    gpus = session.context["plan"]["slot"]["gpu_ids"]
    if not gpus:
        return [torch.device("cpu")]
    visible = visible_gpus()
    return [torch.device("cuda", visible.index(gpu)) for gpu in gpus]

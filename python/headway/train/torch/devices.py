"""The devices of a rank."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headway import _session as worker_session
from headway._values.gpus import visible_gpus

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
    """All devices of this rank: its GPUs (``resources_per_worker={"GPU": 2}`` gives two), or the
    CPU alone.

    Raises:
        RuntimeError: called outside of a training function.

    Example:
        >>> from headway.train.torch import get_devices
        >>> def loop():
        ...     first, second = get_devices()  # with resources_per_worker={"GPU": 2}
    """
    return _devices("get_devices()")


def _devices(caller: str) -> list[torch.device]:
    session = worker_session.current(caller)
    import torch

    gpus = session.context["plan"]["slot"]["gpu_ids"]
    if not gpus:
        return [torch.device("cpu")]
    visible = visible_gpus()
    return [torch.device("cuda", visible.index(gpu)) for gpu in gpus]

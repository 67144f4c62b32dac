"""The GPUs that this process sees."""

from __future__ import annotations

import os


def visible_gpus() -> list[str]:
    """The devices that this process sees, as CUDA_VISIBLE_DEVICES names them, in the order of their
    indices.
    """
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    if named is not None:
        return [gpu for gpu in named.split(",") if gpu]
    import torch

    return [str(index) for index in range(torch.cuda.device_count())]

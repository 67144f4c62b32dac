"""XLA devices (TPUs, Trainium): named, so that a script that asks for them gets an error."""

from __future__ import annotations

import importlib.util
from typing import Any

from headway.train.torch.config import TorchConfig

__all__ = ["TorchXLAConfig"]


class TorchXLAConfig(TorchConfig):
    """Ray Train's settings for ``torch_xla``. Headway trains on CPUs and CUDA devices: making one
    raises.

    Raises:
        ImportError: torch_xla is not installed, as is usual.
        RuntimeError: it is; the message says what to use.

    Example:
        >>> from headway.train.torch.xla import TorchXLAConfig
        >>> TorchXLAConfig()
        Traceback (most recent call last):
            ...
        ImportError: TorchXLAConfig needs torch_xla, which is not installed. Headway trains on ...
    """

    def __init__(self, *args: Any, **kwargs: Any):
        what_else = "Headway trains on CPUs and CUDA devices; use headway.train.torch.TorchConfig there"
        if importlib.util.find_spec("torch_xla") is None:
            raise ImportError(f"TorchXLAConfig needs torch_xla, which is not installed. {what_else}")
        raise RuntimeError(f"TorchXLAConfig: this version of Headway cannot use XLA devices. {what_else}")

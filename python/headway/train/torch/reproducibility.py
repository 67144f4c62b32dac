"""Runs that can be had again, number for number."""

from __future__ import annotations

import contextlib
import os
import random

from headway._values.arguments import check_int


def enable_reproducibility(seed: int = 0) -> None:
    """Seeds all generators and takes away what else makes two runs differ. Call it first in the
    training function.

    It seeds Python's, NumPy's and torch's generators (the latter on all devices), the same in every
    rank; has torch use deterministic algorithms, and raise where an operation has none; and turns
    cuDNN's choice by measurement off. A data loader's worker processes are seeded by torch from its
    generator, so they follow. Training is slower for it.

    What is to differ between ranks must be made so: ``torch.manual_seed(seed + rank)`` afterwards
    gives each rank different dropout, for example. PyTorch's notes on randomness tell what remains:
    other versions, devices or numbers of threads give other numbers.

    Args:
        seed: 0 (default) to 2**31 - 1.

    Raises:
        TypeError, ValueError: ``seed`` is no such integer.

    Example:
        >>> from headway.train.torch import enable_reproducibility
        >>> def loop():
        ...     import torch
        ...     enable_reproducibility(seed=3)
        ...     model = torch.nn.Linear(4, 1)  # the same in every rank and every run
    """
    allowed = "an integer from 0 to 2**31 - 1"
    seed = check_int("seed", seed, allowed)
    if seed < 0:
        raise ValueError(f"seed is {seed}; allowed: {allowed}")
    import torch

    # Read when cuBLAS is first used; without it deterministic algorithms are refused for matrix
    # products on GPUs.
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    random.seed(seed)
    with contextlib.suppress(ImportError):  # Without it nothing draws from it.
        import numpy

        numpy.random.seed(seed)
    torch.manual_seed(seed)
    torch.use_deterministic_algorithms(True)
    torch.backends.cudnn.benchmark = False

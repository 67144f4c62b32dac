"""What libraries on top of torch have to know of a rank, and whether they train with the other
ranks.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from headway import _session as worker_session
from headway.train.torch import _accelerate_fsdp, _deepspeed


def describe_rank(device: str) -> None:
    """Before training: Accelerate (so Transformers too) takes ``device``, and Lightning knows its
    rank.

    Args:
        device: ``"cpu"``, or the rank's own, such as ``"cuda:1"``.
    """
    if device == "cpu":
        # Without it Accelerate trains alone in each rank.
        os.environ["ACCELERATE_USE_CPU"] = "true"
    else:
        os.environ["ACCELERATE_TORCH_DEVICE"] = device
    rank_zero = sys.modules.get("lightning_utilities.core.rank_zero")
    if rank_zero is not None:
        # It reads the rank from the environment when it is imported, and the factory has none.
        context = worker_session.current("the torch backend").context
        rank_zero.rank_zero_only.rank = context["plan"]["rank"]
    _deepspeed.describe_rank(device)
    _accelerate_fsdp.describe_rank(device)
    worker_session.add_rank_check(_check_accelerate)


def _check_accelerate() -> None:
    state: Any = getattr(sys.modules.get("accelerate.state"), "AcceleratorState", None)
    processes = getattr(state, "_shared_state", {}).get("num_processes")
    ranks = worker_session.current("the torch backend").context["world_size"]
    if processes is not None and processes != ranks:
        raise RuntimeError(
            f"Accelerate trains with {processes} of the run's {ranks} ranks, so the ranks do not share gradients. "
            "It was set up before it knew of them: create Accelerator() in the training function, before a "
            "PartialState() (on CPUs that needs PartialState(cpu=True))"
        )

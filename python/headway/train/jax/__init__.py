"""JAX: a trainer whose ranks are the processes of one program, on CPUs too.

Importing this module does not import jax.
"""

from __future__ import annotations

from typing import Any

from headway._places.missing import explanation
from headway._values.named_arguments import offer
from headway.train.jax.config import JaxConfig
from headway.train.jax.jax_trainer import JaxTrainer

__all__ = ["JaxConfig", "JaxTrainer"]

offer(globals(), __all__)


def __getattr__(name: str) -> Any:
    raise AttributeError(explanation(f"{__name__}.{name}") or f"module {__name__!r} has no attribute {name!r}")

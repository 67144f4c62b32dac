"""A training function within a framework's context."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any


@dataclass
class InContext:
    """Calls a training function within a context that is made anew in each rank.

    Attributes:
        train_loop_per_worker: The function.
        context: What ``BackendConfig.train_func_context`` says: called without arguments, it gives
            the context.
    """

    train_loop_per_worker: Callable[..., Any]
    context: Callable[[], AbstractContextManager[Any]]

    def __call__(self, *args: Any) -> Any:
        """What the function returns."""
        with self.context():
            return self.train_loop_per_worker(*args)

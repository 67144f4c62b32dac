"""A training function within a framework's context."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from headway import _session as worker_session


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


@dataclass
class TrialName:
    """A context that only says what a rank's trial is called.

    Attributes:
        name: The trial's.
    """

    name: str

    def __call__(self) -> AbstractContextManager[Any]:
        """Says it."""
        worker_session.name_trial(self.name)
        return nullcontext()

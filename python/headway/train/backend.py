"""What a framework needs around a worker group: hooks that run in the driver and reach into every
rank.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar, Protocol


class WorkerGroup(Protocol):
    """The workers of one attempt, as hooks see them."""

    @property
    def num_workers(self) -> int:
        """Workers in the group."""
        ...

    def execute(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> list[Any]:
        """Calls ``function`` in every rank at once and returns their values, in the order of
        ranks.
        """
        ...

    def execute_single(self, rank: int, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Calls ``function`` in one rank and returns its value."""
        ...

    def execute_each(self, calls: list[tuple[Callable[..., Any], tuple[Any, ...]]]) -> list[Any]:
        """Calls one function a rank, each with its own arguments, at once."""
        ...

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[int]: ...


class Backend:
    """Hooks of a framework. Subclass it, and name the subclass in a :class:`BackendConfig`.

    A hook that raises ends the attempt with its exception as the reason.

    Example:
        >>> class Greeting(Backend):
        ...     def on_start(self, worker_group, backend_config):
        ...         print(worker_group.execute(lambda: "ready"))
    """

    def on_start(self, worker_group: WorkerGroup, backend_config: Any) -> None:
        """The group's processes are up; nothing of the user's has run."""

    def on_training_start(self, worker_group: WorkerGroup, backend_config: Any) -> None:
        """Right before the training function starts in every rank."""

    def on_shutdown(self, worker_group: WorkerGroup, backend_config: Any) -> None:
        """Every rank has returned from the training function. Not called for a group that
        failed.
        """

    def clean_up(self, backend_config: Any) -> None:
        """The processes of a group are gone, and ``on_shutdown`` was not called for it: it failed,
        was stopped, or a group of another size follows. Whatever ``on_start`` has left in the
        driver can be ended here.

        Called before the next group's ``on_start``, and at the end of the run. An exception is a
        warning, and so is a call that has not returned within 30 seconds: the run does not wait for
        it any longer.
        """


class BackendConfig:
    """A framework's settings, and which :class:`Backend` they are for.

    Example:
        >>> class GreetingConfig(BackendConfig):
        ...     @property
        ...     def backend_cls(self):
        ...         return Greeting
        ...
        ...     @property
        ...     def train_func_context(self):
        ...         import torch
        ...
        ...         return torch.inference_mode
    """

    #: Whether ``on_start`` has the workers answer where they stand in their collectives.
    collectives: ClassVar[bool] = False

    #: Modules that the worker factory imports before it forks workers.
    preload: ClassVar[tuple[str, ...]] = ()

    @property
    def backend_cls(self) -> type[Backend]:
        """The hooks' class."""
        return Backend

    @property
    def train_func_context(self) -> Callable[[], AbstractContextManager[Any]]:
        """Called in each rank, it gives the context that the training function runs in; none by
        default.
        """
        return nullcontext

    @property
    def framework(self) -> str | None:
        """The framework's name, such as ``"torch"``; None when it is nobody's in particular."""
        return None

    def to_dict(self) -> dict[str, Any]:
        """The settings that people may read; none by default."""
        return {}

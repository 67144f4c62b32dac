"""The communicator through which XGBoost's ranks build one model."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from headway import _session as worker_session
from headway.train import _ports
from headway.train.backend import Backend, BackendConfig, WorkerGroup

# What XGBoost says when a peer is gone.
_ECHO_WORDS = ("allreduce failed", "allgather failed", "broadcast failed", "connection", "socket", "another worker")


@dataclass
class XGBoostConfig(BackendConfig):
    """Settings of XGBoost's communicator.

    Attributes:
        xgboost_communicator: ``"rabit"``, the one that there is.

    Raises:
        ValueError: another communicator.

    Example:
        >>> from headway.train.xgboost import XGBoostConfig, XGBoostTrainer
        >>> trainer = XGBoostTrainer(lambda: None, xgboost_config=XGBoostConfig())
        >>> trainer.backend_config.xgboost_communicator
        'rabit'
    """

    xgboost_communicator: str = "rabit"

    preload: ClassVar[tuple[str, ...]] = ("xgboost", "headway.train.xgboost")

    def __post_init__(self) -> None:
        if self.xgboost_communicator != "rabit":
            raise ValueError(f'XGBoostConfig.xgboost_communicator is {self.xgboost_communicator!r}; allowed: "rabit"')

    @property
    def framework(self) -> str:
        """``"xgboost"``."""
        return "xgboost"

    def to_dict(self) -> dict[str, Any]:
        """The settings by name."""
        return asdict(self)

    @property
    def backend_cls(self) -> type[Backend]:
        """The hooks that bring the ranks together."""
        return XGBoostBackend

    @property
    def train_func_context(self) -> Callable[[], AbstractContextManager[Any]]:
        """The communicator: its ranks are the run's."""
        return _communicating


class XGBoostBackend(Backend):
    """Has rank 0 serve the tracker at which XGBoost's ranks meet."""

    def on_start(self, worker_group: WorkerGroup, backend_config: XGBoostConfig) -> None:
        """The tracker ends with the process of rank 0, so a failed group leaves none behind."""
        worker_group.execute(_import_xgboost)
        arguments = worker_group.execute_single(0, _start_tracker) if len(worker_group) > 1 else None
        worker_group.execute(_keep, arguments)


_tracker: Any = None
_arguments: dict[str, Any] | None = None


def _import_xgboost() -> None:
    import xgboost.collective
    import xgboost.tracker  # noqa: F401


def _start_tracker() -> dict[str, Any]:
    """In rank 0. The system chooses the port on which it listens."""
    global _tracker
    from xgboost.tracker import RabitTracker

    ranks = worker_session.current("the xgboost backend").context["world_size"]
    host = _ports.own_host("the xgboost backend")
    # By task: XGBoost's ranks are then the run's.
    _tracker = RabitTracker(n_workers=ranks, host_ip=host, sortby="task")
    _tracker.start()
    return _tracker.worker_args()


def _keep(arguments: dict[str, Any] | None) -> None:
    global _arguments
    _arguments = arguments
    worker_session.add_echo_test(_is_echo)


@contextlib.contextmanager
def _communicating() -> Iterator[None]:
    """Around the training function."""
    if _arguments is None:
        yield
        return
    from xgboost.collective import CommunicatorContext

    rank = worker_session.current("the xgboost backend").context["plan"]["rank"]
    communicator = CommunicatorContext(**_arguments, dmlc_task_id=f"{rank:08d}")
    communicator.__enter__()
    yield
    # Not after an exception: the others would hear of that before the driver does.
    communicator.__exit__(None, None, None)


def _is_echo(error: BaseException) -> bool:
    """A collective that broke because its peer went away."""
    if type(error).__name__ != "XGBoostError":
        return False
    return any(word in str(error).lower() for word in _ECHO_WORDS)

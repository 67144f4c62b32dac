"""Which rank a process is, as Lightning asks for it."""

from __future__ import annotations

from headway import _session as worker_session
from headway._values.late_base import LateBase
from headway.train.lightning._package import lightning


class LightningEnvironment(LateBase):
    """The cluster environment of a Lightning ``Trainer`` in a training function: the run's ranks
    and nodes.

    It inherits from Lightning's ``LightningEnvironment``. Ray's name for it is
    ``RayLightningEnvironment``.

    Raises:
        ImportError: Lightning is not installed.

    Example:
        >>> from headway.train.lightning import DDPStrategy, LightningEnvironment
        >>> def loop():
        ...     import lightning
        ...     trainer = lightning.Trainer(strategy=DDPStrategy(), plugins=[LightningEnvironment()])
    """

    @classmethod
    def _late_base(cls) -> type:
        return lightning("plugins.environments").LightningEnvironment

    @property
    def creates_processes_externally(self) -> bool:
        """True: Headway has started the ranks."""
        return True

    def world_size(self) -> int:
        """Ranks of the run."""
        return worker_session.current("LightningEnvironment").context["world_size"]

    def set_world_size(self, size: int) -> None:
        """Changes nothing."""

    def global_rank(self) -> int:
        """This process's rank."""
        return self._plan()["rank"]

    def set_global_rank(self, rank: int) -> None:
        """Changes nothing."""

    def local_rank(self) -> int:
        """Its rank among those of its node."""
        return self._plan()["local_rank"]

    def node_rank(self) -> int:
        """Its node's rank."""
        return self._plan()["node_rank"]

    def teardown(self) -> None:
        """Changes nothing: another Trainer may follow in the same training function."""

    def _plan(self) -> dict[str, int]:
        return worker_session.current("LightningEnvironment").context["plan"]

"""The one trial that a run is, as the older callbacks see it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from headway._checkpoint.checkpoint import Checkpoint


@dataclass
class Trial:
    """A run, as the older callbacks see it.

    Attributes:
        trial_id: The same over restarts.
        trial_name: The run's name.
        trainable_name: The trainer's class.
        config: The training function's configuration.
        path: The run's folder. ``local_path``, ``logdir`` and ``experiment_dir_name`` are about it
            too.
        status: ``"RUNNING"``, ``"TERMINATED"`` or ``"ERROR"``; of a tuner's trial also
            ``"PENDING"`` or ``"PAUSED"``.
        last_result: The newest report, or an empty dict.
        checkpoint: The newest committed checkpoint, or None.
        experiment_name: The tuner's experiment; empty for a run that no tuner started.
        placement_group_factory: What a tuner's trial may use, where a scheduler that the
            user wrote decides; else None.

    Example:
        >>> from headway import tune
        >>> class Where(tune.Callback):
        ...     def on_trial_start(self, iteration: int, trials: list[tune.Trial], trial: tune.Trial, **info):
        ...         print(trial.trial_name, trial.path)
    """

    PENDING: ClassVar[str] = "PENDING"
    RUNNING: ClassVar[str] = "RUNNING"
    PAUSED: ClassVar[str] = "PAUSED"
    TERMINATED: ClassVar[str] = "TERMINATED"
    ERROR: ClassVar[str] = "ERROR"

    trial_id: str
    trial_name: str
    trainable_name: str
    config: dict[str, Any]
    path: str
    status: str = "RUNNING"
    last_result: dict[str, Any] = field(default_factory=dict)
    checkpoint: Checkpoint | None = None
    experiment_name: str = ""
    placement_group_factory: Any = None

    def is_finished(self) -> bool:
        """Whether it has ended."""
        return self.status in (Trial.TERMINATED, Trial.ERROR)

    @property
    def evaluated_params(self) -> dict[str, Any]:
        """``config``: there is no search space."""
        return self.config

    @property
    def experiment_tag(self) -> str:
        """Nothing tells this trial from others."""
        return ""

    @property
    def local_path(self) -> str:
        """``path``."""
        return self.path

    @property
    def logdir(self) -> str:
        """``path``."""
        return self.path

    @property
    def experiment_dir_name(self) -> str:
        """``experiment_name``, else ``trial_name``."""
        return self.experiment_name or self.trial_name

    def __str__(self) -> str:
        return f"{self.trainable_name}_{self.trial_id}"

    def __hash__(self) -> int:
        return hash(self.trial_id)

"""What each tracker implements: its calls are made on one thread, which may wait for a server."""

from __future__ import annotations

import abc
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class TrackedRun:
    """A run, as a tracker shows it.

    Attributes:
        name: The run's name.
        location: The run's folder, see ``headway._storage.locations``.
        path: The same as a path on its filesystem.
        is_local: Whether the folder is on a disk of this machine.
        config: The training function's configuration as JSON has it: other values are text.
        group: What it belongs to: a tuner's experiment, or the run itself.
    """

    name: str
    location: str
    path: str
    is_local: bool
    config: dict[str, Any] = field(default_factory=dict)
    group: str = ""


class Tracker(abc.ABC):
    """One run at one tracker. A method that raises is warned of once, and never fails the run."""

    @abc.abstractmethod
    def open(self, run: TrackedRun, earlier: str | None) -> str:
        """Starts or resumes the run at the tracker. Called first, and once.

        Args:
            run: The run.
            earlier: The id that an earlier driver of this run got here; None: there was none.

        Returns:
            The run's id at the tracker.
        """

    @abc.abstractmethod
    def log(self, step: int, metrics: dict[str, Any]) -> None:
        """A report.

        Args:
            step: The report's number in the run, over all attempts and drivers; from 1.
            metrics: By name, with ``/`` between nested names.
        """

    @abc.abstractmethod
    def checkpoint(self, step: int, location: str, shown: str) -> None:
        """A checkpoint is committed.

        Args:
            step: The number of its report.
            location: Where it is.
            shown: The same without secrets, for people.
        """

    @abc.abstractmethod
    def close(self, *, failed: bool) -> None:
        """The run has ended; what was logged is to be delivered before this returns."""

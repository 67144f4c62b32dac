"""What is said of how long a consumer waits for a data set: to the driver, or in a warning."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any, Protocol

from headway import _core
from headway import _session as worker_session
from headway._values.log import warn

if TYPE_CHECKING:
    from headway.data._progress import Progress

#: The driver hears of a wait for a batch after so many seconds, then after twice as many …
_STARVING_S = 1.0
#: … but not more seldom than this, as counts are.
_TOLD_EACH_S = 10.0
#: Outside a training, a consumer that has waited for another one for so long is warned.
_WARNED_AFTER_S = 10.0


class Measured(Protocol):
    """An epoch of a data set, as its consumer sees it."""

    @property
    def counters(self) -> dict[str, Any]:
        """What the stages have done."""

    @property
    def waits(self) -> dict[str, float]:
        """How long batches were waited for, in seconds, of how long."""


class RankWaits:
    """Tells the driver how long this rank has waited for batches of a data set, and what it waits
    for while a wait lasts.

    Args:
        name: The data set's name.
        session: The rank's.
    """

    def __init__(self, name: str, session: worker_session.WorkerSession):
        self._name = name
        self._session = session
        #: Of the epochs before.
        self._waits = {"waiting_s": 0.0, "elapsed_s": 0.0}
        self._flow: str | None = None
        self._began_s = 0.0
        self._tell_after_s = _STARVING_S
        self._told_s = time.monotonic()
        self._starving = False
        #: Whether no batch of this epoch has come.
        self._is_opening = True

    def begin(self) -> None:
        """The rank waits for its next batch."""
        self._began_s, self._tell_after_s = time.monotonic(), _STARVING_S

    def lasts(self, counters: str) -> None:
        """The wait lasts, and this is what the stages of the data set do: JSON."""
        waited_s = time.monotonic() - self._began_s
        if waited_s < self._tell_after_s:
            return
        self._tell_after_s += min(self._tell_after_s, _TOLD_EACH_S)
        self._starving = True
        self._tell(self._waits, json.loads(counters), waited_s)

    def end(self, stream: Measured) -> None:
        """The rank has its batch."""
        if self._is_opening:
            self._is_opening = False
            if self._flow is not None:
                self._count(time.monotonic() - self._began_s)
        if self._starving or time.monotonic() - self._told_s >= _TOLD_EACH_S:
            self._tell_all(stream)

    def end_epoch(self, stream: Measured) -> None:
        """No more batches are wanted of this epoch."""
        self._tell_all(stream)
        self._waits, self._flow = self._waits_with(stream), self._flow_with(stream)
        self._is_opening = True

    def _count(self, waited_s: float) -> None:
        """For an epoch's first batch. That of the first epoch is the run's start; what a stream
        says of its waits is from its first batch on.
        """
        self._waits = {name: seconds + waited_s for name, seconds in self._waits.items()}

    def _waits_with(self, stream: Measured) -> dict[str, float]:
        waits = stream.waits
        return {name: seconds + waits[name] for name, seconds in self._waits.items()}

    def _flow_with(self, stream: Measured) -> str:
        epoch = json.dumps(stream.counters)
        return epoch if self._flow is None else _core.data_flows_together(self._flow, epoch)

    def _tell_all(self, stream: Measured) -> None:
        self._starving = False
        self._told_s = time.monotonic()
        self._tell(self._waits_with(stream), json.loads(self._flow_with(stream)), None)

    def _tell(self, waits: dict[str, float], flow: Any, starving_s: float | None) -> None:
        told = {"dataset": self._name, "waits": waits, "flow": flow, "starving_s": starving_s}
        self._session.core.send_data_progress(json.dumps(told))


class SharerWaits:
    """Warns, once an epoch, when one of those who share a data set waits for another of them: where
    they are consumed one after the other, each would wait forever.

    Args:
        rank: Which of them this is.
        world_size: How many they are.
        progress: The line that shows how far the rows are.
    """

    def __init__(self, rank: int, world_size: int, progress: Progress):
        self._rank = rank
        self._world_size = world_size
        self._progress = progress
        self._began_s = 0.0
        self._has_warned = False

    def begin(self) -> None:
        """The consumer waits for its next batch."""
        self._began_s = time.monotonic()

    def lasts(self, counters: str) -> None:
        """The wait lasts, and this is what the stages of the data set do: JSON."""
        waited_s = time.monotonic() - self._began_s
        if waited_s >= _WARNED_AFTER_S and not self._has_warned:
            self._warn(counters, waited_s)
        if self._progress.told is not None:
            self._progress.told(counters)

    def _warn(self, counters: str, waited_s: float) -> None:
        awaited = _core.data_awaited_words(counters)
        if not awaited:
            return
        self._has_warned = True
        self._progress.hide()
        remedy = "; consume all shares at the same time, each in its own thread or process"
        warn(
            f"rank {self._rank} of the {self._world_size} that share a data set has waited for a batch for "
            f"{waited_s:.0f} s, because {awaited}{remedy if json.loads(counters)['absent'] else ''}"
        )

    def end(self, stream: Measured) -> None:
        """The consumer has its batch."""


def of_rank(name: str | None) -> RankWaits | None:
    """For the share of a rank; None for what is no data set of a trainer's, or in another
    process.
    """
    session = worker_session.active()
    return None if name is None or session is None else RankWaits(name, session)


def of_sharer(consumption: dict[str, Any], progress: Progress) -> SharerWaits | None:
    """Outside a training, for one of several who share the rows; None for who has all rows."""
    world_size = consumption["world_size"]
    return SharerWaits(consumption["rank"], world_size, progress) if world_size > 1 else None

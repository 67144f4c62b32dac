"""Where a set-up function of a tracker was called: in which rank of which run, or elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

from headway import _session


@dataclass(frozen=True)
class Place:
    """A rank of a run.

    Attributes:
        rank: 0 to world size - 1.
        trial_id: The run's id, the same in all of its attempts and drivers.
        run_name: The run's name.
    """

    rank: int
    trial_id: str
    run_name: str


def place() -> Place | None:
    """This rank; None outside of a training function."""
    session = _session.active()
    if session is None:
        return None
    context = session.context
    return Place(context["plan"]["rank"], context["trial_id"], context["run_name"])

"""What trials and their folders are called."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Mapping
from typing import Any

from headway.tune._space.variants import Path

#: A longer tag is cut short: names of folders have limits.
_TAG_MAX = 130


class TrialNames:
    """Ids of an experiment's trials, ``5f3c1_00000`` and so on.

    Args:
        begun: How many trials earlier drivers have begun.
        newest: The newest one's id: the ids of an experiment begin alike, whoever drives it.
    """

    def __init__(self, begun: int = 0, newest: str | None = None):
        self._start = newest.partition("_")[0] if newest else secrets.token_hex(3)[:5]
        self._next = begun

    @property
    def next_number(self) -> int:
        """The next trial's, from 0."""
        return self._next

    def next_id(self) -> str:
        """The next trial's id."""
        found = f"{self._start}_{self._next:05d}"
        self._next += 1
        return found

    def give_back(self) -> None:
        """The newest id was not used."""
        self._next -= 1


def tag_of(number: int, drawn: Mapping[Path, Any]) -> str:
    """What tells a trial from others: its number, and what was drawn for it.

    Args:
        number: From 0.
        drawn: By path.
    """
    values = ",".join(f"{_clean(path[-1])}={_clean(value)}" for path, value in sorted(drawn.items(), key=_order))
    return f"{number}_{values}" if values else str(number)


def folder_of(trainable: str, trial_id: str, tag: str) -> str:
    """The name of a trial's folder."""
    return f"{_clean(trainable)}_{trial_id}_{tag}"[: len(trainable) + len(trial_id) + _TAG_MAX] + time.strftime(
        "_%Y-%m-%d_%H-%M-%S"
    )


def _order(entry: tuple[Path, Any]) -> tuple[str, ...]:
    return tuple(map(str, entry[0]))


def _clean(value: Any) -> str:
    text = f"{value:.4f}" if isinstance(value, float) else str(value)
    if isinstance(value, float):
        return text
    return re.sub(r"_+", "_", re.sub(r"[^A-Za-z0-9_-]", "_", text)).strip("_")

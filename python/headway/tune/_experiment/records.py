"""What an experiment knows of each of its trials, in little memory: the rest is in the trial's
folder.
"""

from __future__ import annotations

import contextlib
import functools
import os
import struct
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import cloudpickle

from headway import _core
from headway._storage import locations, run_files
from headway._values.log import warn

#: The configuration as it was, with what JSON does not have.
PARAMS = "params.pkl"
#: The one that it will be.
NEXT_PARAMS = "params.pkl.next"


@dataclass(slots=True)
class TrialRecord:
    """A trial.

    Attributes:
        trial_id: Its id.
        folder: Its folder's name.
        state: ``"waiting"``, ``"running"``, ``"paused"``, ``"unfinished"``, ``"terminated"`` or
            ``"errored"``.
        reason: Why it ended, in words.
        last: The numbers of its last report, by flat names.
        reports: How many reports there were.
        error: The exception that it ended with, where this process has heard it.
        replaced: Whether a later trial tries its configuration once more.
    """

    trial_id: str
    folder: str
    state: str = "waiting"
    reason: str = ""
    last: Mapping[str, float] = field(default_factory=lambda: _NO_NUMBERS)
    reports: int = 0
    error: Exception | None = field(default=None, repr=False)
    replaced: bool = False


class Records:
    """All trials of an experiment, in the order in which they were suggested.

    Args:
        path: Where the experiment's own files are.
        location: Where the experiment is, with its trials. Default: there, too.
    """

    def __init__(self, path: str, location: str | None = None):
        self.path = path
        self.location = location or path
        self._by_id: dict[str, TrialRecord] = {}

    @classmethod
    def read(cls, path: str, location: str | None = None) -> Records:
        """Those of an experiment's journal.

        Args:
            path: Where the experiment's own files are.
            location: Where the experiment is.

        Raises:
            FileNotFoundError: there is none.
        """
        found = cls(path, location)

        def take(
            trial_id: str, folder: str, state: str, reason: str, last: dict[str, float], reports: int, replaced: bool
        ) -> None:
            numbers = Numbers(last) if last else _NO_NUMBERS
            found.add(
                TrialRecord(trial_id, folder, sys.intern(state), sys.intern(reason), numbers, reports, None, replaced)
            )

        _core.each_trial(path, take)
        return found

    def __len__(self) -> int:
        return len(self._by_id)

    def __iter__(self) -> Iterator[TrialRecord]:
        return iter(self._by_id.values())

    @property
    def newest_id(self) -> str | None:
        """The id of the trial that was suggested last, if there is one."""
        return next(reversed(self._by_id), None)

    def __getitem__(self, trial_id: str) -> TrialRecord:
        return self._by_id[trial_id]

    def has_folder(self, name: str) -> bool:
        """Whether a trial has a folder of this name."""
        return any(record.folder == name for record in self)

    def add(self, record: TrialRecord) -> None:
        """A trial was suggested."""
        self._by_id[record.trial_id] = record

    def folder(self, record: TrialRecord) -> str:
        """A trial's folder, with its path."""
        return locations.join(self.location, record.folder)

    def write_config(self, record: TrialRecord, config: dict[str, Any]) -> None:
        """Keeps a new trial's configuration as it is, before the journal has the trial: nobody
        reads what is left of one that was not written whole.
        """
        folder = os.path.join(self.path, record.folder)
        with contextlib.suppress(FileExistsError):
            os.mkdir(folder)
        with open(os.path.join(folder, PARAMS), "wb") as file:
            cloudpickle.dump(config, file)

    def write_next_config(self, record: TrialRecord, config: dict[str, Any]) -> None:
        """Keeps the configuration that a trial has from its next start on."""
        with open(os.path.join(self.path, record.folder, NEXT_PARAMS), "wb") as file:
            cloudpickle.dump(config, file)

    def take_next_config(self, record: TrialRecord) -> None:
        """It starts with that configuration, if it has not already."""
        next_params = os.path.join(self.path, record.folder, NEXT_PARAMS)
        if os.path.exists(next_params):
            os.replace(next_params, os.path.join(self.path, record.folder, PARAMS))

    def config(self, record: TrialRecord) -> dict[str, Any]:
        """A trial's configuration."""
        try:
            config: dict[str, Any] = cloudpickle.loads(self._pickled_config(record))
            return config
        except FileNotFoundError:
            pass
        except Exception as error:
            warn(f"{PARAMS} of the trial {record.trial_id} cannot be loaded here: {type(error).__name__}: {error}")
        return run_files.read_json(self.folder(record), "params.json") or {}

    def _pickled_config(self, record: TrialRecord) -> bytes:
        path = os.path.join(self.path, record.folder, PARAMS)
        if self.location == self.path or os.path.exists(path):
            with open(path, "rb") as file:
                return file.read()
        return locations.read_file(locations.join(self.folder(record), PARAMS))


class Numbers(Mapping[str, float]):
    """Numbers by name, in an eighth of a dict's memory: trials have the same names."""

    __slots__ = ("_names", "_values")

    def __init__(self, numbers: Mapping[str, float]):
        self._names = _names_of(tuple(numbers), tuple(isinstance(each, int) for each in numbers.values()))
        self._values = struct.pack(f"{len(numbers)}d", *numbers.values())

    def __getitem__(self, name: str) -> float:
        index, is_whole = self._names[name]
        (value,) = _NUMBER.unpack_from(self._values, index * _NUMBER.size)
        return int(value) if is_whole else value

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class ReportNumbers(Mapping[str, float]):
    """Those of a report, looked for when somebody asks.

    Args:
        line: The report, as in result.json.
    """

    __slots__ = ("_line", "_numbers")

    def __init__(self, line: dict[str, Any]):
        self._line = line
        self._numbers: dict[str, float] | None = None

    def _found(self) -> dict[str, float]:
        if self._numbers is None:
            self._numbers = numbers_of(self._line)
        return self._numbers

    def __getitem__(self, name: str) -> float:
        return self._found()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found())

    def __len__(self) -> int:
        return len(self._found())


_NUMBER = struct.Struct("d")
_NO_NUMBERS: Mapping[str, float] = {}


@functools.lru_cache(256)
def _names_of(names: tuple[str, ...], are_whole: tuple[bool, ...]) -> dict[str, tuple[int, bool]]:
    """By name, its place, and whether it is a whole number."""
    return {name: (index, is_whole) for index, (name, is_whole) in enumerate(zip(names, are_whole, strict=True))}


def numbers_of(line: dict[str, Any]) -> dict[str, float]:
    """The numbers of a report, by flat names; booleans are 0 and 1, as where trials are stopped."""
    flat = run_files.flat({name: value for name, value in line.items() if name != "config"})
    return {
        name: int(value) if isinstance(value, bool) else value
        for name, value in flat.items()
        if isinstance(value, (int, float))
    }

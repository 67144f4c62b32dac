"""``trainer.pkl`` in a run's folder: what a trainer was made of, for :meth:`restore` and for
nothing else.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from typing import Any

import cloudpickle

from headway import _core
from headway._storage import locations

FILE_NAME = "trainer.pkl"
_VERSION = 1


def dumps(trainer: str, parts: dict[str, Any]) -> bytes:
    """A trainer's name and its arguments, each pickled by itself: one that can't be loaded later is
    in nobody's way.
    """
    pickled, failures = pickled_parts(parts)
    return pickle.dumps({"version": _VERSION, "trainer": trainer, "parts": pickled, "failures": failures})


def pickled_parts(parts: dict[str, Any]) -> tuple[dict[str, bytes], dict[str, str]]:
    """Arguments by name, each pickled by itself, and why others could not be."""
    pickled: dict[str, bytes] = {}
    failures: dict[str, str] = {}
    for name, value in parts.items():
        try:
            pickled[name] = cloudpickle.dumps(value)
        except Exception as error:
            failures[name] = f"{type(error).__name__}: {error}"
    return pickled, failures


class SavedTrainer:
    """The trainer of the run in a folder.

    Args:
        location: The folder's.
        trainer: The name of the class that is to resume the run.

    Raises:
        FileNotFoundError: there is no run in the folder, or none that a trainer of this version can
            be made from.
        ValueError: another trainer's run, or one of a newer Headway.
        OSError: the folder can't be read, or its ``run.json`` is none of Headway's.
    """

    def __init__(self, location: str, trainer: str):
        self._folder = locations.shown(location)
        self._restore = f"{trainer}.restore"
        _core.read_journal(location)
        file = f"{FILE_NAME} of the run in {self._folder}"
        try:
            saved = pickle.loads(_core.read_file(locations.join(location, FILE_NAME)))
        except FileNotFoundError:
            raise FileNotFoundError(
                f"the run in {self._folder} has no {FILE_NAME}: make its trainer anew, with that RunConfig.name and "
                "storage_path, and fit() resumes the run"
            ) from None
        except (pickle.UnpicklingError, EOFError) as error:
            raise OSError(f"{file} cannot be read: {error}") from error
        if saved["version"] > _VERSION:
            raise ValueError(
                f"{file} was written by a newer Headway (version {saved['version']}; this one reads version {_VERSION})"
            )
        if saved["trainer"] != trainer:
            raise ValueError(f"path is {self._folder!r}, a run of {saved['trainer']}; allowed: one of {trainer}")
        self._saved = saved

    def part(self, name: str) -> Any:
        """An argument as the trainer had it.

        Raises:
            RuntimeError: it can't be loaded here, or could not be stored; it may be given anew.
        """
        anew = f"give it anew: {self._restore}(path, {name}=...)"
        if name in self._saved["failures"]:
            why = self._saved["failures"][name]
            raise RuntimeError(f"{name} of the run in {self._folder} could not be stored ({why}); {anew}")
        try:
            return cloudpickle.loads(self._saved["parts"][name])
        except Exception as error:
            why = f"{type(error).__name__}: {error}"
            raise RuntimeError(f"{name} of the run in {self._folder} cannot be loaded here ({why}); {anew}") from error

    def checked_datasets(self, given: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        """The data sets that a user gives again.

        Raises:
            ValueError: one that the run has is missing.
        """
        there = "datasets" in self._saved["parts"]
        return _checked(self.part("datasets") if there else [], given, self._folder)


def _checked(names: list[str], given: Mapping[str, Any] | None, where: str) -> Mapping[str, Any] | None:
    missing = [name for name in names if name not in (given or {})]
    if missing:
        raise ValueError(
            f"datasets has no {', '.join(map(repr, missing))}, which the run in {where} trains with; data sets are not "
            "stored: give them again"
        )
    return given


def is_restorable(location: str) -> bool:
    """Whether the folder holds a run and its trainer."""
    try:
        _core.read_journal(location)
        _core.read_file(locations.join(location, FILE_NAME))
    except (OSError, ValueError):
        return False
    return True

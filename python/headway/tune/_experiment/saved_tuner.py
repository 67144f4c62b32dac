"""``tuner.pkl`` in an experiment's folder: what a tuner was made of, each part pickled apart."""

from __future__ import annotations

import os
import pickle
from dataclasses import dataclass, field
from typing import Any

import cloudpickle

from headway._storage import locations
from headway._values.log import warn
from headway.train._run.saved_trainer import pickled_parts
from headway.tune._experiment.folder import ExperimentFolder

FILE_NAME = "tuner.pkl"
_VERSION = 1
_CALLBACKS = "callbacks["
#: The names of environment variables, whose values are not kept: they may be keys and passwords.
VARIABLES = "env_vars"


def name_of_callback(index: int) -> str:
    """What a callback is kept as."""
    return f"{_CALLBACKS}{index}]"


@dataclass
class Missing:
    """What an experiment goes on without. The next driver says so, too.

    Attributes:
        variables: The names of environment variables.
        parts: Callbacks that could not be loaded, pickled.
        failures: Why others had not been pickled.
    """

    variables: list[str] = field(default_factory=list)
    parts: dict[str, bytes] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)


def pickled(parts: dict[str, Any], missing: Missing) -> tuple[dict[str, bytes], dict[str, str]]:
    """A tuner's arguments pickled, and why others could not be; with what is missing already."""
    done, failures = pickled_parts(parts)
    for name, why in failures.items():
        if name != "param_space":
            less = "it" if name.startswith(_CALLBACKS) else "the experiment"
            warn(f"{name} of the Tuner cannot be kept, so {less} cannot be restored: {why}")
    return {**done, **missing.parts}, {**failures, **missing.failures}


def write(
    path: str, trainable: str, keys: list[str], first: int, parts: tuple[dict[str, bytes], dict[str, str]]
) -> None:
    """Writes it; it is there as a whole, or as it was.

    Args:
        path: The experiment's folder.
        trainable: The trainable's name.
        keys: Those of the search space.
        first: How many trials other searches had suggested before.
        parts: The tuner's arguments, :func:`pickled`.
    """
    target = os.path.join(path, FILE_NAME)
    saved = {
        "version": _VERSION,
        "trainable": trainable,
        "keys": keys,
        "first": first,
        "parts": parts[0],
        "failures": parts[1],
    }
    with open(f"{target}.tmp", "wb") as file:
        pickle.dump(saved, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(f"{target}.tmp", target)


def read(location: str) -> SavedTuner:
    """The tuner of the experiment at a location.

    Raises:
        FileNotFoundError: there is none.
    """
    folder = ExperimentFolder(location)
    folder.fetch()
    return SavedTuner(folder.local, locations.shown(location))


class SavedTuner:
    """The tuner of the experiment in a folder.

    Args:
        path: The folder with the experiment's own files.
        shown: Where the experiment is, for people.

    Raises:
        FileNotFoundError: there is none.
        OSError: it is damaged.
        ValueError: a newer Headway wrote it.
    """

    def __init__(self, path: str, shown: str):
        self._path = shown
        file = os.path.join(path, FILE_NAME)
        try:
            with open(file, "rb") as content:
                saved = pickle.load(content)
        except FileNotFoundError:
            raise FileNotFoundError(f"path is {shown!r}, which holds no experiment (no {FILE_NAME})") from None
        except (pickle.UnpicklingError, EOFError) as error:
            raise OSError(f"{file} cannot be read: {error}") from error
        if saved["version"] > _VERSION:
            raise ValueError(f"{file} was written by a newer Headway (version {saved['version']})")
        self.trainable: str = saved["trainable"]
        self.keys: list[str] = saved["keys"]
        self.first: int = saved.get("first", 0)
        self._saved = saved
        #: What the experiment goes on without: variables' names, and callbacks as they were kept.
        self.missing = Missing()

    def part(self, name: str) -> Any:
        """An argument as the tuner had it.

        Raises:
            RuntimeError: it can't be loaded here, or could not be stored.
        """
        why = self._saved["failures"].get(name)
        if why is None:
            try:
                return cloudpickle.loads(self._saved["parts"][name])
            except Exception as error:
                why = f"{type(error).__name__}: {error}"
        anew = "; give it anew" if name == "param_space" else ""
        raise RuntimeError(f"{name} of the experiment in {self._path} cannot be loaded here ({why}){anew}")

    def warn_of_variables(self) -> None:
        """Says which environment variables of the workers are not kept."""
        names = self.part(VARIABLES) if VARIABLES in self._saved["parts"] else []
        self.missing.variables = names
        if names:
            warn(
                f"worker_runtime_env's env_vars were not kept with {self._path}, since they may be passwords; trials "
                f"go on without {', '.join(names)}"
            )

    def callbacks(self) -> list[Any] | None:
        """Those that can be loaded here; the experiment goes on without others."""
        found = []
        names = [*self._saved["parts"], *self._saved["failures"]]
        for name in sorted((each for each in names if each.startswith(_CALLBACKS)), key=lambda each: (len(each), each)):
            try:
                found.append(self.part(name))
            except RuntimeError as error:
                warn(f"{error}; it goes on without")
                for kept, where in ((self.missing.parts, "parts"), (self.missing.failures, "failures")):
                    if name in self._saved[where]:
                        kept[name] = self._saved[where][name]
        return found or None

"""The older form of checkpoints: a dict, pickled into one file of a directory."""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
import uuid
import weakref
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

import cloudpickle

from headway import _core
from headway._values.arguments import refuse

_FILE = "dict_checkpoint.pkl"
_DDP_PREFIX = "module."
# Directories that must outlive the checkpoint objects that they were made for: their upload is
# still under way.
_kept: list[_core.SharedDownload] = []
_all: weakref.WeakSet[_core.SharedDownload] = weakref.WeakSet()


def save(data: object) -> _core.SharedDownload:
    """Pickles a dict; what it returns holds the directory and removes it when it goes.

    Raises:
        TypeError: no dict, or something in it cannot be pickled.
    """
    if not isinstance(data, Mapping):
        refuse("data", data, "a dict")
    try:
        content = cloudpickle.dumps(_portable(dict(data)))
    except Exception as error:
        raise TypeError(f"data cannot be stored in a checkpoint: it cannot be pickled ({error})") from error
    held = _core.temporary_directory(f"from_dict-{os.getpid()}-{uuid.uuid4().hex}")
    with open(os.path.join(held.directory, _FILE), "wb") as file:
        file.write(content)
    if not _all:
        atexit.register(_release_all)
    _all.add(held)
    return held


def keep(held: _core.SharedDownload | None) -> None:
    """The directory stays to the process's end, whatever becomes of the checkpoint object."""
    if held is not None:
        _kept.append(held)


def load(directory: str, shown: str) -> dict[str, Any]:
    """The dict in a directory; ``shown`` is the checkpoint's name in errors."""
    try:
        with open(os.path.join(directory, _FILE), "rb") as file:
            content = file.read()
    except FileNotFoundError:
        raise ValueError(
            f"{shown} was not made by from_dict (it has no {_FILE}); read its files with as_directory()"
        ) from None
    return cloudpickle.loads(content)


def _release_all() -> None:
    for held in list(_all):
        with contextlib.suppress(OSError):
            held.release()


def _portable(value: Any) -> Any:
    """The value with tensors on the CPU and state dicts as the unwrapped model has them."""
    torch = sys.modules.get("torch")
    if torch is None:
        return value
    if isinstance(value, torch.Tensor):
        return value.cpu()
    if type(value) is OrderedDict:
        return portable_state_dict(value)
    if type(value) is dict:
        return {key: _portable(item) for key, item in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_portable(item) for item in value)
    return value


def portable_state_dict(state: Mapping[Any, Any]) -> OrderedDict[Any, Any]:
    """A model's state with tensors on the CPU, under the names that the model has when DDP does not
    wrap it.
    """
    wrapped = bool(state) and all(isinstance(key, str) and key.startswith(_DDP_PREFIX) for key in state)
    start = len(_DDP_PREFIX) if wrapped else 0
    portable = OrderedDict((key[start:] if wrapped else key, _portable(item)) for key, item in state.items())
    # Versions of modules' formats, by module: "module" is the wrapped one.
    metadata = getattr(state, "_metadata", None)
    if metadata is not None:
        if wrapped:
            metadata = OrderedDict((key[start:], item) for key, item in metadata.items() if key != "")
        portable._metadata = metadata  # type: ignore[attr-defined]
    return portable

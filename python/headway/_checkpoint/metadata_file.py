"""What users tell about a checkpoint: a small JSON file of ours among its files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from headway._storage import locations
from headway._storage.json_file import read_object
from headway._values import metrics

# core/manifest.hpp knows it too: it is the one file that may be written after the commit.
NAME = ".metadata.json"
_MANIFEST = ".headway.json"


def read(location: str) -> dict[str, Any]:
    """The metadata of the checkpoint at a location: the trainer's, and over it the checkpoint's
    own.
    """
    trainers = _read(location, _MANIFEST).get("metadata") or {}
    return {**trainers, **_read(location, NAME)}


def _read(location: str, name: str) -> dict[str, Any]:
    """A file's JSON object; an empty one when there is no such file."""
    return read_object(locations.join(location, name), ValueError) or {}


def write(location: str, metadata: Mapping[str, Any]) -> None:
    """Replaces the metadata of the checkpoint at a location."""
    text = json.dumps(check(metadata), indent=2)
    locations.replace_file(locations.join(location, NAME), text.encode() + b"\n")


def check(metadata: object) -> dict[str, Any]:
    """The metadata as plain JSON values.

    Raises:
        TypeError, ValueError: naming the key of what JSON does not have.
    """
    return json.loads(metrics.to_json(metadata, "metadata"))

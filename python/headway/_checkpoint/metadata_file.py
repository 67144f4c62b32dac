"""What users tell about a checkpoint: a small JSON file of ours among its files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from headway._storage import locations
from headway._values import metrics

# core/manifest.hpp knows it too: it is the one file that may be written after the commit.
NAME = ".metadata.json"
_MANIFEST = ".headway.json"


def read(location: str) -> dict[str, Any]:
    """The metadata of the checkpoint at a location: the trainer's, and over it the checkpoint's
    own.
    """
    trainers = _read_object(locations.join(location, _MANIFEST)).get("metadata") or {}
    return {**trainers, **_read_object(locations.join(location, NAME))}


def _read_object(file: str) -> dict[str, Any]:
    """A file's JSON object; an empty one when there is no such file."""
    try:
        content = locations.read_file(file)
    except FileNotFoundError:
        return {}
    try:
        metadata = json.loads(content)
    except ValueError as error:
        raise ValueError(
            f"{locations.shown(file)} is damaged: expected JSON, found {len(content)} bytes: {error}"
        ) from None
    if not isinstance(metadata, dict):
        raise ValueError(f"{locations.shown(file)} is damaged: expected a JSON object, found {type(metadata).__name__}")
    return metadata


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

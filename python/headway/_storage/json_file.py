"""A small file with one JSON object in it."""

from __future__ import annotations

import json
from typing import Any

from headway._storage import locations


def read_object(file: str, damaged: type[OSError] | type[ValueError]) -> dict[str, Any] | None:
    """The object in the file at a location; None when there is no such file.

    Raises:
        damaged: it is no JSON, or no object; with the file, and what was found in it.
    """
    try:
        content = locations.read_file(file)
    except FileNotFoundError:
        return None
    try:
        found = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise damaged(
            f"{locations.shown(file)} is damaged: expected JSON, found {len(content)} bytes: {error}"
        ) from None
    if not isinstance(found, dict):
        raise damaged(f"{locations.shown(file)} is damaged: expected a JSON object, found {type(found).__name__}")
    return found

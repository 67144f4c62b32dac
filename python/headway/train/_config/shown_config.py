"""The training function's configuration as people read it in params.json."""

from __future__ import annotations

import json
import reprlib
from typing import Any

# Characters of one value, and entries of one dict or list, that are shown; and how deep.
_CHARACTERS_MAX = 4096
_ENTRIES_MAX = 50
_DEPTH_MAX = 4


def as_json(config: dict[str, Any]) -> dict[str, Any]:
    """The configuration as JSON has it: what JSON does not have, or what is long, as Python shows
    it.

    Of dicts and lists each entry is shown by itself.

    Example:
        >>> as_json({"lr": 0.1, "model": {"layers": 3, "seen": {1}}})
        {'lr': 0.1, 'model': {'layers': 3, 'seen': '{1}'}}
    """
    return {_key(key): _readable(value, 0) for key, value in config.items()}


def _key(key: object) -> str:
    return str(key).encode(errors="replace").decode()


def _readable(value: Any, depth: int) -> Any:
    if (plain := _as_it_is(value)) is not _NOT_PLAIN:
        return plain
    try:
        parts = _parts(value, depth)
        if parts is not None and len(json.dumps(parts)) <= _CHARACTERS_MAX:
            return parts
        shown = reprlib.repr(value)
    except Exception:
        shown = f"a {type(value).__name__}"
    return shown.encode(errors="backslashreplace").decode()


def _parts(value: Any, depth: int) -> Any:
    """The entries of a dict or list, each readable; None for anything else, and for what is large
    or deep.
    """
    if depth >= _DEPTH_MAX or not isinstance(value, (dict, list, tuple)) or len(value) > _ENTRIES_MAX:
        return None
    if isinstance(value, dict):
        return {_key(key): _readable(item, depth + 1) for key, item in value.items()}
    return [_readable(item, depth + 1) for item in value]


_NOT_PLAIN = object()


def _as_it_is(value: Any) -> Any:
    if value is None or type(value) in (bool, float):
        return value
    try:
        if isinstance(value, (str, bytes)) and len(value) > _CHARACTERS_MAX:
            value = value[:_CHARACTERS_MAX]
        text = json.dumps(value, ensure_ascii=True)
        if len(text) <= _CHARACTERS_MAX and text.count("[") + text.count("{") < _ENTRIES_MAX and "\\ud" not in text:
            return json.loads(text)
    except (TypeError, ValueError, RecursionError):
        pass
    return _NOT_PLAIN

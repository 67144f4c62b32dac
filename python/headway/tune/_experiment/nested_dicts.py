"""Nested dicts, as configurations and results are, and what is done with them."""

from __future__ import annotations

import copy
import time
from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any

from headway._values.named_arguments import offer

__all__ = ["date_str", "deep_update", "flatten_dict", "merge_dicts", "unflatten_dict", "unflattened_lookup"]


def flatten_dict(
    dt: Mapping[str, Any], delimiter: str = "/", prevent_delimiter: bool = False, flatten_list: bool = False
) -> dict[str, Any]:
    """A dict of what is nested in dicts, under the names on the way to it.

    Args:
        dt: The nested dict. An empty dict in it stays.
        delimiter: What is between two names.
        prevent_delimiter: Whether a name that has the delimiter in it is an error.
        flatten_list: Whether elements of lists get names too, by their places.

    Raises:
        ValueError: a name has the delimiter in it.

    Example:
        >>> flatten_dict({"a": {"b": 1, "c": [2]}, "d": 3}, flatten_list=True)
        {'a/b': 1, 'a/c/0': 2, 'd': 3}
    """
    flat: dict[str, Any] = {}
    for name, value in dt.items():
        if prevent_delimiter and isinstance(name, str) and delimiter in name:
            raise ValueError(f"dt has the name {name!r}; allowed: names without {delimiter!r} (prevent_delimiter)")
        inner = value
        if flatten_list and isinstance(value, (list, tuple)):
            inner = {str(place): each for place, each in enumerate(value)}
        if not isinstance(inner, Mapping) or not inner:
            flat[name] = value
            continue
        for below, each in flatten_dict(inner, delimiter, prevent_delimiter, flatten_list).items():
            flat[f"{name}{delimiter}{below}"] = each
    return flat


def unflatten_dict(dt: Mapping[str, Any], delimiter: str = "/") -> dict[str, Any]:
    """The nested dict that :func:`flatten_dict` was given.

    Args:
        dt: The flat one.
        delimiter: What is between two names.

    Raises:
        TypeError: a name has a value, and names below it as well.

    Example:
        >>> unflatten_dict({"a/b": 1, "d": 3})
        {'a': {'b': 1}, 'd': 3}
    """
    nested: dict[str, Any] = {}
    for flat_name, value in dt.items():
        *above, name = flat_name.split(delimiter) if isinstance(flat_name, str) else [flat_name]
        place = nested
        for each in above:
            place = place.setdefault(each, {})
            if not isinstance(place, dict):
                raise TypeError(f"dt has {flat_name!r}, and a value for {each!r} on the way to it")
        place[name] = value
    return nested


def unflattened_lookup(flat_key: str, lookup: Mapping[str, Any] | Sequence[Any], **kwargs: Any) -> Any:
    """What is at a flat name in a nested dict.

    Args:
        flat_key: The names on the way, such as ``"a/b"``; the place in a list is a number.
        lookup: The nested dict.
        **kwargs: ``default``: what is returned where there is nothing; ``delimiter``: ``"/"``.

    Raises:
        KeyError: there is nothing, and no ``default``.

    Example:
        >>> unflattened_lookup("a/b", {"a": {"b": 1}})
        1
    """
    unknown = set(kwargs) - {"default", "delimiter"}
    if unknown:
        raise TypeError(f"unflattened_lookup() has no argument {sorted(unknown)[0]!r}; allowed: default, delimiter")
    delimiter = kwargs.get("delimiter", "/")
    if isinstance(lookup, Mapping) and flat_key in lookup:
        return lookup[flat_key]
    name, _, below = flat_key.partition(delimiter)
    try:
        if isinstance(lookup, Mapping):
            found = lookup[name]
        elif isinstance(lookup, Sequence) and not isinstance(lookup, str):
            found = lookup[int(name)]
        else:
            raise KeyError(name)
        return unflattened_lookup(below, found, delimiter=delimiter) if below else found
    except (KeyError, IndexError, ValueError):
        if "default" in kwargs:
            return kwargs["default"]
        raise KeyError(flat_key) from None


def deep_update(
    original: MutableMapping[str, Any],
    new_dict: Mapping[str, Any],
    new_keys_allowed: bool = False,
    allow_new_subkey_list: Sequence[str] | None = None,
    override_all_if_type_changes: Sequence[str] | None = None,
    override_all_key_list: Sequence[str] | None = None,
) -> MutableMapping[str, Any]:
    """Writes the values of one nested dict into another one.

    Args:
        original: The dict that changes, and is returned.
        new_dict: The values.
        new_keys_allowed: Whether names that ``original`` does not have are added.
        allow_new_subkey_list: Names of the top level, below which new names are added.
        override_all_if_type_changes: Names of the top level whose whole value is replaced where the
            new one has another ``"type"``.
        override_all_key_list: Names of the top level whose whole value is replaced.

    Raises:
        KeyError: a new name where none is allowed.

    Example:
        >>> deep_update({"a": {"b": 1, "c": 2}}, {"a": {"b": 3}})
        {'a': {'b': 3, 'c': 2}}
    """
    for name, value in new_dict.items():
        if name not in original and not new_keys_allowed:
            raise KeyError(f"new_dict has {name!r}; allowed: {', '.join(map(repr, original)) or 'no name'}")
        own = original.get(name)
        if not isinstance(own, MutableMapping) or not isinstance(value, Mapping):
            original[name] = value
            continue
        other_type = name in (override_all_if_type_changes or ()) and value.get("type", own.get("type")) != own.get(
            "type"
        )
        if other_type or name in (override_all_key_list or ()):
            original[name] = value
            continue
        deep_update(own, value, new_keys_allowed or name in (allow_new_subkey_list or ()))
    return original


def merge_dicts(d1: Mapping[str, Any], d2: Mapping[str, Any]) -> dict[str, Any]:
    """A new nested dict with the values of both; those of the second count.

    Args:
        d1: The first one.
        d2: The second one.

    Example:
        >>> merge_dicts({"a": {"b": 1}}, {"a": {"c": 2}})
        {'a': {'b': 1, 'c': 2}}
    """
    merged = copy.deepcopy(dict(d1))
    deep_update(merged, d2, new_keys_allowed=True)
    return merged


def date_str() -> str:
    """The time as folders' names have it, such as ``"2026-11-24_17-10-30"``.

    Example:
        >>> len(date_str())
        19
    """
    return time.strftime("%Y-%m-%d_%H-%M-%S")


offer(globals(), __all__)

"""Nested dicts, as configurations and results are, and what is done with them."""

from __future__ import annotations

import copy
import time
from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any

from headway._values.arguments import check_bool, check_str, check_texts, refuse
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
    _check_dict("dt", dt)
    _check_delimiter(delimiter)
    check_bool("prevent_delimiter", prevent_delimiter)
    check_bool("flatten_list", flatten_list)
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
    _check_dict("dt", dt)
    _check_delimiter(delimiter)
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
    check_str("flat_key", flat_key, 'names, such as "a/b"')
    if isinstance(lookup, str) or not isinstance(lookup, (Mapping, Sequence)):
        refuse("lookup", lookup, "a dict or a list")
    delimiter = kwargs.get("delimiter", "/")
    _check_delimiter(delimiter)
    if isinstance(lookup, Mapping) and flat_key in lookup:
        return lookup[flat_key]
    name, _, below = flat_key.partition(delimiter)
    try:
        found = lookup[name] if isinstance(lookup, Mapping) else lookup[int(name)]
        if not below:
            return found
        if isinstance(found, str) or not isinstance(found, (Mapping, Sequence)):
            raise KeyError(below)
        return unflattened_lookup(below, found, delimiter=delimiter)
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
    _check_dict("original", original, MutableMapping)
    _check_dict("new_dict", new_dict)
    check_bool("new_keys_allowed", new_keys_allowed)
    new_below, of_type, whole = (
        _checked_names(argument, names)
        for argument, names in (
            ("allow_new_subkey_list", allow_new_subkey_list),
            ("override_all_if_type_changes", override_all_if_type_changes),
            ("override_all_key_list", override_all_key_list),
        )
    )
    for name, value in new_dict.items():
        if name not in original and not new_keys_allowed:
            raise KeyError(f"new_dict has {name!r}; allowed: {', '.join(map(repr, original)) or 'no name'}")
        own = original.get(name)
        if not isinstance(own, MutableMapping) or not isinstance(value, Mapping):
            original[name] = value
            continue
        other_type = name in of_type and value.get("type", own.get("type")) != own.get("type")
        if other_type or name in whole:
            original[name] = value
            continue
        deep_update(own, value, new_keys_allowed or name in new_below)
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
    _check_dict("d1", d1)
    _check_dict("d2", d2)
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


def _check_dict(argument: str, value: object, kind: type = Mapping) -> None:
    if not isinstance(value, kind):
        refuse(argument, value, "a dict")


def _check_delimiter(delimiter: object) -> None:
    allowed = "what is between two names, one character or more"
    if not check_str("delimiter", delimiter, allowed):
        raise ValueError(f"delimiter is ''; allowed: {allowed}")


def _checked_names(argument: str, names: Sequence[str] | None) -> list[str]:
    return [] if names is None else check_texts(argument, names, "None or a list of names")


offer(globals(), __all__)

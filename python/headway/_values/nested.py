"""Nested dicts, as configurations and metrics are, by flat names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any


def flat_items(
    nested: Mapping[str, Any], above: str = "", is_value: Callable[[str, Mapping[str, Any]], bool] | None = None
) -> Iterator[tuple[str, Any]]:
    """Each value with the names on the way to it, such as ``"eval/loss"``, in their order.

    Args:
        nested: The dict.
        above: What each name begins with.
        is_value: Called with the name of a dict and the dict: whether it is a value itself. None:
            no dict is, and an empty one is nothing.
    """
    for key, value in nested.items():
        name = f"{above}{key}"
        if isinstance(value, Mapping) and not (is_value is not None and is_value(name, value)):
            yield from flat_items(value, f"{name}/", is_value)
        else:
            yield name, value


def flat(nested: Mapping[str, Any]) -> dict[str, Any]:
    """The same as a dict."""
    return dict(flat_items(nested))

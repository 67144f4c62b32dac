"""A searcher's suggestion as a whole configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headway.tune._space.laws import Generator
from headway.tune._space.variants import Path, open_values, variants


def filled(space: dict[str, Any], suggestion: Mapping[str, Any]) -> tuple[dict[str, Any], dict[Path, Any]]:
    """A suggestion over the search space: constants stay, and what ``sample_from`` makes is made.

    Args:
        space: The search space.
        suggestion: What the searcher has chosen.

    Returns:
        The configuration, and what was chosen, by path.
    """
    merged = merge(space, suggestion)
    variant = next(variants(merged, Generator()))
    chosen = {path: _at(variant.config, path) for path, _ in _leaves(suggestion, ())}
    return variant.config, {**chosen, **variant.drawn}


def merge(below: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Nested dicts as one; values of ``over`` win."""
    found = dict(below)
    for key, value in over.items():
        inner = found.get(key)
        both = isinstance(value, Mapping) and isinstance(inner, Mapping) and "grid_search" not in inner
        found[key] = merge(inner, value) if both else value  # type: ignore[arg-type]
    return found


def has_search(space: dict[str, Any]) -> bool:
    """Whether anything in a space is open."""
    return any(True for _ in open_values(space))


def _leaves(values: Mapping[str, Any], above: Path) -> list[tuple[Path, Any]]:
    found: list[tuple[Path, Any]] = []
    for key, value in values.items():
        found += _leaves(value, (*above, key)) if isinstance(value, Mapping) else [((*above, key), value)]
    return found


def _at(config: Any, path: Path) -> Any:
    for key in path:
        config = config[key]
    return config

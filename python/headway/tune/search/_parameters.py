"""What a library for searching gets to know of a search space: its parameters by flat names."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from headway._values.nested import flat_items
from headway.tune._space.domains import Categorical, Domain, Function
from headway.tune._space.laws import Normal
from headway.tune._space.variants import is_grid, open_values


def parameters(space: dict[str, Any], searcher: str) -> dict[str, Domain]:
    """The parameters of a space that a searcher chooses, by names such as ``"optimizer/lr"``. What
    ``sample_from`` makes is no choice: it is computed once the others are known.

    Args:
        space: The search space.
        searcher: The searcher's class, for errors.

    Raises:
        ValueError: the space has something that only grids and random search go through.
    """
    found: dict[str, Domain] = {}
    for path, value in open_values(space):
        name = "/".join(map(str, path))
        if is_grid(value):
            raise ValueError(
                f"the search space has grid_search for {name!r}, and search_alg is {searcher}; allowed: choice, or no "
                "search_alg"
            )
        if any(not isinstance(key, str) for key in path):
            raise ValueError(
                f"the search space has {name!r} in a list, and search_alg is {searcher}; allowed: in dicts"
            )
        if isinstance(value, Categorical) and any(_is_space(each) for each in value.categories):
            raise ValueError(
                f"the search space has a choice of spaces for {name!r}, and search_alg is {searcher}; allowed: a "
                "choice of values, or no search_alg"
            )
        if not isinstance(value, Function):
            found[name] = value
    return found


def without_law(name: str, domain: Domain, searcher: str) -> ValueError:
    """What is raised for a distribution that a library does not have."""
    law = getattr(domain, "base_law", None)
    kind = "normally distributed" if isinstance(law, Normal) else repr(domain)
    return ValueError(
        f"the search space has {name!r}, {kind}, which {searcher} cannot search; allowed: uniform and the like, "
        "randint and the like, choice"
    )


def flattened(config: Mapping[str, Any], whole: Collection[str] = ()) -> dict[str, Any]:
    """Values of nested dicts by flat names; empty dicts, and those of the names ``whole``, are
    values as they are.
    """
    return dict(flat_items(config, is_value=lambda name, value: not value or name in whole))


def unflattened(values: Mapping[str, Any]) -> dict[str, Any]:
    """Nested dicts from flat names."""
    config: dict[str, Any] = {}
    for name, value in values.items():
        *above, last = name.split("/")
        inner = config
        for key in above:
            inner = inner.setdefault(key, {})
        inner[last] = value
    return config


def _is_space(value: Any) -> bool:
    return isinstance(value, (dict, list, tuple)) and any(True for _ in open_values(value))

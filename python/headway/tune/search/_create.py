"""Searchers by name."""

from __future__ import annotations

import importlib
from typing import Any

from headway._values.arguments import check_str
from headway.tune.search.searcher import Searcher

# By name, the module below this package and the class.
_SEARCHERS = {
    "variant_generator": ("basic_variant", "BasicVariantGenerator"),
    "random": ("basic_variant", "BasicVariantGenerator"),
    "optuna": ("optuna", "OptunaSearch"),
    "hyperopt": ("hyperopt", "HyperOptSearch"),
    "bayesopt": ("bayesopt", "BayesOptSearch"),
    "nevergrad": ("nevergrad", "NevergradSearch"),
    "ax": ("ax", "AxSearch"),
    "bohb": ("bohb", "TuneBOHB"),
    "hebo": ("hebo", "HEBOSearch"),
    "zoopt": ("zoopt", "ZOOptSearch"),
}


def create_searcher(search_alg: str, **kwargs: Any) -> Searcher:
    """A searcher by its name.

    Args:
        search_alg: ``"random"``, ``"optuna"``, and so on.
        kwargs: Its arguments.

    Raises:
        ValueError: there is no such name.
        ImportError: its library is not installed.

    Example:
        >>> from headway import tune
        >>> searcher = tune.create_searcher("random", random_state=1)
    """
    name = check_str("search_alg", search_alg, "the name of a searcher").lower()
    if name not in _SEARCHERS:
        raise ValueError(f"search_alg is {search_alg!r}; allowed: {', '.join(_SEARCHERS)}")
    module, kind = _SEARCHERS[name]
    found: Searcher = getattr(importlib.import_module(f"{__package__}.{module}"), kind)(**kwargs)
    return found

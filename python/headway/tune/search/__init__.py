"""What suggests configurations: grids and random search by default, or a library such as Optuna."""

from __future__ import annotations

import importlib
from typing import Any

from headway._places.missing import explanation
from headway._places.table import PLACES
from headway._values.named_arguments import offer
from headway.tune._space.functions import grid_search as grid_search  # headway.tune offers it
from headway.tune.search._create import create_searcher
from headway.tune.search.basic_variant import BasicVariantGenerator
from headway.tune.search.concurrency_limiter import ConcurrencyLimiter
from headway.tune.search.repeater import Repeater
from headway.tune.search.searcher import Searcher

__all__ = ["BasicVariantGenerator", "ConcurrencyLimiter", "Repeater", "Searcher", "create_searcher"]

offer(globals(), __all__)

#: What is imported when it is used: each needs a library.
_MODULES = ("ax", "bayesopt", "bohb", "hebo", "hyperopt", "nevergrad", "optuna", "zoopt")


def __getattr__(name: str) -> Any:
    """``headway.tune.search.sample`` and the like, without a separate import."""
    if name in _MODULES or f"{__name__}.{name}" in PLACES:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(explanation(f"{__name__}.{name}") or f"module {__name__!r} has no attribute {name!r}")

"""What the programs of the frameworks share. Each framework has a module ``train_NAME`` whose
function ``train`` is the same for every library.

``train`` has four arguments: ``library`` (``"headway"``, ``"ray"`` or ``"alone"``), the ``place``
of the rank, the steps to train, and what is called after each step. A step of boosting is a round.
The modules import their framework, and the library's package for it, at the top, as scripts do.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

ALONE = "alone"
# Of each rank, for boosting.
ROWS = 60_000
COLUMNS = 28

OnStep = Callable[[], None]


@dataclass(frozen=True)
class Place:
    """A rank among ``ranks``; ``network`` are the parameters by which LightGBM's meet, when it runs
    alone.
    """

    rank: int
    ranks: int
    network: dict[str, Any] = field(default_factory=dict)


Train = Callable[[str, Place, int, OnStep], None]


def train_function(framework: str, library: str) -> Train:
    """What trains with the framework."""
    os.environ["BENCH_LIBRARY"] = library  # Workers inherit it.
    return importlib.import_module(f"train_{framework}").train


def integration(name: str) -> Any:
    """The library's package for a framework; None when the framework runs alone."""
    library = os.environ["BENCH_LIBRARY"]
    return None if library == ALONE else importlib.import_module(f"{library}.train.{name}")


def trainer_kind(framework: str) -> str:
    """Which trainer runs it, as ``program.trainer_class`` has it."""
    return framework if framework in ("xgboost", "lightgbm") else "torch"


def share(rank: int) -> tuple[Any, Any]:
    """A rank's features and labels."""
    import numpy

    random = numpy.random.default_rng(rank)
    features = random.normal(size=(ROWS, COLUMNS)).astype("float32")
    return features, (features[:, 0] * features[:, 1] + features[:, 2] > 0).astype("float32")

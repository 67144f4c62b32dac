"""Seeds of random orders."""

from __future__ import annotations

import random
from typing import Any

from headway._values.arguments import refuse

_SEED = "None or an integer from 0 to 2**63 - 1"


def check_seed(argument: str, seed: Any) -> int | None:
    """A seed as the engine takes it."""
    if seed is None:
        return None
    if isinstance(seed, bool) or not hasattr(seed, "__index__"):
        refuse(argument, seed, _SEED)
    number = seed.__index__()
    if not 0 <= number < 2**63:
        raise ValueError(f"{argument} is {number}; allowed: {_SEED}")
    return int(number)


def drawn() -> int:
    """A seed that nobody gave."""
    return random.SystemRandom().randrange(2**62)

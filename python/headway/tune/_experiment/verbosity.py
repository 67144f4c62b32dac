"""How much a script shows, by levels that it sets and asks for itself."""

from __future__ import annotations

import enum

from headway._values.arguments import check_int
from headway._values.named_arguments import offer

__all__ = ["Verbosity", "has_verbosity", "set_verbosity"]

_ALLOWED = "a Verbosity, or a number from 0 to 3"


class Verbosity(enum.IntEnum):
    """Levels, which ``RunConfig(verbose=...)`` and ``tune.run(verbose=...)`` take too.

    Example:
        >>> from headway.tune.utils.log import Verbosity
        >>> int(Verbosity.V2_TRIAL_NORM)
        2
    """

    V0_MINIMAL = 0
    V1_EXPERIMENT = 1
    V2_TRIAL_NORM = 2
    V3_TRIAL_DETAILS = 3


_level = Verbosity.V3_TRIAL_DETAILS


def set_verbosity(level: Verbosity | int) -> None:
    """Sets the level of this process. What an experiment shows is ``RunConfig.verbose``.

    Args:
        level: A ``Verbosity``, or a number from 0 to 3.

    Example:
        >>> from headway.tune.utils.log import set_verbosity
        >>> set_verbosity(3)
    """
    global _level
    _level = _checked(level)


def has_verbosity(level: Verbosity | int) -> bool:
    """Whether what is of this level is to be shown.

    Args:
        level: A ``Verbosity``, or a number from 0 to 3.

    Example:
        >>> from headway.tune.utils.log import Verbosity, has_verbosity
        >>> has_verbosity(Verbosity.V0_MINIMAL)
        True
    """
    return _level >= _checked(level)


def _checked(level: object) -> Verbosity:
    number = check_int("level", level, _ALLOWED)
    if number not in set(Verbosity):
        raise ValueError(f"level is {number}; allowed: {_ALLOWED}")
    return Verbosity(number)


offer(globals(), __all__)

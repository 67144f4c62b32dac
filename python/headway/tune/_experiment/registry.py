"""Names of trainables, and of environments: for ``Tuner("name")`` and ``tune.run("name")``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headway._values.arguments import check_bool, check_str, refuse
from headway._values.log import warn
from headway.tune._experiment import resources
from headway.tune._experiment.trial_start import check_trainable

_trainables: dict[str, Any] = {}
_environments: dict[str, Callable[[Any], Any]] = {}


def register_trainable(name: str, trainable: Any, warn: bool = True) -> None:
    """Gives a trainable a name, for this process: ``Tuner("name")`` and ``tune.run("name")`` run
    it, and the folders of its trials begin with the name.

    Args:
        name: The name.
        trainable: A function of a configuration, a subclass of :class:`Trainable`, or a trainer.
        warn: Whether a warning says that the name was something else's.

    Example:
        >>> from headway import tune
        >>> def trial(config):
        ...     tune.report({"loss": config["x"]})
        >>> tune.register_trainable("first", trial)
        >>> tuner = tune.Tuner("first")
    """
    check_str("name", name, "a name")
    if not name or "/" in name:
        raise ValueError(f"name is {name!r}; allowed: a name without '/'")
    check_bool("warn", warn)
    check_trainable(trainable)
    if warn and _trainables.get(name, trainable) is not trainable:
        _warn(f"the name {name!r} meant another trainable until now")
    _trainables[name] = trainable


def register_env(name: str, env_creator: Callable[[Any], Any]) -> None:
    """Keeps a function that makes an environment under a name. Headway has no reinforcement
    learning: :func:`registered_env` gives it back to code that has.

    Args:
        name: The name.
        env_creator: A function of a configuration.

    Example:
        >>> from headway import tune
        >>> tune.register_env("maze", lambda config: object())
    """
    check_str("name", name, "a name")
    if not callable(env_creator):
        refuse("env_creator", env_creator, "a function of a configuration")
    _environments[name] = env_creator


def registered_env(name: str) -> Callable[[Any], Any]:
    """What ``register_env`` was given under a name.

    Raises:
        ValueError: nothing.
    """
    if name not in _environments:
        raise ValueError(f"name is {name!r}; registered environments: {', '.join(_environments) or 'none'}")
    return _environments[name]


def resolved(trainable: Any) -> Any:
    """A trainable that may be given by its name.

    Raises:
        ValueError: there is no such name.
        TypeError: it is neither.
    """
    if not isinstance(trainable, str):
        return check_trainable(trainable)
    if trainable not in _trainables:
        there = ", ".join(map(repr, _trainables)) or "none"
        raise ValueError(f"trainable is {trainable!r}; allowed: a name that register_trainable was given: {there}")
    return resources.named(_trainables[trainable], trainable)


_warn = warn

"""How PBT changes a configuration."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from headway._values.arguments import refuse
from headway.tune._space.domains import Domain, Function

_VALUES = "a list or tuple of values, a dict of such, a tune search space, or a function without arguments"


def check_mutations(mutations: object, name: str = "hyperparam_mutations") -> dict[str, Any]:
    """The argument ``hyperparam_mutations``.

    Args:
        mutations: What was given.
        name: The argument's name.
    """
    if mutations is None:
        return {}
    if not isinstance(mutations, Mapping):
        refuse(name, mutations, "a dict of hyperparameters to what they may become")
    for key, value in mutations.items():
        named = f"{name}[{key!r}]"
        if isinstance(value, Mapping):
            check_mutations(value, named)
        elif isinstance(value, Function):
            raise ValueError(
                f"{named} is tune.sample_from; allowed: {_VALUES}. A mutation knows nothing of the other parameters"
            )
        elif isinstance(value, str) or not (isinstance(value, (list, tuple, Domain)) or callable(value)):
            refuse(named, value, _VALUES)
        elif isinstance(value, (list, tuple)) and not value:
            raise ValueError(f"{named} is empty; allowed: at least one value")
    return dict(mutations)


def fill(config: dict[str, Any], mutations: Mapping[str, Any]) -> dict[str, Any]:
    """Draws the parameters that a configuration lacks.

    Args:
        config: The configuration, which is completed.
        mutations: By name, what a parameter may become.

    Returns:
        dict: What was drawn, by name.
    """
    drawn = {name: _drawn(value) for name, value in mutations.items() if name not in config}
    config.update(drawn)
    return drawn


def _drawn(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _drawn(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return random.choice(value)
    return _resampled(value)


def _resampled(value: Any) -> Any:
    return value.sample(None) if isinstance(value, Domain) else value()


def explore(
    config: Mapping[str, Any],
    mutations: Mapping[str, Any],
    resample_probability: float,
    perturbation_factors: Sequence[float],
    custom_explore_fn: Callable[[dict[str, Any]], dict[str, Any]] | None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """A new configuration, and what was done to each parameter. Draws as Ray Tune does
    (``python/ray/tune/schedulers/pbt.py`` of Ray 2.52), from Python's global generator.

    Args:
        config: The donor's configuration.
        mutations: By name, what a parameter may become.
        resample_probability: How often a parameter is drawn anew.
        perturbation_factors: What a parameter is multiplied by otherwise.
        custom_explore_fn: Called with the result; returns it changed.
    """
    new = copy.deepcopy(dict(config))
    done: dict[str, Any] = {}
    for name, value in mutations.items():
        if isinstance(value, Mapping):
            new[name], done[name] = explore(config[name], value, resample_probability, perturbation_factors, None)
        elif isinstance(value, (list, tuple)):
            new[name], done[name] = _moved(config[name], value, resample_probability)
        else:
            new[name], done[name] = _scaled(config[name], value, resample_probability, perturbation_factors)
    if custom_explore_fn is not None:
        new = custom_explore_fn(new)
        if not isinstance(new, dict):
            refuse("what custom_explore_fn returns", new, "the configuration, a dict")
    return new, done


def _moved(old: Any, values: Sequence[Any], resample_probability: float) -> tuple[Any, str]:
    if random.random() < resample_probability or old not in values:
        return random.choice(values), "resample"
    shift = random.choice([-1, 1])
    index = values.index(old)
    moved = min(max(index + shift, 0), len(values) - 1)
    return values[moved], f"shift {'left' if shift == -1 else 'right'}{' (noop)' if moved == index else ''}"


def _scaled(old: Any, value: Any, resample_probability: float, factors: Sequence[float]) -> tuple[Any, str]:
    if random.random() < resample_probability:
        new, done = _resampled(value), "resample"
    else:
        factor = random.choice(factors)
        new, done = old * factor, f"* {factor}"
    return (int(new) if isinstance(old, int) else new), done


def shown_changes(old: Mapping[str, Any], new: Mapping[str, Any], done: Mapping[str, Any], prefix: str = "") -> str:
    """What has become of the parameters, as ``lr: 0.1 --- (* 0.8) --> 0.08``.

    Args:
        old: The donor's.
        new: The trial's.
        done: What :func:`explore` has done.
        prefix: In front of each name.
    """
    parts = []
    for name, operation in done.items():
        if isinstance(operation, Mapping):
            parts.append(shown_changes(old[name], new[name], operation, f"{prefix}{name}/"))
        else:
            parts.append(f"{prefix}{name}: {old.get(name)} --- ({operation}) --> {new.get(name)}")
    return ", ".join(parts)

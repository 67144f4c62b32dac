"""Population based bandits."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable, Mapping
from typing import Any

from headway._values.arguments import check_number, refuse
from headway._values.nested import flat
from headway.tune.schedulers._explore import shown_changes
from headway.tune.schedulers.pbt import PopulationBasedTraining
from headway.tune.schedulers.trial_scheduler import CopyAsked, Explored
from headway.tune.search.errors import TuneError

_BOUNDS = "a list [lowest, highest], or a dict of such"


class PB2(PopulationBasedTraining):
    """Population based training that learns how to change configurations (population based
    bandits).

    A Gaussian process is fitted to what trials have gained with which parameters. A copy gets the
    parameters that promise most. Needs SciPy.

    Args:
        time_attr: As of ``PopulationBasedTraining``, like those without a description here.
        metric: What is compared. Default: that of ``TuneConfig``.
        mode: ``"min"`` or ``"max"``. Default: that of ``TuneConfig``.
        perturbation_interval: A trial is compared after so much of ``time_attr``.
        hyperparam_bounds: By name, the lowest and the highest value; a dict for nested ones.
            Parameters that a configuration lacks are drawn between them.
        quantile_fraction: How many are the worst, and how many the best; at most 0.5.
        log_config: Whether the files of PBT are written.
        require_attrs: Whether each report must have ``time_attr``.
        synch: Whether all trials wait for each other before they are compared.
        custom_explore_fn: Called with the changed configuration; returns it.

    Example:
        >>> from headway import tune
        >>> from headway.tune.schedulers.pb2 import PB2
        >>> scheduler = PB2("training_iteration", hyperparam_bounds={"lr": [1e-4, 1e-1]}, perturbation_interval=5)
    """

    _label = "PB2"

    def __init__(
        self,
        time_attr: str = "time_total_s",
        metric: str | None = None,
        mode: str | None = None,
        perturbation_interval: float = 60.0,
        hyperparam_bounds: dict[str, Any] | None = None,
        quantile_fraction: float = 0.25,
        log_config: bool = True,
        require_attrs: bool = True,
        synch: bool = False,
        custom_explore_fn: Callable[[dict[str, Any]], dict[str, Any]] | None = None,
    ):
        if importlib.util.find_spec("scipy") is None:
            raise RuntimeError("PB2 needs SciPy; install it: pip install scipy")
        if not hyperparam_bounds:
            raise TuneError(f"hyperparam_bounds is {hyperparam_bounds!r}; allowed: a dict with at least one parameter")
        self.hyperparam_bounds = _checked(hyperparam_bounds, "hyperparam_bounds")
        super().__init__(
            time_attr,
            metric,
            mode,
            perturbation_interval,
            hyperparam_mutations=_mutations(self.hyperparam_bounds),
            quantile_fraction=quantile_fraction,
            resample_probability=0,
            custom_explore_fn=custom_explore_fn,
            log_config=log_config,
            require_attrs=require_attrs,
            synch=synch,
        )
        self._limits = flat(self.hyperparam_bounds)
        # What was chosen since the newest report: others try it now.
        self._tried: list[list[float]] = []
        self._tried_until = 0.0

    def for_core(self) -> dict[str, Any]:
        """As the core reads it."""
        return {**super().for_core(), "keeps_history": True}

    def complete(self, config: dict[str, Any]) -> dict[str, Any]:
        """Draws the parameters that a new trial's configuration lacks, and returns them."""
        return _filled(config, self.hyperparam_bounds)

    def explored(self, donor_config: dict[str, Any], asked: CopyAsked) -> Explored:
        """The configuration of a trial that goes on as a copy of a donor."""
        newest = max((point["time"] for point in asked.history), default=0.0)
        if newest > self._tried_until:
            self._tried, self._tried_until = [], newest
        new = _copied(donor_config)
        chosen = self._chosen(asked)
        if chosen is not None:
            _place(new, dict(zip(self._limits, chosen, strict=True)))
        self._tried.append([float(flat(new)[name]) for name in self._limits])
        changes = dict.fromkeys(self._limits, "PB2") if chosen is not None else {}
        words = shown_changes(flat(donor_config), flat(new), changes)
        if self.custom_explore_fn is not None:
            new = self.custom_explore_fn(new)
            if not isinstance(new, dict):
                refuse("what custom_explore_fn returns", new, "the configuration, a dict")
        return Explored(new, words)

    def _chosen(self, asked: CopyAsked) -> Any:
        """None: nothing is known yet of what the donor has gained."""
        gains = _gains(asked.history, list(self._limits))
        of_donor = [gain for gain in gains if gain.trial == asked.donor_id]
        if not of_donor:
            return None
        import numpy as np

        from headway.tune.schedulers import _gaussian_process

        return _gaussian_process.next_parameters(
            np.array([of_donor[-1].time, of_donor[-1].before]),
            np.array([[gain.time, gain.before, *gain.parameters] for gain in gains]),
            np.array([gain.rate for gain in gains]),
            np.array(list(self._limits.values()), dtype=float).T,
            np.array(self._tried, dtype=float),
        )


class _Gain:
    """What a trial has gained from one comparison to the next with the same parameters."""

    def __init__(self, trial: str, time: float, before: float, rate: float, parameters: tuple[float, ...]):
        self.trial, self.time, self.before, self.rate, self.parameters = trial, time, before, rate, parameters


def _gains(history: list[dict[str, Any]], names: list[str]) -> list[_Gain]:
    last: dict[tuple[str, tuple[float, ...]], tuple[float, float]] = {}
    gains = []
    for point in sorted(history, key=lambda each: float(each["time"])):
        values = flat(point["config"])
        parameters = tuple(float(values[name]) for name in names)
        key = (point["trial"], parameters)
        if key in last and point["time"] > last[key][0]:
            time, score = last[key]
            rate = (point["score"] - score) / (point["time"] - time)
            gains.append(_Gain(point["trial"], point["time"], score, rate, parameters))
        last[key] = (point["time"], point["score"])
    return [gain for gain in gains if math.isfinite(gain.rate)]


def _copied(config: Any) -> Any:
    return {name: _copied(value) for name, value in config.items()} if isinstance(config, Mapping) else config


def _place(config: dict[str, Any], values: dict[str, float]) -> None:
    """Each as what it was: an integer stays one."""
    for name, value in values.items():
        *path, last = name.split("/")
        there = config
        for part in path:
            there = there[part]
        there[last] = type(there[last])(value)


def _checked(bounds: object, name: str) -> dict[str, Any]:
    if not isinstance(bounds, Mapping):
        refuse(name, bounds, f"a dict of parameters to {_BOUNDS}")
    for key, value in bounds.items():
        named = f"{name}[{key!r}]"
        if isinstance(value, Mapping):
            _checked(value, named)
            continue
        if not isinstance(value, (list, tuple)) or len(value) != 2:
            raise ValueError(f"{named} is {value!r}; allowed: {_BOUNDS}")
        low, high = (check_number(named, each, _BOUNDS) for each in value)
        if not low <= high:
            raise ValueError(f"{named} is {value!r}; allowed: {_BOUNDS}, the lowest first")
    return dict(bounds)


def _mutations(bounds: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _mutations(each) if isinstance(each, Mapping) else list(each) for name, each in bounds.items()}


def _filled(config: dict[str, Any], bounds: Mapping[str, Any]) -> dict[str, Any]:
    import numpy as np

    drawn: dict[str, Any] = {}
    for name, value in bounds.items():
        if isinstance(value, Mapping):
            below = _filled(config.setdefault(name, {}), value)
            drawn.update({f"{name}/{each}": number for each, number in below.items()})
        elif name not in config:
            config[name] = drawn[name] = float(np.random.uniform(*value))
    return drawn

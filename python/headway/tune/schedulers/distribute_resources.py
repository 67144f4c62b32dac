"""How free CPUs and GPUs go to the trials that run."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from headway._values.arguments import check_bool, check_int, check_number, refuse

_NAMES = ("CPU", "GPU")
_AMOUNTS = 'None, or a dict such as {"CPU": 1}'

Bundle = Mapping[str, float]


class DistributeResources:
    """Shares what is free evenly among the trials that run: the function of
    ``ResourceChangingScheduler`` by default. Decides as Ray Tune's
    (``resource_changing_scheduler.py`` of Ray 2.52).

    Args:
        add_bundles: Whether a trial gets more bundles, rather than a larger one.
        increase_by: By how much a trial grows at once; default: one CPU, or one GPU where trials
            have one, or with ``add_bundles`` another bundle.
        increase_by_times: How often it may grow, if above 0.
        reserve_resources: What no trial gets.

    Example:
        >>> from headway.tune.schedulers.resource_changing_scheduler import DistributeResources
        >>> DistributeResources(increase_by={"CPU": 2}, increase_by_times=2).increase_by
        {'CPU': 2}
    """

    def __init__(
        self,
        add_bundles: bool = False,
        increase_by: dict[str, float] | None = None,
        increase_by_times: int = -1,
        reserve_resources: dict[str, float] | None = None,
    ):
        self.add_bundles = check_bool("add_bundles", add_bundles)
        self.increase_by = _amounts("increase_by", increase_by)
        if self.increase_by and not _is_something(self.increase_by):
            raise ValueError(f"increase_by is {increase_by!r}; allowed: some CPUs or GPUs")
        self.increase_by_times = check_int("increase_by_times", increase_by_times, "an integer")
        self.reserve_resources = _amounts("reserve_resources", reserve_resources)

    def __call__(self, tune_controller: Any, trial: Any, result: dict[str, Any], scheduler: Any) -> Any:
        """What a trial is to have; equal to what it has where nothing changes.

        Args:
            tune_controller: Knows the trials and what there is.
            trial: The trial.
            result: Its newest report.
            scheduler: Knows what trials begin with.
        """
        base = scheduler.base_trial_resources
        if not self.add_bundles and len(base.bundles) > 1:
            raise ValueError(
                f"trials have {len(base.bundles)} bundles; allowed: 1, or DistributeResources(add_bundles=True)"
            )
        if result["training_iteration"] < 1:
            return None
        there = [
            amount - self.reserve_resources.get(name, 0.0)
            for name, amount in zip(_NAMES, tune_controller.total_resources(), strict=True)
        ]
        trials = tune_controller.get_live_trials()
        used = [sum(_amount(each.placement_group_factory.bundles, name) for each in trials) for name in _NAMES]
        bundles = [dict(bundle) for bundle in base.bundles]
        added = self._added_to(trial, trials, bundles, self._unit(bundles), there, used)
        whole = self._together(bundles, added)
        return type(base)([{name: each for name, each in bundle.items() if each} for bundle in whole], base.strategy)

    def _unit(self, bundles: list[dict[str, float]]) -> Bundle:
        if self.increase_by:
            return self.increase_by
        if self.add_bundles:
            return bundles[-1]
        return {"GPU": 1} if bundles[0].get("GPU") else {"CPU": 1}

    def _added_to(
        self,
        trial: Any,
        trials: list[Any],
        base: list[dict[str, float]],
        unit: Bundle,
        there: list[float],
        used: list[float],
    ) -> list[dict[str, float]]:
        """What the trial has beyond its base. Nobody gets more than if all began anew."""
        most = self._most(len(trials), base, unit, there)
        own = self._beyond(trial.placement_group_factory.bundles, base)
        return self._changed(own, unit, [amount - taken for amount, taken in zip(there, used, strict=True)], most)

    def _most(self, trials: int, base: list[dict[str, float]], unit: Bundle, there: list[float]) -> int:
        """How often the first trial would grow, were all to grow in turn from the start."""
        left = [amount - _amount(base, name) * trials for name, amount in zip(_NAMES, there, strict=True)]
        shares: list[list[dict[str, float]]] = [[] for _ in range(trials)]
        full: set[int] = set()
        times = turn = 0
        while len(full) < trials and all(
            amount >= unit.get(name, 0.0) for name, amount in zip(_NAMES, left, strict=True)
        ):
            index = turn % trials
            grown = self._changed(shares[index], unit, left, 0, at_once=1)
            gained = [_amount(grown, name) - _amount(shares[index], name) for name in _NAMES]
            if not any(gained):
                full.add(index)
            elif index == 0:
                times += 1
            shares[index] = grown
            left = [amount - each for amount, each in zip(left, gained, strict=True)]
            turn += 1
        return times

    def _changed(
        self, added: list[dict[str, float]], unit: Bundle, free: list[float], most: int, at_once: int = 0
    ) -> list[dict[str, float]]:
        """Grows, or shrinks where less than nothing is free."""
        times = _times(unit, free, at_once)
        if times < 0:
            return self._less(added, unit, -times)
        if times == 0:
            return added
        new = [dict(unit)] * times if self.add_bundles else [{name: unit.get(name, 0.0) * times for name in _NAMES}]
        return self._limited(self._together(added, new), unit, most)

    def _together(self, left: list[dict[str, float]], right: list[dict[str, float]]) -> list[dict[str, float]]:
        if self.add_bundles:
            return [bundle for bundle in [*left, *right] if _is_something(bundle)]
        one = {name: _amount(left[:1], name) + _amount(right[:1], name) for name in _NAMES}
        others = {name: each for name, each in (left[0] if left else {}).items() if name not in _NAMES}
        return [{**others, **one}]

    def _limited(self, bundles: list[dict[str, float]], unit: Bundle, most: int) -> list[dict[str, float]]:
        limits = [each for each in (most, self.increase_by_times) if each > 0]
        if not limits:
            return bundles
        if self.add_bundles:
            return bundles[: min(limits)]
        return [{name: min(each, unit.get(name, 0.0) * min(limits)) for name, each in bundles[0].items()}]

    def _less(self, added: list[dict[str, float]], unit: Bundle, times: int) -> list[dict[str, float]]:
        if self.add_bundles:
            return added[:-times]
        return [{name: max(_amount(added[:1], name) - unit.get(name, 0.0) * times, 0.0) for name in _NAMES}]

    def _beyond(self, bundles: Any, base: list[dict[str, float]]) -> list[dict[str, float]]:
        if self.add_bundles:
            return [dict(bundle) for bundle in bundles[len(base) :]]
        return [{name: _amount(bundles[:1], name) - _amount(base[:1], name) for name in _NAMES}]


class DistributeResourcesToTopJob(DistributeResources):
    """Gives what is free to the best trial. Those that were the best before keep what they have.

    Args:
        add_bundles: As of ``DistributeResources``, like those without a description here.
        increase_by: By how much a trial grows at once.
        increase_by_times: How often it may grow, if above 0.
        reserve_resources: What no trial gets.
        metric: What is compared. Default: that of the base scheduler, or of ``TuneConfig``.
        mode: ``"min"`` or ``"max"``. Default: likewise.

    Example:
        >>> from headway.tune.schedulers.resource_changing_scheduler import DistributeResourcesToTopJob
        >>> DistributeResourcesToTopJob(metric="loss", mode="min").mode
        'min'
    """

    def __init__(
        self,
        add_bundles: bool = False,
        increase_by: dict[str, float] | None = None,
        increase_by_times: int = -1,
        reserve_resources: dict[str, float] | None = None,
        metric: str | None = None,
        mode: str | None = None,
    ):
        super().__init__(add_bundles, increase_by, increase_by_times, reserve_resources)
        if mode not in (None, "min", "max"):
            raise ValueError(f'mode is {mode!r}; allowed: None, "min" or "max"')
        self.metric, self.mode = metric, mode

    def _added_to(
        self,
        trial: Any,
        trials: list[Any],
        base: list[dict[str, float]],
        unit: Bundle,
        there: list[float],
        used: list[float],
    ) -> list[dict[str, float]]:
        if self.metric is None or self.mode is None:
            raise ValueError(
                f"metric is {self.metric!r} and mode is {self.mode!r} of DistributeResourcesToTopJob; allowed: both, "
                "here, in the base scheduler or in TuneConfig"
            )
        sign = 1.0 if self.mode == "max" else -1.0
        ranked = sorted(trials, key=lambda each: -sign * each.last_result.get(self.metric, math.inf))
        own = self._beyond(trial.placement_group_factory.bundles, base)
        best = next((each for each in ranked if self._may_grow(each, base)), ranked[0])
        free = [amount - taken for amount, taken in zip(there, used, strict=True)]
        if trial.trial_id != best.trial_id and _times(unit, free) >= 0:
            return own
        return self._changed(own, unit, free, 0)

    def _may_grow(self, trial: Any, base: list[dict[str, float]]) -> bool:
        if self.increase_by_times <= 0:
            return True
        added = self._beyond(trial.placement_group_factory.bundles, base)
        limits = {name: self.increase_by.get(name, 0.0) * self.increase_by_times for name in _NAMES}
        return any(_amount(added, name) < (limits[name] or math.inf) for name in _NAMES)


def _times(unit: Bundle, free: list[float], most: int = 0) -> int:
    """How often a unit is in what is free; negative where less than nothing is."""
    times = int(min(amount // unit[name] for name, amount in zip(_NAMES, free, strict=True) if unit.get(name)))
    return min(times, most) if most > 0 and times > 0 else times


def _amount(bundles: Any, name: str) -> float:
    return float(sum(bundle.get(name, 0.0) for bundle in bundles))


def _is_something(bundle: Bundle) -> bool:
    return any(bundle.get(name) for name in _NAMES)


def _amounts(name: str, given: Any) -> dict[str, float]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        refuse(name, given, _AMOUNTS)
    for key, value in given.items():
        if check_number(f"{name}[{key!r}]", value, "a number of at least 0") < 0:
            raise ValueError(f"{name}[{key!r}] is {value!r}; allowed: a number of at least 0")
    return dict(given)

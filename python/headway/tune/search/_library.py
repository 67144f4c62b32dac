"""What searchers over other libraries have in common: the space, points to begin with, and what is
asked and told by flat names.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from headway._values.arguments import check_str, refuse
from headway.tune._space.domains import Categorical, Domain, Float, Integer, Numbers
from headway.tune._space.laws import LogUniform, Normal
from headway.tune._space.variants import open_values
from headway.tune.search._parameters import flattened, parameters, unflattened, without_law
from headway.tune.search.basic_variant import check_points
from headway.tune.search.searcher import Searcher, metric_value

#: The metric of a trial that reports a number.
_NUMBER = "_metric"


def library(module: str, user: str, install: str) -> Any:
    """A library that a searcher needs.

    Args:
        module: Its module.
        user: The searcher's class.
        install: The command that installs it.

    Raises:
        ImportError: it is not installed, or does not work here.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.split(".")[0]
        is_missing = isinstance(error, ModuleNotFoundError) and (error.name or package).split(".")[0] == package
        why = "which is not installed" if is_missing else f"which cannot be imported here ({error})"
        raise ImportError(f"{user} needs {package}, {why}; run: {install}", name=package) from error


class LibrarySearcher(Searcher):
    """Asks another library for configurations, and tells it the results.

    Args:
        space: The search space: domains of :mod:`headway.tune` by name, or the library's own.
            Default: ``param_space`` of the tuner.
        metric: What is optimised. Default: that of ``TuneConfig``.
        mode: ``"min"`` or ``"max"``.
        points_to_evaluate: Configurations to begin with. What they leave open is drawn.
    """

    #: Whether the library sees the positions of a choice rather than its values.
    _sees_positions: ClassVar[bool] = True
    #: Whether it sees the logarithm of what is searched on a logarithmic scale.
    _sees_logs: ClassVar[bool] = False

    def __init__(
        self, space: Any, metric: str | None, mode: str | None, points_to_evaluate: Sequence[dict[str, Any]] | None
    ):
        if metric is not None:
            check_str("metric", metric, f"None or the name of a metric: {type(self).__name__} has one")
        super().__init__(metric, mode)
        self._points = check_points(points_to_evaluate)
        self._domains: dict[str, Domain] = {}
        self._constants: dict[str, Any] = {}
        #: The library's own space, where the user has given one.
        self._native: Any = None
        self._is_open = False
        self._live: dict[str, Any] = {}
        if space is not None:
            self._take_space(space)
            self._open_if_ready()

    def set_search_properties(self, metric: str | None, mode: str | None, config: dict[str, Any], **spec: Any) -> bool:
        """Takes what was not given when it was made.

        Args:
            metric: ``TuneConfig.metric``.
            mode: ``TuneConfig.mode``.
            config: The search space.
            spec: Without effect.
        """
        taken = False
        if not self._has_space() and config:
            self._take_space(config)
            taken = True
        taken = self._take_objective(metric, mode) or taken
        if self._metric is None and self._mode is not None:
            self._metric = _NUMBER
        self._open_if_ready()
        return taken

    def suggest(self, trial_id: str) -> dict[str, Any] | str | None:
        """What the library says.

        Args:
            trial_id: The new trial.

        Raises:
            ValueError: the space, metric or mode is missing.
        """
        self._check_open()
        if self._points:
            chosen = self._points.pop(0)
            handle = self._given(self._encoded(chosen))
        else:
            asked = self._ask()
            if not isinstance(asked, tuple):
                return asked
            handle, values = asked
            chosen = self._decoded(values)
        self._live[trial_id] = handle
        return unflattened({**self._constants, **chosen})

    def on_trial_complete(self, trial_id: str, result: dict[str, Any] | None = None, error: bool = False) -> None:
        """Tells the library what a trial has reached.

        Args:
            trial_id: The trial.
            result: Its last report.
            error: Whether it has failed.
        """
        if trial_id not in self._live:
            return
        handle = self._live.pop(trial_id)
        value = None if error else self._value(result)
        if value is None or result is None:
            self._lost(handle, failed=error)
        else:
            self._tell(handle, value, result)

    def add_evaluated_point(
        self,
        parameters: dict[str, Any],
        value: float | list[float],
        error: bool = False,
        pruned: bool = False,
        intermediate_values: list[float] | None = None,
    ) -> None:
        """Has the library learn from a result that is known beforehand.

        Args:
            parameters: The configuration.
            value: What it has reached.
            error: Whether it has failed: then there is nothing to learn.
            pruned: Whether it was stopped early: the same.
            intermediate_values: Without effect.
        """
        self._check_open()
        if error or pruned or isinstance(value, Sequence) or not math.isfinite(value):
            return
        known = flattened(parameters, whole=self._choices())
        if self._domains:
            known = {name: each for name, each in known.items() if name in self._domains}
        assert isinstance(self._metric, str)
        self._tell(self._given(self._encoded(self._filled(known))), float(value), {self._metric: value})

    # What a library does.

    def _open(self) -> None:
        """Makes the optimiser of a space that is known."""
        raise NotImplementedError

    def _ask(self) -> tuple[Any, dict[str, Any]] | str | None:
        """A handle and values as the library has them; None, ``FINISHED``."""
        raise NotImplementedError

    def _given(self, values: dict[str, Any]) -> Any:
        """A handle for values that the library has not suggested."""
        raise NotImplementedError

    def _tell(self, handle: Any, value: float, result: Mapping[str, Any]) -> None:
        """What a handle has reached."""
        raise NotImplementedError

    def _lost(self, handle: Any, *, failed: bool) -> None:
        """There will be no value."""

    def _own_space(self, space: Any) -> Any:
        """The library's own space that a user has given; None: it is none."""
        return None

    # The space.

    @property
    def _least(self) -> float:
        """1 or -1: what makes less of the metric better."""
        return -1.0 if self._mode == "max" else 1.0

    def _has_space(self) -> bool:
        return bool(self._domains) or self._native is not None

    def _take_space(self, space: Any) -> None:
        self._native = self._own_space(space)
        if self._native is not None:
            return
        user = type(self).__name__
        if not isinstance(space, Mapping):
            refuse("space", space, f"None, a dict from parameters to domains, or a space of {user}'s library")
        self._domains = parameters(dict(space), user)
        if not self._domains:
            raise ValueError(f"space is {space!r}; allowed: at least one parameter to search")
        for name, domain in self._domains.items():
            self._check_domain(name, domain)
        opened = {"/".join(map(str, path)) for path, _ in open_values(dict(space))}
        flat = flattened(space, whole=opened)
        self._constants = {name: value for name, value in flat.items() if name not in opened}

    def _check_domain(self, name: str, domain: Domain) -> None:
        """Refuses what the library cannot search."""
        if isinstance(domain, Categorical):
            return
        if not isinstance(domain, (Float, Integer)) or isinstance(domain.base_law, Normal):
            raise without_law(name, domain, type(self).__name__)

    def _open_if_ready(self) -> None:
        if not self._is_open and self._has_space() and self._metric is not None and self._mode is not None:
            self._points = [self._filled(self._checked(point)) for point in self._points]
            self._open()
            self._is_open = True

    def _check_open(self) -> None:
        self._open_if_ready()
        if not self._is_open:
            missing = "space" if not self._has_space() else "metric" if self._metric is None else "mode"
            raise ValueError(f"{type(self).__name__} has no {missing}: give it, or give it to TuneConfig or Tuner")

    def _value(self, result: Mapping[str, Any] | None) -> float | None:
        """The metric of a report; None where it has none that is finite."""
        if result is None:
            return None
        assert isinstance(self._metric, str)
        value = float(metric_value(result, self._metric))
        return value if math.isfinite(value) else None

    # Values by flat names.

    def _choices(self) -> set[str]:
        return {name for name, domain in self._domains.items() if isinstance(domain, Categorical)}

    def _checked(self, point: Mapping[str, Any]) -> dict[str, Any]:
        flat = flattened(point, whole=self._choices())
        if not self._domains:
            return flat
        known = {*self._domains, *self._constants}
        for name, value in flat.items():
            if name not in known:
                allowed = ", ".join(self._domains)
                raise ValueError(f"points_to_evaluate has {name!r}; allowed: parameters of the search space: {allowed}")
            domain = self._domains.get(name)
            if isinstance(domain, Categorical) and value not in domain.categories:
                raise ValueError(
                    f"points_to_evaluate: {name!r} is {value!r}; allowed: its choices, {list(domain.categories)!r}"
                )
        return {name: value for name, value in flat.items() if name in self._domains}

    def _filled(self, point: dict[str, Any]) -> dict[str, Any]:
        return {**{name: each.sample() for name, each in self._domains.items() if name not in point}, **point}

    def _encoded(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Values as the library has them."""
        return {name: self._position(name, value) for name, value in values.items()}

    def _position(self, name: str, value: Any) -> Any:
        domain = self._domains.get(name)
        if self._sees_positions and isinstance(domain, Categorical):
            return list(domain.categories).index(value)
        return math.log(value) if self._sees_logs and domain is not None and is_log(domain) else value

    def _decoded(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The library's values as those of a configuration."""
        return {name: self._plain(name, value) for name, value in values.items()}

    def _plain(self, name: str, value: Any) -> Any:
        domain = self._domains.get(name)
        if isinstance(domain, Categorical):
            return domain.categories[int(value)] if self._sees_positions else value
        if isinstance(domain, Numbers):
            return snapped(domain, math.exp(value) if self._sees_logs and is_log(domain) else value)
        return value

    def _ends(self, domain: Numbers) -> tuple[float, float]:
        """As the library sees them."""
        low, high = ends(domain)
        return (math.log(low), math.log(high)) if self._sees_logs and is_log(domain) else (low, high)


def is_log(domain: Domain) -> bool:
    """Whether a parameter is searched on a logarithmic scale."""
    return isinstance(domain, Numbers) and isinstance(domain.base_law, LogUniform)


def ends(domain: Numbers) -> tuple[float, float]:
    """The least and the greatest value of a parameter, both included."""
    q = domain.q
    if q and q != 1:
        return math.ceil(domain.lower / q) * q, math.floor(domain.upper / q) * q
    return domain.lower, domain.upper - (1 if isinstance(domain, Integer) else 0)


def snapped(domain: Numbers, value: float) -> float:
    """A value as the parameter may have it: a multiple of its step within its bounds."""
    q = domain.q or (1 if isinstance(domain, Integer) else None)
    if q:
        value = round(value / q) * q
    if not isinstance(domain.base_law, Normal):
        low, high = ends(domain)
        value = min(max(value, low), high)
    cast: float = domain.cast(value)
    return cast

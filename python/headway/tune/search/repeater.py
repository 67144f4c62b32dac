"""Each configuration several times."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from headway._values.arguments import check_bool, check_int, refuse
from headway.tune.search.searcher import Searcher, kept_state, metric_value, set_properties, take_up

#: Where a configuration says which of its repetitions a trial is.
TRIAL_INDEX = "__trial_index__"


@dataclass
class _Group:
    """The repetitions of one suggestion, which the searcher knows by the first one's id."""

    leader: str
    config: dict[str, Any]
    members: list[str] = field(default_factory=list)
    values: dict[str, float | None] = field(default_factory=dict)
    last: dict[str, Any] | None = None


class Repeater(Searcher):
    """Tries each configuration of a searcher several times; the searcher learns the mean.

    Choose ``num_samples`` as a multiple of ``repeat``. A trial finds its number, from 0, in
    ``config["__trial_index__"]``.

    Args:
        searcher: The searcher.
        repeat: How often, at least 1.
        set_index: Whether the configuration has ``__trial_index__``.

    Example:
        >>> from headway.tune.search import Repeater
        >>> from headway.tune.search.optuna import OptunaSearch
        >>> search = Repeater(OptunaSearch(seed=1), repeat=3)
    """

    def __init__(self, searcher: Searcher, repeat: int = 1, set_index: bool = True):
        if not isinstance(searcher, Searcher):
            refuse("searcher", searcher, "a Searcher")
        if isinstance(searcher.metric, (list, tuple)):
            raise ValueError(f"searcher has the metrics {searcher.metric!r}; allowed: a searcher with one metric")
        self.searcher = searcher
        self.repeat = check_int("repeat", repeat, "an integer of at least 1")
        if self.repeat < 1:
            raise ValueError(f"repeat is {repeat}; allowed: an integer of at least 1")
        self._set_index = check_bool("set_index", set_index)
        self._filling: _Group | None = None
        self._groups: dict[str, _Group] = {}
        super().__init__(searcher.metric, searcher.mode)

    @property
    def metric(self) -> Any:
        """The searcher's."""
        return self.searcher.metric

    @property
    def mode(self) -> Any:
        """The searcher's."""
        return self.searcher.mode

    def set_search_properties(self, metric: str | None, mode: str | None, config: dict[str, Any], **spec: Any) -> bool:
        """Hands them on."""
        return set_properties(self.searcher, metric, mode, config, **spec)

    def suggest(self, trial_id: str) -> dict[str, Any] | str | None:
        """The current suggestion once more, or the searcher's next one."""
        group = self._filling
        if group is None:
            suggestion = self.searcher.suggest(trial_id)
            if not isinstance(suggestion, dict):
                return suggestion
            group = self._filling = _Group(trial_id, suggestion)
        index = len(group.members)
        group.members.append(trial_id)
        self._groups[trial_id] = group
        if len(group.members) == self.repeat:
            self._filling = None
        return {**group.config, TRIAL_INDEX: index} if self._set_index else dict(group.config)

    def on_trial_complete(self, trial_id: str, result: dict[str, Any] | None = None, error: bool = False) -> None:
        """Once the last repetition has ended, the searcher hears the mean of those that have not
        failed.
        """
        group = self._groups.pop(trial_id, None)
        if group is None:
            return
        value = None if result is None or error else float(metric_value(result, self.metric))
        group.values[trial_id] = value if value is None or math.isfinite(value) else None
        group.last = result if result is not None else group.last
        if len(group.values) < self.repeat:
            return
        known = [each for each in group.values.values() if each is not None]
        if not known:
            self.searcher.on_trial_complete(group.leader, None, error=True)
            return
        result = {**(group.last or {}), self.metric: sum(known) / len(known)}
        self.searcher.on_trial_complete(group.leader, result, error=False)

    def get_state(self) -> dict[str, Any]:
        """The repeater's and the searcher's."""
        own = {name: value for name, value in self.__dict__.items() if name != "searcher"}
        return {**own, "_of_searcher": kept_state(self.searcher)}

    def set_state(self, state: dict[str, Any]) -> None:
        """Takes up both."""
        own = dict(state)
        take_up(self.searcher, own.pop("_of_searcher"))
        self.__dict__.update(own)

    def set_max_concurrency(self, max_concurrent: int) -> bool:
        """The searcher has one trial where there are ``repeat``."""
        return self.searcher.set_max_concurrency(math.ceil(max_concurrent / self.repeat))

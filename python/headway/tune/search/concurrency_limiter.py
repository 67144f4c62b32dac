"""At most so many trials at once."""

from __future__ import annotations

from typing import Any

from headway._values.arguments import check_bool, check_int, refuse
from headway.tune.search.searcher import Searcher, kept_state, set_properties, take_up


class ConcurrencyLimiter(Searcher):
    """Has at most so many trials of a searcher run at once.

    Args:
        searcher: The searcher.
        max_concurrent: How many trials, at least 1.
        batch: Waits until all of them have ended before the next start.

    Example:
        >>> from headway.tune.search import ConcurrencyLimiter
        >>> from headway.tune.search.optuna import OptunaSearch
        >>> search = ConcurrencyLimiter(OptunaSearch(seed=1), max_concurrent=4)
    """

    def __init__(self, searcher: Searcher, max_concurrent: int, batch: bool = False):
        if not isinstance(searcher, Searcher):
            refuse("searcher", searcher, "a Searcher")
        self.searcher = searcher
        self.max_concurrent = check_int("max_concurrent", max_concurrent, "an integer of at least 1")
        if self.max_concurrent < 1:
            raise ValueError(f"max_concurrent is {max_concurrent}; allowed: an integer of at least 1")
        self.batch = check_bool("batch", batch)
        self._live: set[str] = set()
        # Of a batch that is not complete: what its trials ended with.
        self._ended: dict[str, tuple[dict[str, Any] | None, bool]] = {}
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

    def set_max_concurrency(self, max_concurrent: int) -> bool:
        """False: two limits may apply."""
        return False

    def suggest(self, trial_id: str) -> dict[str, Any] | str | None:
        """The searcher's suggestion; None while enough trials run."""
        if len(self._live) + len(self._ended) >= self.max_concurrent:
            return None
        suggestion = self.searcher.suggest(trial_id)
        if isinstance(suggestion, dict):
            self._live.add(trial_id)
        return suggestion

    def on_trial_result(self, trial_id: str, result: dict[str, Any]) -> None:
        """Hands it on."""
        self.searcher.on_trial_result(trial_id, result)

    def on_trial_complete(self, trial_id: str, result: dict[str, Any] | None = None, error: bool = False) -> None:
        """Hands it on, with ``batch`` once the whole batch has ended."""
        if trial_id not in self._live:
            return
        self._live.discard(trial_id)
        if not self.batch:
            self.searcher.on_trial_complete(trial_id, result, error)
            return
        self._ended[trial_id] = (result, error)
        if len(self._ended) == self.max_concurrent or not self._live:
            ended, self._ended = self._ended, {}
            for each, outcome in ended.items():
                self.searcher.on_trial_complete(each, *outcome)

    def add_evaluated_point(
        self,
        parameters: dict[str, Any],
        value: float | list[float],
        error: bool = False,
        pruned: bool = False,
        intermediate_values: list[float] | None = None,
    ) -> None:
        """Hands it on."""
        self.searcher.add_evaluated_point(parameters, value, error, pruned, intermediate_values)

    def get_state(self) -> dict[str, Any]:
        """The limiter's and the searcher's."""
        own = {name: value for name, value in self.__dict__.items() if name != "searcher"}
        return {**own, "_of_searcher": kept_state(self.searcher)}

    def set_state(self, state: dict[str, Any]) -> None:
        """Takes up both."""
        own = dict(state)
        take_up(self.searcher, own.pop("_of_searcher"))
        self.__dict__.update(own)

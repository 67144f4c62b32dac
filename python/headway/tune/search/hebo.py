"""HEBO as a searcher."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from headway._values.arguments import check_int
from headway._values.named_arguments import offer
from headway.tune._space.domains import Categorical, Domain, Integer, Numbers
from headway.tune.search._library import LibrarySearcher, ends, is_log, library

__all__ = ["HEBOSearch"]

#: The table of places has a module below this one, with Ray's name.
__path__: list[str] = []

#: The newest HEBO names a numpy and a pymoo that are older than it needs.
_INSTALL = (
    "pip install GPy gpytorch catboost pymoo disjoint-set && pip install --no-deps HEBO (HEBO asks for numpy below "
    "1.25, and works with newer ones)"
)


class HEBOSearch(LibrarySearcher):
    """Searches with `HEBO <https://github.com/huawei-noah/HEBO>`_.

    Args:
        space: The search space. Default: ``param_space`` of the tuner. It may be HEBO's
            ``DesignSpace``.
        metric: What is optimised. Default: that of ``TuneConfig``.
        mode: ``"min"`` or ``"max"``.
        points_to_evaluate: Configurations to begin with.
        evaluated_rewards: What ``points_to_evaluate`` have reached, if it is known: they are
            learned from and not tried again.
        random_state_seed: Seeds numpy's and torch's global generators, which HEBO draws from.
        max_concurrent: How many suggestions are made together, and run at most at once.
        kwargs: Arguments for HEBO's optimizer.

    Example:
        >>> from headway import tune
        >>> from headway.tune.search.hebo import HEBOSearch
        >>> search = HEBOSearch({"x": tune.uniform(0, 1)}, metric="loss", mode="min")  # doctest: +SKIP
    """

    def __init__(
        self,
        space: Any = None,
        metric: str | None = None,
        mode: str | None = None,
        points_to_evaluate: Sequence[dict[str, Any]] | None = None,
        evaluated_rewards: Sequence[float] | None = None,
        random_state_seed: int | None = None,
        max_concurrent: int = 8,
        **kwargs: Any,
    ):
        _design_space()
        if check_int("max_concurrent", max_concurrent, "an integer of at least 1") < 1:
            raise ValueError(f"max_concurrent is {max_concurrent}; allowed: an integer of at least 1")
        if random_state_seed is not None:
            check_int("random_state_seed", random_state_seed, "None or an integer")
        points = len(points_to_evaluate or [])
        if evaluated_rewards is not None and len(evaluated_rewards) != points:
            raise ValueError(
                f"evaluated_rewards has {len(evaluated_rewards)} values; allowed: one for each of points_to_evaluate, "
                f"of which there are {points}"
            )
        self._rewards = None if evaluated_rewards is None else list(evaluated_rewards)
        self._seed, self._max_concurrent, self._arguments = random_state_seed, max_concurrent, kwargs
        # Suggestions of a batch; the next is made once the whole batch has ended.
        self._batch: list[dict[str, Any]] = []
        super().__init__(space, metric, mode, points_to_evaluate)

    def set_max_concurrency(self, max_concurrent: int) -> bool:
        """Takes the limit.

        Args:
            max_concurrent: ``TuneConfig.max_concurrent_trials``.
        """
        self._max_concurrent = max_concurrent
        return True

    def get_state(self) -> dict[str, Any]:
        """With the global generators, where they are seeded here."""
        state = super().get_state()
        if self._seed is not None and self._is_open:
            import numpy as np
            import torch

            state["_generators"] = (np.random.get_state(), torch.get_rng_state())
        return state

    def set_state(self, state: dict[str, Any]) -> None:
        """Takes up a state of ``get_state``.

        Args:
            state: The state.
        """
        state = dict(state)
        generators = state.pop("_generators", None)
        super().set_state(state)
        if generators is not None:
            import numpy as np
            import torch

            np.random.set_state(generators[0])
            torch.set_rng_state(generators[1])

    def _own_space(self, space: Any) -> Any:
        return space if isinstance(space, _design_space()) else None

    def _open(self) -> None:
        optimizer = library("hebo.optimizers.hebo", "HEBOSearch", _INSTALL).HEBO
        if self._seed is not None:
            import numpy as np
            import torch

            np.random.seed(self._seed)
            torch.random.manual_seed(self._seed)
        space = self._native
        if space is None:
            space = _design_space()().parse([_parameter(name, domain) for name, domain in self._domains.items()])
        self._optimizer = optimizer(space=space, **self._arguments)
        if self._rewards is not None:
            points, self._points = self._points, []
            for point, reward in zip(points, self._rewards, strict=True):
                self._tell(self._given(self._encoded(point)), float(reward), {})

    def _ask(self) -> tuple[Any, dict[str, Any]] | str | None:
        if not self._batch:
            if self._live:
                return None
            self._batch = self._optimizer.suggest(n_suggestions=self._max_concurrent).to_dict("records")
        values = self._batch.pop(0)
        return values, {name: each.item() if hasattr(each, "item") else each for name, each in values.items()}

    def _given(self, values: dict[str, Any]) -> Any:
        return values

    def _encoded(self, values: Mapping[str, Any]) -> dict[str, Any]:
        encoded = super()._encoded(values)
        return {name: str(each) if name in self._choices() else each for name, each in encoded.items()}

    def _tell(self, handle: Any, value: float, result: Mapping[str, Any]) -> None:
        import numpy as np
        import pandas

        self._optimizer.observe(pandas.DataFrame([handle]), np.array([[self._least * value]]))


offer(globals(), __all__)


def _design_space() -> Any:
    return library("hebo.design_space.design_space", "HEBOSearch", _INSTALL).DesignSpace


def _parameter(name: str, domain: Domain) -> dict[str, Any]:
    """HEBO's parameter for a domain; its categories are the positions as text."""
    if isinstance(domain, Categorical):
        return {"name": name, "type": "cat", "categories": [str(each) for each in range(len(domain.categories))]}
    assert isinstance(domain, Numbers)
    low, high = ends(domain)
    if isinstance(domain, Integer):
        return {"name": name, "type": "pow_int" if is_log(domain) else "int", "lb": int(low), "ub": int(high)}
    return {"name": name, "type": "pow" if is_log(domain) else "num", "lb": float(low), "ub": float(high)}

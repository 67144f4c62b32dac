"""ZOOpt as a searcher."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from headway._values.arguments import check_int, check_str, refuse
from headway._values.named_arguments import offer
from headway.tune._space.domains import Categorical, Domain, Numbers
from headway.tune._space.variants import open_values
from headway.tune.search._library import LibrarySearcher, library

__all__ = ["ZOOptSearch"]

#: The table of places has a module below this one, with Ray's name.
__path__: list[str] = []

_INSTALL = "pip install zoopt"
_ALGORITHMS = ("asracos", "sracos")
#: To which part of its range a float is searched.
_PRECISION = 1e-9


class ZOOptSearch(LibrarySearcher):
    """Searches with ASRacos of `ZOOpt <https://github.com/polixir/ZOOpt>`_.

    Args:
        algo: ``"asracos"`` or ``"sracos"``.
        budget: How many samples there will be, at least 1.
        dim_dict: The search space. Default: ``param_space`` of the tuner. A dict may hold ZOOpt's
            own dimensions, such as ``(ValueType.CONTINUOUS, [0, 1], 1e-2)``.
        metric: What is optimised. Default: that of ``TuneConfig``.
        mode: ``"min"`` or ``"max"``.
        points_to_evaluate: Configurations to begin with.
        parallel_num: How many trials run at once.
        kwargs: Arguments for ZOOpt's ``SRacosTune``.

    Example:
        >>> from headway import tune
        >>> from headway.tune.search.zoopt import ZOOptSearch
        >>> space = {"x": tune.uniform(0, 1)}
        >>> search = ZOOptSearch(budget=20, dim_dict=space, metric="loss", mode="min")  # doctest: +SKIP
    """

    _sees_logs: ClassVar[bool] = True

    def __init__(
        self,
        algo: str = "asracos",
        budget: int | None = None,
        dim_dict: Mapping[str, Any] | None = None,
        metric: str | None = None,
        mode: str | None = None,
        points_to_evaluate: Sequence[dict[str, Any]] | None = None,
        parallel_num: int = 1,
        **kwargs: Any,
    ):
        _zoopt()
        if check_str("algo", algo, "the name of an algorithm").lower() not in _ALGORITHMS:
            raise ValueError(f"algo is {algo!r}; allowed: {', '.join(_ALGORITHMS)}")
        if budget is None or check_int("budget", budget, "an integer of at least 1") < 1:
            raise ValueError(f"budget is {budget}; allowed: an integer of at least 1, the number of samples")
        if check_int("parallel_num", parallel_num, "an integer of at least 1") < 1:
            raise ValueError(f"parallel_num is {parallel_num}; allowed: an integer of at least 1")
        self._budget, self._parallel, self._arguments = budget, parallel_num, kwargs
        super().__init__(dim_dict, metric, mode, points_to_evaluate)

    def _own_space(self, space: Any) -> Any:
        is_own = isinstance(space, Mapping) and space and not any(True for _ in open_values(dict(space)))
        if not is_own:
            return None
        for name, value in space.items():
            if not isinstance(value, tuple):
                refuse(f"dim_dict[{name!r}]", value, "a dimension of ZOOpt, which is a tuple, or a domain")
        return dict(space)

    def _open(self) -> None:
        zoopt = _zoopt()
        dimensions = self._native or {
            name: self._dimension(zoopt.ValueType, domain) for name, domain in self._domains.items()
        }
        self._names = list(dimensions)
        tune = library("zoopt.algos.opt_algorithms.racos.sracos", "ZOOptSearch", _INSTALL).SRacosTune
        self._optimizer = tune(
            dimension=zoopt.Dimension2(list(dimensions.values())),
            parameter=zoopt.Parameter(budget=self._budget),
            parallel_num=self._parallel,
            **self._arguments,
        )

    def _dimension(self, kinds: Any, domain: Domain) -> tuple[Any, ...]:
        """ZOOpt's dimension for a domain."""
        if isinstance(domain, Categorical):
            return (kinds.GRID, list(range(len(domain.categories))))
        assert isinstance(domain, Numbers)
        low, high = self._ends(domain)
        return kinds.CONTINUOUS, [low, high], (high - low) * _PRECISION

    def _ask(self) -> tuple[Any, dict[str, Any]] | str | None:
        solution = self._optimizer.suggest()
        if solution is None and self._optimizer.complete_num >= self._optimizer._parameter.get_train_size():
            # It waits for its first samples, and has them: given points count among them.
            self._optimizer.semaphore = 1
            solution = self._optimizer.suggest()
        if solution == "FINISHED":
            return self.FINISHED
        if not solution:
            return None
        return solution, dict(zip(self._names, solution.get_x(), strict=True))

    def _given(self, values: dict[str, Any]) -> Any:
        self._optimizer.live_num += 1
        return _zoopt().Solution(x=[values[name] for name in self._names])

    def _tell(self, handle: Any, value: float, result: Mapping[str, Any]) -> None:
        self._optimizer.complete(handle, self._least * value)

    def _lost(self, handle: Any, *, failed: bool) -> None:
        # It counts its samples, and waits for each.
        self._optimizer.complete(handle, math.inf)


offer(globals(), __all__)


def _zoopt() -> Any:
    return library("zoopt", "ZOOptSearch", _INSTALL)

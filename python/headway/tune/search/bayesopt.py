"""Bayesian optimisation by the package bayesian-optimization as a searcher."""

from __future__ import annotations

import collections
import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from headway._values.arguments import check_bool, check_int, refuse
from headway._values.log import notice
from headway._values.named_arguments import offer
from headway.tune._space.domains import Domain, Float
from headway.tune._space.laws import Normal, Uniform
from headway.tune._space.variants import open_values
from headway.tune.search._library import LibrarySearcher, library
from headway.tune.search._parameters import without_law

__all__ = ["BayesOptSearch"]

#: The table of places has a module below this one, with Ray's name.
__path__: list[str] = []

_UTILITY = {"kind": "ucb", "kappa": 2.576, "xi": 0.0}
_UTILITIES = {"ucb": "UpperConfidenceBound", "ei": "ExpectedImprovement", "poi": "ProbabilityOfImprovement"}


class BayesOptSearch(LibrarySearcher):
    """Searches floats with a Gaussian process of `bayesian-optimization
    <https://github.com/bayesian-optimization/BayesianOptimization>`_, 1.4.3 or newer.

    Args:
        space: The search space. Default: ``param_space`` of the tuner. A dict may hold pairs of
            bounds, such as ``{"x": (0, 1)}``.
        metric: What is optimised. Default: that of ``TuneConfig``.
        mode: ``"min"`` or ``"max"``.
        points_to_evaluate: Configurations to begin with.
        utility_kwargs: What is maximised: ``kind`` (``"ucb"``, ``"ei"`` or ``"poi"``), ``kappa``,
            ``xi``, ``kappa_decay``, ``kappa_decay_delay``. Default: ``"ucb"`` with kappa 2.576.
        random_state: Seeds the draws.
        random_search_steps: How many trials are drawn at random before the model learns.
        verbose: How much the library prints: 0, 1 or 2.
        patience: Ends the search when one configuration was suggested more often than this.
        skip_duplicate: Whether a configuration is not tried again.
        analysis: An ``ExperimentAnalysis`` or ``ResultGrid`` whose results are learned.
        repeat_float_precision: To how many digits configurations are compared.

    Example:
        >>> from headway import tune
        >>> from headway.tune.search.bayesopt import BayesOptSearch
        >>> search = BayesOptSearch({"x": (0, 1)}, metric="loss", mode="min")  # doctest: +SKIP
    """

    _sees_logs: ClassVar[bool] = True

    def __init__(
        self,
        space: Mapping[str, Any] | None = None,
        metric: str | None = None,
        mode: str | None = None,
        points_to_evaluate: Sequence[dict[str, Any]] | None = None,
        utility_kwargs: Mapping[str, Any] | None = None,
        random_state: int = 42,
        random_search_steps: int = 10,
        verbose: int = 0,
        patience: int = 5,
        skip_duplicate: bool = True,
        analysis: Any = None,
        repeat_float_precision: int = 5,
    ):
        _bayes_opt()
        self._utility_arguments = {**_UTILITY, **(utility_kwargs or {})}
        if self._utility_arguments["kind"] not in _UTILITIES:
            raise ValueError(
                f"utility_kwargs has the kind {self._utility_arguments['kind']!r}; allowed: {', '.join(_UTILITIES)}"
            )
        self._random_state = random_state
        for name, value in (("random_search_steps", random_search_steps), ("verbose", verbose)):
            if check_int(name, value, "an integer of at least 0") < 0:
                raise ValueError(f"{name} is {value}; allowed: an integer of at least 0")
        if check_int("patience", patience, "an integer of at least 1") < 1:
            raise ValueError(f"patience is {patience}; allowed: an integer of at least 1")
        self._random_search_steps, self._verbose, self._patience = random_search_steps, verbose, patience
        self._skip_duplicate = check_bool("skip_duplicate", skip_duplicate)
        self._digits = check_int("repeat_float_precision", repeat_float_precision, "a number of digits")
        self._analysis = analysis
        # Of the first trials; the model learns them all at once.
        self._results: list[tuple[dict[str, Any], float]] = []
        self._suggested: collections.Counter[tuple[tuple[str, float], ...]] = collections.Counter()
        super().__init__(space, metric, mode, points_to_evaluate)

    def register_analysis(self, analysis: Any) -> None:
        """Learns the results of another experiment.

        Args:
            analysis: Its ``ExperimentAnalysis`` or ``ResultGrid``.
        """
        self._check_open()
        assert isinstance(self._metric, str)
        frame = analysis.dataframe if callable(getattr(analysis, "dataframe", None)) else analysis.get_dataframe
        for row in frame().to_dict("records"):
            if math.isfinite(row.get(self._metric, math.nan)):
                values = {name: row[f"config/{name}"] for name in self._domains}
                self._learn(values, float(row[self._metric]))

    def _take_space(self, space: Any) -> None:
        if isinstance(space, Mapping) and not any(True for _ in open_values(dict(space))):
            space = {name: _bounds(name, value) for name, value in space.items()}
        super()._take_space(space)

    def _check_domain(self, name: str, domain: Domain) -> None:
        if not isinstance(domain, Float):
            raise ValueError(
                f"the search space has {name!r}, {domain!r}, which BayesOptSearch cannot search; allowed: uniform and "
                "the like, which give floats"
            )
        if isinstance(domain.base_law, Normal):
            raise without_law(name, domain, "BayesOptSearch")
        if not isinstance(domain.base_law, Uniform) or domain.q:
            notice(f"BayesOptSearch searches {name!r} evenly on its scale, and rounds afterwards")

    def _open(self) -> None:
        bayes_opt = _bayes_opt()
        bounds = {}
        for name, domain in self._domains.items():
            assert isinstance(domain, Float)
            bounds[name] = self._ends(domain)
        utility, arguments = _utility(bayes_opt, self._utility_arguments)
        #: To `suggest` in older versions; newer ones have it from the constructor.
        self._asks_with = () if arguments else (utility,)
        self._optimizer = bayes_opt.BayesianOptimization(
            f=None,
            pbounds=bounds,
            verbose=self._verbose,
            random_state=self._random_state,
            allow_duplicate_points=True,
            **arguments,
        )
        if self._analysis is not None:
            analysis, self._analysis, self._is_open = self._analysis, None, True
            self.register_analysis(analysis)

    def _ask(self) -> tuple[Any, dict[str, Any]] | str | None:
        # Where nothing runs, nothing will have been learned by the next question.
        for _ in range(1 if self._live else self._patience + 1):
            values = {name: float(value) for name, value in self._optimizer.suggest(*self._asks_with).items()}
            key = tuple(sorted((name, round(value, self._digits)) for name, value in values.items()))
            self._suggested[key] += 1
            if self._suggested[key] > self._patience:
                return self.FINISHED
            if self._suggested[key] == 1 or not self._skip_duplicate:
                return values, values
        return None if self._live else self.FINISHED

    def _given(self, values: dict[str, Any]) -> Any:
        return values

    def _tell(self, handle: Any, value: float, result: Mapping[str, Any]) -> None:
        self._results.append((handle, -self._least * value))
        if len(self._results) < self._random_search_steps:
            return
        self._random_search_steps = 0
        results, self._results = self._results, []
        for values, target in results:
            self._optimizer.register(params=values, target=target)

    def _learn(self, values: dict[str, Any], value: float) -> None:
        self._optimizer.register(params=self._encoded(values), target=-self._least * value)


offer(globals(), __all__)


def _bayes_opt() -> Any:
    return library("bayes_opt", "BayesOptSearch", "pip install bayesian-optimization")


def _bounds(name: str, value: Any) -> Any:
    if not isinstance(value, (tuple, list)):
        return value
    if len(value) != 2 or not all(isinstance(each, (int, float)) for each in value) or not value[0] < value[1]:
        refuse(f"space[{name!r}]", value, "a pair of bounds, or a domain of headway.tune")
    return Float(float(value[0]), float(value[1]))


def _utility(bayes_opt: Any, arguments: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """What is maximised, and the constructor's argument for it: that is how newer versions take
    it.
    """
    if hasattr(bayes_opt, "UtilityFunction"):
        return bayes_opt.UtilityFunction(**arguments), {}
    own = {} if arguments["kind"] == "ucb" else {"xi": arguments["xi"]}
    if arguments["kind"] == "ucb":
        own["kappa"] = arguments["kappa"]
    for name, newer in (("kappa_decay", "exploration_decay"), ("kappa_decay_delay", "exploration_decay_delay")):
        if name in arguments:
            own[newer] = arguments[name]
    utility = getattr(bayes_opt.acquisition, _UTILITIES[arguments["kind"]])(**own)
    return utility, {"acquisition_function": utility}

"""BOHB's model as a searcher, for ``HyperBandForBOHB``."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from headway._values.arguments import check_int, refuse
from headway._values.named_arguments import offer
from headway.tune._space.domains import Categorical, Domain, Integer, Numbers
from headway.tune.search._library import LibrarySearcher, ends, is_log, library

__all__ = ["TuneBOHB"]

#: The table of places has a module below this one, with Ray's name.
__path__: list[str] = []

_INSTALL = "pip install hpbandster ConfigSpace"


class TuneBOHB(LibrarySearcher):
    """Searches with BOHB's model, which learns from each report at its budget. Give
    ``HyperBandForBOHB`` to ``TuneConfig`` with it.

    Args:
        space: The search space. Default: ``param_space`` of the tuner. It may be a
            ``ConfigSpace.ConfigurationSpace``.
        bohb_config: Arguments for HpBandSter's ``BOHB``, such as ``min_points_in_model``.
        metric: What is optimised. Default: that of ``TuneConfig``.
        mode: ``"min"`` or ``"max"``.
        points_to_evaluate: Configurations to begin with.
        seed: Seeds the space's draws.
        max_concurrent: At most so many trials at once; 0 for no limit.

    Example:
        >>> from headway import tune
        >>> from headway.tune.search.bohb import TuneBOHB
        >>> search = TuneBOHB({"x": tune.uniform(0, 1)}, metric="loss", mode="min")  # doctest: +SKIP
    """

    def __init__(
        self,
        space: Any = None,
        bohb_config: Mapping[str, Any] | None = None,
        metric: str | None = None,
        mode: str | None = None,
        points_to_evaluate: Sequence[dict[str, Any]] | None = None,
        seed: int | None = None,
        max_concurrent: int = 0,
    ):
        library("hpbandster", "TuneBOHB", _INSTALL)
        library("ConfigSpace", "TuneBOHB", _INSTALL)
        if bohb_config is not None and not isinstance(bohb_config, Mapping):
            refuse("bohb_config", bohb_config, "None or a dict")
        if seed is not None:
            check_int("seed", seed, "None or an integer")
        if check_int("max_concurrent", max_concurrent, "0 or a number of trials") < 0:
            raise ValueError(f"max_concurrent is {max_concurrent}; allowed: 0 or a number of trials")
        self._arguments = dict(bohb_config or {})
        self._seed = seed
        self._max_concurrent = max_concurrent
        super().__init__(space, metric, mode, points_to_evaluate)

    def set_max_concurrency(self, max_concurrent: int) -> bool:
        """Takes the limit.

        Args:
            max_concurrent: ``TuneConfig.max_concurrent_trials``.
        """
        self._max_concurrent = max_concurrent
        return True

    def suggest(self, trial_id: str) -> dict[str, Any] | str | None:
        """What the model says; None while enough trials run.

        Args:
            trial_id: The new trial.
        """
        if self._max_concurrent and len(self._live) >= self._max_concurrent:
            return None
        return super().suggest(trial_id)

    def on_trial_result(self, trial_id: str, result: dict[str, Any]) -> None:
        """The model learns from each report. Its budget is what the scheduler says, else the
        iteration.

        Args:
            trial_id: Whose report it is.
            result: The report.
        """
        value = self._value(result)
        if trial_id not in self._live or value is None:
            return
        budget = (result.get("hyperband_info") or {}).get("budget", result.get("training_iteration", 1))
        self._learn(self._live[trial_id], value, float(budget))

    def _own_space(self, space: Any) -> Any:
        kind = library("ConfigSpace", "TuneBOHB", _INSTALL).ConfigurationSpace
        return copy.deepcopy(space) if isinstance(space, kind) else None

    def _open(self) -> None:
        configspace = library("ConfigSpace", "TuneBOHB", _INSTALL)
        model = library("hpbandster.optimizers.config_generators.bohb", "TuneBOHB", _INSTALL)
        space = self._native
        if space is None:
            space = configspace.ConfigurationSpace()
            space.add([_parameter(configspace, name, domain) for name, domain in self._domains.items()])
        if self._seed is not None:
            space.seed(self._seed)
        self._model = model.BOHB(space, **self._arguments)

    def _ask(self) -> tuple[Any, dict[str, Any]] | str | None:
        values, _ = self._model.get_config(None)
        plain = {name: each.item() if hasattr(each, "item") else each for name, each in dict(values).items()}
        return plain, plain

    def _given(self, values: dict[str, Any]) -> Any:
        return values

    def _tell(self, handle: Any, value: float, result: Mapping[str, Any]) -> None:
        # What a trial of this experiment has reported was learned with the report.
        if "training_iteration" not in result:
            self._learn(handle, value, 1.0)

    def _learn(self, values: dict[str, Any], value: float, budget: float) -> None:
        self._model.new_result(_Job(values, budget, self._least * value))


class _Job:
    """A result as HpBandSter has them."""

    def __init__(self, config: dict[str, Any], budget: float, loss: float):
        self.kwargs = {"config": dict(config), "budget": budget}
        self.result = {"loss": loss}
        self.exception = None


offer(globals(), __all__)


def _parameter(configspace: Any, name: str, domain: Domain) -> Any:
    """ConfigSpace's hyperparameter for a domain."""
    if isinstance(domain, Categorical):
        return configspace.CategoricalHyperparameter(name, list(range(len(domain.categories))))
    assert isinstance(domain, Numbers)
    low, high = ends(domain)
    if isinstance(domain, Integer):
        return configspace.UniformIntegerHyperparameter(name, int(low), int(high), log=is_log(domain))
    return configspace.UniformFloatHyperparameter(name, float(low), float(high), log=is_log(domain))

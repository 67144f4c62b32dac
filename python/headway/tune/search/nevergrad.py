"""Nevergrad as a searcher."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from headway._values.arguments import refuse
from headway._values.named_arguments import offer
from headway.tune._space.domains import Categorical, Domain, Integer, Numbers
from headway.tune.search._library import LibrarySearcher, ends, is_log, library

__all__ = ["NevergradSearch"]

#: The table of places has a module below this one, with Ray's name.
__path__: list[str] = []

_OPTIMIZER = "None, an optimizer of Nevergrad, its class, or one of nevergrad.optimizers.registry"


class NevergradSearch(LibrarySearcher):
    """Searches with an optimizer of `Nevergrad <https://facebookresearch.github.io/nevergrad>`_.

    Args:
        optimizer: The optimizer, its class, or a configured one, such as
            ``nevergrad.optimizers.OnePlusOne``. Default: ``NGOpt``.
        optimizer_kwargs: Arguments for the class, such as ``{"budget": 100}``.
        space: The search space. Default: ``param_space`` of the tuner. It may be Nevergrad's
            parametrization; with an optimizer that is made already, the names of its dimensions.
        metric: What is optimised. Default: that of ``TuneConfig``.
        mode: ``"min"`` or ``"max"``.
        points_to_evaluate: Configurations to begin with.

    Example:
        >>> from headway import tune
        >>> from headway.tune.search.nevergrad import NevergradSearch
        >>> search = NevergradSearch(space={"x": tune.uniform(0, 1)}, metric="loss", mode="min")  # doctest: +SKIP
    """

    def __init__(
        self,
        optimizer: Any = None,
        optimizer_kwargs: Mapping[str, Any] | None = None,
        space: Any = None,
        metric: str | None = None,
        mode: str | None = None,
        points_to_evaluate: Sequence[dict[str, Any]] | None = None,
    ):
        nevergrad = _nevergrad()
        if optimizer_kwargs is not None and not isinstance(optimizer_kwargs, Mapping):
            refuse("optimizer_kwargs", optimizer_kwargs, "None or a dict")
        self._arguments = dict(optimizer_kwargs or {})
        kinds = nevergrad.optimizers.base
        self._optimizer: Any = None
        self._names: list[str] | None = None
        self._factory = optimizer
        if isinstance(optimizer, kinds.Optimizer):
            if self._arguments:
                raise ValueError("optimizer_kwargs beside an optimizer that is made already; allowed: its class")
            if space is not None and not isinstance(space, list):
                refuse("space", space, "None or the names of dimensions, beside an optimizer that is made already")
            self._optimizer, self._names, space = optimizer, space, optimizer.parametrization
        elif optimizer is None:
            self._factory = nevergrad.optimizers.NGOpt
        elif not (
            (inspect.isclass(optimizer) and issubclass(optimizer, kinds.Optimizer))
            or isinstance(optimizer, kinds.ConfiguredOptimizer)
        ):
            refuse("optimizer", optimizer, _OPTIMIZER)
        super().__init__(space, metric, mode, points_to_evaluate)

    def set_search_properties(self, metric: str | None, mode: str | None, config: dict[str, Any], **spec: Any) -> bool:
        """Takes what was not given when it was made; NGOpt and others choose their ways by the
        number of samples.

        Args:
            metric: ``TuneConfig.metric``.
            mode: ``TuneConfig.mode``.
            config: The search space.
            spec: ``num_samples``: the budget, unless ``optimizer_kwargs`` has one.
        """
        if spec.get("num_samples", -1) > 0:
            self._arguments.setdefault("budget", spec["num_samples"])
        return super().set_search_properties(metric, mode, config, **spec)

    def _own_space(self, space: Any) -> Any:
        return space if isinstance(space, _nevergrad().p.Parameter) else None

    def _open(self) -> None:
        p = _nevergrad().p
        if self._optimizer is None:
            space = self._native
            if space is None:
                space = p.Dict(**{name: _parameter(p, domain) for name, domain in self._domains.items()})
            self._optimizer = self._factory(space, **self._arguments)
        if self._names is not None and len(self._names) != self._optimizer.dimension:
            raise ValueError(
                f"space has {len(self._names)} names; allowed: one for each dimension of the optimizer, of which there "
                f"are {self._optimizer.dimension}"
            )

    def _ask(self) -> tuple[Any, dict[str, Any]] | str | None:
        candidate = self._optimizer.ask()
        if self._names is not None:
            (values,) = candidate.args if candidate.args else (candidate.value,)
            return candidate, dict(zip(self._names, map(float, values), strict=True))
        return candidate, dict(candidate.kwargs or candidate.value)

    def _given(self, values: dict[str, Any]) -> Any:
        space = self._optimizer.parametrization
        has_arguments = isinstance(space, _nevergrad().p.Instrumentation)
        if self._names is not None:
            import numpy as np

            point = np.array([values[name] for name in self._names])
            return space.spawn_child(((point,), {}) if has_arguments else point)
        return space.spawn_child(((), values) if has_arguments else values)

    def _tell(self, handle: Any, value: float, result: Mapping[str, Any]) -> None:
        self._optimizer.tell(handle, self._least * value)


offer(globals(), __all__)


def _nevergrad() -> Any:
    return library("nevergrad", "NevergradSearch", "pip install nevergrad")


def _parameter(p: Any, domain: Domain) -> Any:
    """Nevergrad's parameter for a domain."""
    if isinstance(domain, Categorical):
        return p.Choice(list(range(len(domain.categories))))
    assert isinstance(domain, Numbers)
    low, high = ends(domain)
    made = p.Log(lower=low, upper=high) if is_log(domain) else p.Scalar(lower=low, upper=high)
    return made.set_integer_casting() if isinstance(domain, Integer) else made

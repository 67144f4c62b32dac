"""Ax as a searcher."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from headway._values.arguments import refuse
from headway._values.named_arguments import offer
from headway.tune._space.domains import Categorical, Domain, Integer, Numbers
from headway.tune.search._library import LibrarySearcher, ends, is_log, library
from headway.tune.search.searcher import metric_value

__all__ = ["AxSearch"]

#: The table of places has a module below this one, with Ray's name.
__path__: list[str] = []

_PLAIN = (bool, int, float, str)


class AxSearch(LibrarySearcher):
    """Searches with `Ax <https://ax.dev>`_.

    Args:
        space: The search space. Default: ``param_space`` of the tuner. A list is of Ax's own
            parameters, such as ``[{"name": "x", "type": "range", "bounds": [0.0, 1.0]}]``.
        metric: What is optimised. Default: that of ``TuneConfig``.
        mode: ``"min"`` or ``"max"``.
        points_to_evaluate: Configurations to begin with.
        parameter_constraints: What parameters must fulfil, such as ``["x + y <= 1"]``.
        outcome_constraints: What metrics must fulfil, such as ``["memory <= 2"]``; each report that
            ends a trial must have them.
        ax_client: An ``AxClient``. One that has an experiment brings its space, metric and
            constraints.
        ax_kwargs: Arguments for an ``AxClient`` that is made here, such as ``random_seed``.

    Example:
        >>> from headway import tune
        >>> from headway.tune.search.ax import AxSearch
        >>> search = AxSearch({"x": tune.uniform(0, 1)}, metric="loss", mode="min")  # doctest: +SKIP
    """

    def __init__(
        self,
        space: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        metric: str | None = None,
        mode: str | None = None,
        points_to_evaluate: Sequence[dict[str, Any]] | None = None,
        parameter_constraints: Sequence[str] | None = None,
        outcome_constraints: Sequence[str] | None = None,
        ax_client: Any = None,
        **ax_kwargs: Any,
    ):
        client = _client_module()
        if ax_client is not None and not isinstance(ax_client, client.AxClient):
            refuse("ax_client", ax_client, "None or an AxClient")
        if ax_client is not None and ax_kwargs:
            raise ValueError(f"{sorted(ax_kwargs)} beside ax_client; allowed: one of them")
        self._client = ax_client if ax_client is not None else client.AxClient(**ax_kwargs)
        self._has_experiment = self._client._experiment is not None
        self._parameter_constraints = list(parameter_constraints or [])
        self._outcome_constraints = list(outcome_constraints or [])
        if self._has_experiment:
            space, metric, mode = self._of_experiment(space, metric, mode)
        super().__init__(space, metric, mode, points_to_evaluate)

    def _of_experiment(self, space: Any, metric: str | None, mode: str | None) -> tuple[Any, str | None, str | None]:
        """What an experiment that exists says itself."""
        objective = self._client.experiment.optimization_config.objective
        if any(each is not None for each in (space, metric, mode)) or self._constraints_given():
            raise ValueError(
                "space, metric, mode or constraints beside an ax_client that has an experiment; allowed: one of them"
            )
        parameters = [{"name": name} for name in self._client.experiment.search_space.parameters]
        return parameters, objective.metric_names[0], "min" if objective.minimize else "max"

    def _constraints_given(self) -> bool:
        return bool(self._parameter_constraints or self._outcome_constraints)

    def _own_space(self, space: Any) -> Any:
        if not isinstance(space, (list, tuple)):
            return None
        for index, each in enumerate(space):
            if not isinstance(each, Mapping) or "name" not in each:
                refuse(f"space[{index}]", each, "a dict with a name, as Ax has its parameters")
        return [dict(each) for each in space]

    def _open(self) -> None:
        #: Choices of which Ax sees the positions: it keeps plain values of one type.
        self._by_position = {
            name
            for name, domain in self._domains.items()
            if isinstance(domain, Categorical)
            and (
                not all(isinstance(each, _PLAIN) for each in domain.categories)
                or len({type(each) for each in domain.categories}) > 1
            )
        }
        self._ax_names = {f"p{index}" if "/" in name else name: name for index, name in enumerate(self._domains)}
        if not self._has_experiment:
            properties = library("ax.service.utils.instantiation", "AxSearch", _INSTALL).ObjectiveProperties
            self._client.create_experiment(
                parameters=self._native or [self._parameter(own, name) for own, name in self._ax_names.items()],
                objectives={self._metric: properties(minimize=self._mode == "min")},
                parameter_constraints=self._parameter_constraints,
                outcome_constraints=self._outcome_constraints,
            )

    def _parameter(self, own: str, name: str) -> dict[str, Any]:
        """Ax's parameter for a domain."""
        domain = self._domains[name]
        if isinstance(domain, Categorical):
            values = list(range(len(domain.categories))) if name in self._by_position else list(domain.categories)
            if len(values) == 1:
                return {"name": own, "type": "fixed", "value": values[0]}
            return {"name": own, "type": "choice", "values": values, "is_ordered": False, "sort_values": False}
        assert isinstance(domain, Numbers)
        low, high = ends(domain)
        kind = "int" if isinstance(domain, Integer) else "float"
        bounds = [int(low), int(high)] if kind == "int" else [float(low), float(high)]
        return {"name": own, "type": "range", "bounds": bounds, "value_type": kind, "log_scale": is_log(domain)}

    def _ask(self) -> tuple[Any, dict[str, Any]] | str | None:
        exceptions = library("ax.exceptions.core", "AxSearch", _INSTALL)
        generation = library("ax.exceptions.generation_strategy", "AxSearch", _INSTALL)
        waits = (generation.MaxParallelismReachedException, exceptions.DataRequiredError)
        try:
            values, index = self._client.get_next_trial()
        except waits:
            # What runs has to end first.
            if self._live:
                return None
            raise
        except exceptions.SearchSpaceExhausted:
            return self.FINISHED
        return index, {self._ax_names.get(own, own): value for own, value in values.items()}

    def _given(self, values: dict[str, Any]) -> Any:
        names = {name: own for own, name in self._ax_names.items()}
        _, index = self._client.attach_trial({names.get(name, name): value for name, value in values.items()})
        return index

    def _position(self, name: str, value: Any) -> Any:
        return super()._position(name, value) if name in self._by_position else value

    def _plain(self, name: str, value: Any) -> Any:
        domain: Domain | None = self._domains.get(name)
        if isinstance(domain, Categorical) and name not in self._by_position:
            return value
        return super()._plain(name, value)

    def _tell(self, handle: Any, value: float, result: Mapping[str, Any]) -> None:
        data = {self._metric: (value, None)}
        for constraint in self._client.experiment.optimization_config.outcome_constraints:
            for name in constraint.metric_names:
                data[name] = (float(metric_value(result, name)), None)
        self._client.complete_trial(trial_index=handle, raw_data=data)

    def _lost(self, handle: Any, *, failed: bool) -> None:
        if failed:
            self._client.log_trial_failure(trial_index=handle)
        else:
            self._client.abandon_trial(trial_index=handle)


offer(globals(), __all__)

_INSTALL = "pip install ax-platform"


def _client_module() -> Any:
    return library("ax.service.ax_client", "AxSearch", _INSTALL)
